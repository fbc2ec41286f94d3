package devsession

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver/site"
)

// This file holds the dashboard's tools that are commands too: they run the
// command inside this process, and answer with the document that it prints with
// --json. So nothing can be seen there that the command line does not show.

// maxToolAnswer is the most JSON that a tool gives.
const maxToolAnswer = 4 << 20

// command answers with the document of a command of ours.
func (t *tools) command(w http.ResponseWriter, r *http.Request, stdin string, args ...string) {
	out := &boundedBuffer{room: maxToolAnswer}
	e := *t.run.process.Terminal
	e.Stdin, e.Stdout, e.Stderr = strings.NewReader(stdin), out, io.Discard
	e.Environ = withoutFlags(e.Environ)
	e.Lines = false // as the command itself prints JSON
	code := t.run.process.Run(r.Context(), append([]string{"--json", "-C", t.run.dir, "--state-dir", t.run.state.Dir}, args...), e)
	if out.full {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusUnprocessableEntity, Code: "too_much", Message: "the answer is over 4 MB",
			Fix: "ask for less, as with LIMIT",
		})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(statusOf(code))
	_, _ = w.Write(out.Bytes()) // whoever asked may be gone
}

// statusOf is the status for the exit code of a command.
func statusOf(code int) int {
	switch code {
	case 0:
		return http.StatusOK
	case failure.ExitUsage:
		return http.StatusBadRequest
	case failure.ExitResource:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// withoutFlags leaves out the variables that stand for flags: a tool has those it is given.
func withoutFlags(environ []string) (rest []string) {
	for _, variable := range environ {
		if !strings.HasPrefix(variable, "PAGES_") {
			rest = append(rest, variable)
		}
	}
	return rest
}

// boundedBuffer keeps what is written as long as there is room.
type boundedBuffer struct {
	bytes.Buffer

	room int
	full bool
}

var errFull = errors.New("the answer is too long")

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.full = b.full || b.Len()+len(p) > b.room; b.full {
		return 0, errFull
	}
	return b.Buffer.Write(p)
}

// serveSQL answers POST /__pages/api/db/query and /db/exec, as pages db does.
func (t *tools) serveSQL(verb string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			SQL     string `json:"sql"`
			Project bool   `json:"project"` // the project database
		}
		if !readArguments(w, r, &asked) {
			return
		}
		args := []string{"db", verb, "-"}
		if asked.Project {
			args = append(args, "--project")
		}
		if t.run.options.ProjectState != "" {
			args = append(args, "--project-state", t.run.options.ProjectState)
		}
		t.command(w, r, asked.SQL, args...)
	}
}

// serveExplain answers GET /__pages/api/explain?method=…&path=…&as=…, as pages
// routes explain does.
func (t *tools) serveExplain(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	args := []string{"routes", "explain", "--edge-rules=" + t.run.options.EdgeRules}
	if as := asked.Get("as"); as != "" {
		args = append(args, "--as="+as)
	}
	method := asked.Get("method")
	if method == "" {
		method = http.MethodGet
	}
	t.command(w, r, "", append(args, "--", method, asked.Get("path"))...)
}

// serveReplay answers POST /__pages/api/replay, as pages leads replay and pages
// events replay do.
func (t *tools) serveReplay(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Lead   string `json:"lead"`   // its id
		Event  string `json:"event"`  // its id
		Status string `json:"status"` // all events whose delivery got so far
	}
	switch {
	case !readArguments(w, r, &asked):
	case asked.Lead != "":
		t.command(w, r, "", "leads", "replay", "--", asked.Lead)
	case asked.Event != "":
		t.command(w, r, "", "events", "replay", "--", asked.Event)
	default:
		t.command(w, r, "", "events", "replay", "--status="+asked.Status)
	}
}
