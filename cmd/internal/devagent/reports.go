package devagent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver"
)

// This file has the tools that report on the site: its state, problems, requests and lines.

// noArguments are the arguments of a tool without any.
type noArguments struct{}

func (t *tools) addReports() {
	add(t, "status", reads,
		"Shows whether the dev server runs, its address, the number of its last build and whether that succeeded, and the "+
			"routes, bindings and forms of the site. Call it first.",
		t.status,
	)
	add(t, "problems", reads,
		"Lists the errors and warnings of the last build, each with file, line, message and fix, and the newest requests that "+
			"failed with a 5xx. Call it after each change of a file, with after_build, so that it waits for the build.",
		t.problems,
	)
	add(t, "requests", reads,
		"Lists requests of the log, the newest first: status, time, cost, and the reason of a failure with its place. Use it to "+
			"find a slow or failing request.",
		t.requests,
	)
	add(t, "trace", reads,
		"Shows the steps of one request: each database statement with its rows and time, each call of a key, object or file, "+
			"each outbound request. Use it to see why a request is slow or wrong.",
		t.trace,
	)
	add(t, "logs", reads,
		"Lists lines that the Worker logged with console, the newest first, each with its place in the source. Use it to read "+
			"the output of your own console.log.",
		t.logs,
	)
	add(t, "docs_search", reads,
		"Searches all pages of help of this version of pages, and returns the best passages with the command that shows the "+
			"whole page. Use it before you guess a flag, a key of the manifest or a limit.",
		t.docs,
	)
}

// errNoServer is the error of tools that need a dev server while none runs.
var errNoServer = errors.New("no pages dev runs for this site: start it with `pages dev --background`, then call this again")

// state reads the state of the dev server.
func (t *tools) state(ctx context.Context) (s devserver.State, r localstate.DevServer, err error) {
	r, ok := t.Server()
	if !ok {
		return s, r, errNoServer
	}
	if err := r.Call(ctx, http.MethodGet, devserver.StatePath, nil, &s); err != nil {
		return s, r, errors.Join(errNoServer, err)
	}
	return s, r, nil
}

// statusReport is the result of status.
type statusReport struct {
	Running    bool            `json:"running"`
	Fix        string          `json:"fix,omitempty"` // if it does not run
	URL        string          `json:"url,omitempty"`
	Process    int             `json:"pid,omitempty"`
	Dir        string          `json:"dir"`
	OK         bool            `json:"ok"`    // the last build is served
	Build      int64           `json:"build"` // its number
	Problems   int             `json:"problems"`
	AllowWrite bool            `json:"allow_write"`
	Persona    string          `json:"signed_in_as,omitempty"`
	Site       *devserver.Info `json:"site,omitempty"` // nil for one that has no room in a result
}

func (t *tools) status(ctx context.Context, _ noArguments) (any, error) {
	t.mu.Lock()
	report := statusReport{Dir: t.Commands.Dir, AllowWrite: t.AllowWrite, Persona: t.persona}
	t.mu.Unlock()
	s, r, err := t.state(ctx)
	if errors.Is(err, errNoServer) {
		report.Fix = errNoServer.Error()
		return report, nil
	}
	report.Running, report.URL, report.Process, report.OK, report.Build = true, r.URL, r.PID, s.OK, s.Build
	report.Problems = len(s.Problems)
	if _, tooLong := fit([]devserver.Info{s.Info}); !tooLong {
		report.Site = &s.Info
	}
	return report, err
}

// problemsArguments are the arguments of problems.
type problemsArguments struct {
	AfterBuild int64 `json:"after_build,omitempty" jsonschema:"wait until a build after the one of this number has ended, at most 20 seconds"`
}

// problemsReport is the result of problems.
type problemsReport struct {
	OK       bool                         `json:"ok"`
	Build    int64                        `json:"build"`
	NoBuild  bool                         `json:"no_new_build,omitempty"` // the wait ended without one
	Problems []devserver.Problem          `json:"problems"`
	Failed   []map[string]json.RawMessage `json:"failed_requests"`
	Cut      bool                         `json:"cut,omitempty"` // the lists have more
}

const (
	buildPatience = 20 * time.Second
	buildPoll     = 50 * time.Millisecond
)

func (t *tools) problems(ctx context.Context, in problemsArguments) (any, error) {
	s, _, err := t.awaitBuild(ctx, in.AfterBuild)
	if err != nil {
		return nil, err
	}
	report := problemsReport{OK: s.OK, Build: s.Build, NoBuild: in.AfterBuild > 0 && s.Build <= in.AfterBuild}
	report.Problems, report.Cut = fit(s.Problems)
	const newest = 5
	report.Failed, _, err = t.logged(ctx, "--status=5xx", "--since=10m", "--limit="+strconv.Itoa(newest))
	return report, err
}

// awaitBuild waits until a build after one of that number has ended; 0 does not wait.
func (t *tools) awaitBuild(ctx context.Context, after int64) (s devserver.State, r localstate.DevServer, err error) {
	patient, cancel := context.WithTimeout(ctx, buildPatience)
	defer cancel()
	ticker := time.NewTicker(buildPoll)
	defer ticker.Stop()
	for {
		s, r, err = t.state(ctx)
		if err != nil || after == 0 || s.Build > after {
			return s, r, err
		}
		select {
		case <-patient.Done():
			return s, r, ctx.Err()
		case <-ticker.C:
		}
	}
}

// logFilter are the arguments of requests and logs.
type logFilter struct {
	Since  string `json:"since,omitempty" jsonschema:"not older than this: 90s, 10m, 2h, or a moment such as 2026-05-06T07:08:09Z"`
	Path   string `json:"path,omitempty" jsonschema:"only paths like this glob, such as /api/*"`
	Text   string `json:"text,omitempty" jsonschema:"only where path, error or a line has this text"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, from 1 to 100; 20 without it"`
	Status string `json:"status,omitempty" jsonschema:"only this status: 404, 5xx, 400-499"`
	Method string `json:"method,omitempty" jsonschema:"only this method"`
	Slow   string `json:"slow,omitempty" jsonschema:"only requests that took this time or longer, such as 200ms"`
}

// flags returns the flags of pages logs.
func (f logFilter) flags() (flags []string, err error) {
	limit, err := limited(f.Limit)
	if err != nil {
		return nil, err
	}
	flags = []string{"--limit=" + strconv.Itoa(limit)}
	for name, value := range map[string]string{
		"since": f.Since, "path": f.Path, "grep": f.Text, "status": f.Status, "method": f.Method, "slow": f.Slow,
	} {
		if value != "" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	return flags, nil
}

// limited returns the number of entries for a limit that an agent gave.
func limited(limit int) (int, error) {
	const usual, most = 20, 100
	if limit < 0 || limit > most {
		return 0, errors.New("limit must be from 1 to 100")
	}
	if limit == 0 {
		return usual, nil
	}
	return limit, nil
}

// history is the document of pages logs.
type history struct {
	Requests []map[string]json.RawMessage `json:"requests"`
	Logs     []map[string]json.RawMessage `json:"logs"`
}

// logged returns requests of the log without their lines.
func (t *tools) logged(ctx context.Context, flags ...string) (list []map[string]json.RawMessage, cut bool, err error) {
	var h history
	if err := t.Commands.decode(ctx, &h, "", append([]string{"logs"}, flags...)...); err != nil {
		return nil, false, err
	}
	for _, request := range h.Requests {
		delete(request, "logs")
	}
	list, cut = fit(h.Requests)
	return list, cut, nil
}

// requestsReport is the result of requests.
type requestsReport struct {
	Requests []map[string]json.RawMessage `json:"requests"`
	Cut      bool                         `json:"cut,omitempty"`
}

func (t *tools) requests(ctx context.Context, in logFilter) (any, error) {
	flags, err := in.flags()
	if err != nil {
		return nil, err
	}
	list, cut, err := t.logged(ctx, flags...)
	return requestsReport{list, cut}, err
}

// traceArguments are the arguments of trace.
type traceArguments struct {
	ID string `json:"id" jsonschema:"the id of a request, such as req_4kx2, or the trace_id that send_request returned"`
}

func (t *tools) trace(ctx context.Context, in traceArguments) (any, error) {
	var h history
	if err := t.Commands.decode(ctx, &h, "", "logs", "--limit=5", "--trace="+in.ID); err != nil {
		return nil, err
	}
	if len(h.Requests) == 0 {
		return nil, errors.New("the log has no request of this id: call requests to see the newest ones")
	}
	list, cut := fit(h.Requests)
	if len(list) == 0 {
		return nil, errors.New("the trace is longer than a result may be: `pages logs --trace " + in.ID + "` shows it")
	}
	return requestsReport{list, cut}, nil
}

// logsArguments are the arguments of logs.
type logsArguments struct {
	logFilter

	Level string `json:"level,omitempty" jsonschema:"only lines of this level or a more severe one: debug, trace, log, info, warn, error"`
}

// logsReport is the result of logs.
type logsReport struct {
	Lines []map[string]json.RawMessage `json:"lines"`
	Cut   bool                         `json:"cut,omitempty"`
}

func (t *tools) logs(ctx context.Context, in logsArguments) (any, error) {
	flags, err := in.flags()
	if err != nil {
		return nil, err
	}
	if in.Level != "" {
		flags = append(flags, "--level="+in.Level)
	}
	var h history
	if err := t.Commands.decode(ctx, &h, "", append([]string{"logs"}, flags...)...); err != nil {
		return nil, err
	}
	lines := h.Logs
	for _, request := range h.Requests {
		var own []map[string]json.RawMessage
		if err := json.Unmarshal(request["logs"], &own); err != nil {
			return nil, err
		}
		for _, line := range own {
			line["path"] = request["path"]
		}
		lines = append(lines, own...)
	}
	var report logsReport
	report.Lines, report.Cut = fit(newestFirst(lines))
	return report, nil
}

// docsArguments are the arguments of docs_search.
type docsArguments struct {
	Question string `json:"question" jsonschema:"a question or some words, such as: how do I seed the database"`
}

func (t *tools) docs(ctx context.Context, in docsArguments) (any, error) {
	var answer json.RawMessage
	err := t.Commands.decode(ctx, &answer, "", "docs", "--", in.Question)
	return answer, err
}
