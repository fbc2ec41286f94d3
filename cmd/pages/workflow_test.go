package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// gitHub is the part of GitHub's API for comments on pull requests, with one pull request, number 7.
type gitHub struct {
	mu       sync.Mutex
	calls    []string
	comments []gitHubComment
}

type gitHubComment struct {
	ID   int64      `json:"id"`
	Body string     `json:"body"`
	User gitHubUser `json:"user"`
}

type gitHubUser struct {
	Type string `json:"type"`
}

const gitHubToken = "ghs_of-the-workflow"

func (g *gitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, r.Method)
	if r.Header.Get("Authorization") != "Bearer "+gitHubToken {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var sent gitHubComment
	if r.Method != http.MethodGet {
		if text, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(text, &sent) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	const of = "/repos/acme/site/issues/"
	id, isComment := strings.CutPrefix(r.URL.Path, of+"comments/")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == of+"7/comments":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
		from := min(max(page-1, 0)*size, len(g.comments))
		_ = json.NewEncoder(w).Encode(g.comments[from:min(from+size, len(g.comments))])
	case r.Method == http.MethodPost && r.URL.Path == of+"7/comments":
		sent.ID, sent.User.Type = int64(len(g.comments)+1), "Bot"
		g.comments = append(g.comments, sent)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(sent)
	case r.Method == http.MethodPatch && isComment:
		n, err := strconv.Atoi(id)
		if err != nil || n < 1 || n > len(g.comments) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.Contains(g.comments[n-1].Body, "of someone else") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message": "Must have admin rights to Repository."}`)
			return
		}
		g.comments[n-1].Body = sent.Body
		_ = json.NewEncoder(w).Encode(g.comments[n-1])
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// theGitHub is the server of each script, by its $WORK.
var theGitHub sync.Map

// serveGitHub is `github`: starts the API, with a full page of comments by others. `github calls WANT` compares the methods of the calls
// since the last comparison; `github comment FILE` writes the last comment to a file.
func serveGitHub(ts *testscript.TestScript, _ bool, args []string) {
	work := ts.Getenv("WORK")
	if len(args) == 0 {
		g := &gitHub{}
		for i := range 100 {
			g.comments = append(g.comments, gitHubComment{int64(i + 1), "nice", gitHubUser{"User"}})
		}
		server := httptest.NewServer(g)
		ts.Defer(server.Close)
		theGitHub.Store(work, g)
		ts.Setenv("GITHUB_API_URL", server.URL)
		return
	}
	found, _ := theGitHub.Load(work)
	g, ok := found.(*gitHub)
	if !ok {
		ts.Fatalf("there is no GitHub: begin it with github")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch args[0] {
	case "calls":
		if got := strings.Join(g.calls, " "); got != strings.Join(args[1:], " ") {
			ts.Fatalf("the calls were %q, want %q", got, args[1:])
		}
		g.calls = nil
	case "comment":
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(g.comments[len(g.comments)-1].Body), 0o600))
	default:
		ts.Fatalf("github has no %q", args[0])
	}
}

// workflowJob is a job of one of our workflows.
type workflowJob struct {
	condition, needs string
	steps            []workflowStep
}

type workflowStep struct {
	name, condition, script string
	env                     map[string]string
}

var expression = regexp.MustCompile(`\$\{\{ ([^}]*) \}\}`)

// runWorkflow is `workflow FILE EVENT`: runs our steps of a workflow at an event: opened, synchronize or closed by a branch of the
// repository, fork by a branch of another one. Each job has its conditions, and each step its environment: a fork has no secrets and
// variables. It skips steps that prepare the machine, and the site's own tests.
func runWorkflow(ts *testscript.TestScript, neg bool, args []string) {
	file, event := args[0], args[1]
	fork, closed := event == "fork", event == "closed"
	payload := filepath.Join(ts.Getenv("WORK"), "event.json")
	ts.Check(os.WriteFile(payload, []byte(`{"action": "`+event+`", "pull_request": {"number": 7}}`), 0o600))
	values := map[string]string{
		"github.head_ref": "feature/x", "github.token": gitHubToken, "secrets.PAGES_API_KEY": ts.Getenv("KEY"),
		"vars.PAGES_BASE_URL": ts.Getenv("SERVICE"), "vars.PAGES_SITE": ts.Getenv("NEW"),
	}
	if fork { // and the token can only read
		for name := range values {
			if name != "github.head_ref" {
				values[name] = ""
			}
		}
	}
	holds := map[string]bool{
		"": true, "github.event.action != 'closed'": !closed, "github.event.action == 'closed'": closed,
		"github.event_name == 'pull_request'":                                true,
		"github.event.pull_request.head.repo.full_name != github.repository": fork,
		"github.event.pull_request.head.repo.full_name == github.repository": !fork,
		"vars.PAGES_BASE_URL != ''":                                          values["vars.PAGES_BASE_URL"] != "",
		"steps.pages.outputs.cache-hit != 'true'":                            false,
	}
	all := func(condition string) bool {
		for part := range strings.SplitSeq(condition, " && ") {
			is, known := holds[part]
			if !known {
				ts.Fatalf("the condition %q is unknown here", part)
			}
			if !is {
				return false
			}
		}
		return true
	}
	failed := false
	for _, job := range readWorkflow(ts, file) {
		if !all(job.condition) || failed && job.needs != "" {
			continue
		}
		for _, step := range job.steps {
			isOurs := strings.HasPrefix(step.script, "pages ") && !strings.HasPrefix(step.script, "pages test ")
			if !isOurs || !all(step.condition) {
				continue
			}
			script := "unset PAGES_API_KEY PAGES_BASE_URL PAGES_SITE\n"
			ts.Setenv("GITHUB_EVENT_PATH", payload)
			ts.Setenv("GITHUB_REPOSITORY", "acme/site")
			for name, value := range step.env {
				value = expression.ReplaceAllStringFunc(value, func(text string) string {
					inner, known := values[expression.FindStringSubmatch(text)[1]]
					if !known {
						ts.Fatalf("%s is unknown here", text)
					}
					return inner
				})
				script += fmt.Sprintf("export %s='%s'\n", name, value)
			}
			if err := ts.Exec("sh", "-ec", script+step.script); err != nil {
				failed = true
				ts.Logf("%s: %v", step.script, err)
				break
			}
		}
	}
	if failed != neg {
		ts.Fatalf("the workflow failed: %v", failed)
	}
}

// readWorkflow reads the jobs of a workflow in the form that starter.Workflow writes, by its indents.
func readWorkflow(ts *testscript.TestScript, file string) (jobs []workflowJob) {
	_, text, found := strings.Cut(ts.ReadFile(file), "\njobs:\n")
	if !found {
		ts.Fatalf("%s has no jobs", file)
	}
	inEnv := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if indent == 2 {
			jobs = append(jobs, workflowJob{})
			continue
		}
		job := &jobs[len(jobs)-1]
		begins := indent == 6 && strings.HasPrefix(key, "- ")
		if begins {
			job.steps = append(job.steps, workflowStep{env: map[string]string{}})
			key, inEnv = strings.TrimPrefix(key, "- "), false
		}
		switch {
		case indent == 4 && key == "if":
			job.condition = value
		case indent == 4 && key == "needs":
			job.needs = value
		case len(job.steps) == 0:
		case inEnv && indent == 10:
			job.steps[len(job.steps)-1].env[key] = value
		case begins || indent == 8:
			step := &job.steps[len(job.steps)-1]
			inEnv = key == "env:"
			switch key {
			case "name":
				step.name = value
			case "if":
				step.condition = value
			case "run":
				step.script = value
			}
		}
	}
	return jobs
}
