package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
)

// This file holds the dashboard's tools that are commands too: they run the
// command inside this process, and answer with the document that it prints with
// --json. So nothing can be seen there that the command line does not show.

const (
	// maxToolBody is the most JSON that a tool reads, maxToolAnswer the most it gives.
	maxToolBody   = 1 << 20
	maxToolAnswer = 4 << 20
)

// devTools answers the paths under /__pages/api/ that need more than the front door.
type devTools struct {
	mux  *http.ServeMux
	run  *devRun
	life *life                 // set before the first request
	log  *devserver.RequestLog // the same
}

func newDevTools(r *devRun) *devTools {
	t := &devTools{mux: http.NewServeMux(), run: r}
	t.mux.HandleFunc("POST /__pages/api/db/query", t.serveSQL("query"))
	t.mux.HandleFunc("POST /__pages/api/db/exec", t.serveSQL("exec"))
	t.mux.HandleFunc("GET /__pages/api/migrations", func(w http.ResponseWriter, r *http.Request) {
		t.command(w, r, "", "migrate", "status")
	})
	t.mux.HandleFunc("GET /__pages/api/migrations/plan", func(w http.ResponseWriter, r *http.Request) {
		t.command(w, r, "", "migrate", "plan")
	})
	t.mux.HandleFunc("GET /__pages/api/explain", t.serveExplain)
	t.mux.HandleFunc("GET /__pages/api/logs", func(w http.ResponseWriter, r *http.Request) {
		t.command(w, r, "", "logs", "--limit=20", "--request="+r.URL.Query().Get("request"))
	})
	t.mux.HandleFunc("POST "+flushPath, func(w http.ResponseWriter, r *http.Request) {
		if t.log.Flush(r.Context()) == nil { // or whoever asked is gone
			w.WriteHeader(http.StatusNoContent)
		}
	})
	t.mux.HandleFunc("POST /__pages/api/replay", t.serveReplay)
	t.mux.HandleFunc("GET /__pages/api/kv", t.listKeys)
	t.mux.HandleFunc("GET /__pages/api/kv/value", t.serveValue)
	t.mux.HandleFunc("PUT /__pages/api/kv/value", t.putValue)
	t.mux.HandleFunc("DELETE /__pages/api/kv/value", t.deleteValue)
	t.mux.HandleFunc("GET /__pages/api/storage", t.listObjects)
	t.mux.HandleFunc("GET /__pages/api/storage/object", t.serveObject)
	t.mux.HandleFunc("PUT /__pages/api/storage/object", t.putObject)
	t.mux.HandleFunc("DELETE /__pages/api/storage/object", t.deleteObject)
	return t
}

// ServeHTTP implements http.Handler.
func (t *devTools) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := t.mux.Handler(r); pattern == "" && !t.otherMethod(r) {
		site.Refuse(w, r, &site.RefusalError{Status: http.StatusNotFound, Code: "not_found", Message: "there is no page at this address"})
		return
	}
	t.mux.ServeHTTP(w, r)
}

// flushPath is where a command asks for what was answered so far to be in the log.
const flushPath = "/__pages/api/logs/flush"

// otherMethod reports whether a path is known, but not for the method.
func (t *devTools) otherMethod(r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if _, pattern := t.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			return true
		}
	}
	return false
}

// command answers with the document of a command of ours.
func (t *devTools) command(w http.ResponseWriter, r *http.Request, stdin string, args ...string) {
	out := &boundedBuffer{room: maxToolAnswer}
	e := t.run.env
	e.stdin, e.stdout, e.stderr = strings.NewReader(stdin), out, io.Discard
	e.environ = withoutFlags(e.environ)
	code := run(r.Context(), append([]string{"--json", "-C", t.run.dir, "--state-dir", t.run.state.dir}, args...), e)
	if out.full {
		site.Refuse(w, r, &site.RefusalError{Status: http.StatusUnprocessableEntity, Code: "too_much", Message: "the answer is over 4 MB", Fix: "ask for less, as with LIMIT"})
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
	case exitUsage:
		return http.StatusBadRequest
	case exitResource:
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

// readTool reads the JSON body of a tool.
func readTool(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxToolBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		site.Refuse(w, r, &site.RefusalError{Status: http.StatusBadRequest, Code: "body_malformed", Message: strings.TrimPrefix(err.Error(), "json: ")})
		return false
	}
	return true
}

// serveSQL answers POST /__pages/api/db/query and /db/exec, as pages db does.
func (t *devTools) serveSQL(verb string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			SQL     string `json:"sql"`
			Project bool   `json:"project"` // the project database
		}
		if !readTool(w, r, &asked) {
			return
		}
		args := []string{"db", verb, "-"}
		if asked.Project {
			args = append(args, "--project")
		}
		if t.run.flags.projectState != "" {
			args = append(args, "--project-state", t.run.flags.projectState)
		}
		t.command(w, r, asked.SQL, args...)
	}
}

// serveExplain answers GET /__pages/api/explain?method=…&path=…&as=…, as pages
// routes explain does.
func (t *devTools) serveExplain(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	args := []string{"routes", "explain", "--edge-rules=" + t.run.flags.edgeRules}
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
func (t *devTools) serveReplay(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Lead   string `json:"lead"`   // its id
		Event  string `json:"event"`  // its id
		Status string `json:"status"` // all events whose delivery got so far
	}
	switch {
	case !readTool(w, r, &asked):
	case asked.Lead != "":
		t.command(w, r, "", "leads", "replay", "--", asked.Lead)
	case asked.Event != "":
		t.command(w, r, "", "events", "replay", "--", asked.Event)
	default:
		t.command(w, r, "", "events", "replay", "--status="+asked.Status)
	}
}

// answerTool sends a document.
func answerTool(w http.ResponseWriter, r *http.Request, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // whoever asked may be gone
}

// refuseTool answers for a binding that said no.
func refuseTool(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return // nobody is left to tell
	}
	site.Refuse(w, r, &site.RefusalError{Status: http.StatusUnprocessableEntity, Code: "refused", Message: err.Error()})
}
