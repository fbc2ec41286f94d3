package devsession

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/devagent"
	"github.com/pages-toolchain/pages/cmd/internal/devbackground"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
)

// toolPage is the number of keys in a page of a list.
const toolPage = 100

// tools answers the paths under /__pages/api/ that the front door does not. Most run a command inside this process, and respond with its
// --json document. They show no more than the command line does.
type tools struct {
	mux      *http.ServeMux
	run      *session
	instance *instance             // set before the first request
	log      *devserver.RequestLog // the same
	quit     func()                // the same: ends the session
}

func newTools(r *session) *tools {
	t := &tools{mux: http.NewServeMux(), run: r}
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
	t.mux.HandleFunc("GET /__pages/api/trace", func(w http.ResponseWriter, r *http.Request) {
		t.command(w, r, "", "logs", "--limit=1", "--trace="+cmp.Or(r.URL.Query().Get("request"), "none"))
	})
	t.mux.HandleFunc("POST "+localstate.FlushPath, func(w http.ResponseWriter, r *http.Request) {
		if t.log.Flush(r.Context()) == nil { // or the client is gone
			w.WriteHeader(http.StatusNoContent)
		}
	})
	t.mux.HandleFunc("POST "+devbackground.StopPath, t.serveStop)
	t.mux.HandleFunc("POST /__pages/api/replay", t.serveReplay)
	t.mux.HandleFunc("POST /__pages/api/mark", t.serveMark)
	t.mux.HandleFunc("GET /__pages/api/mails", t.serveMails)
	t.mux.HandleFunc("GET /__pages/api/kv", withStore(t.openKV, listKeys))
	t.mux.HandleFunc("GET /__pages/api/kv/value", withStore(t.openKV, serveValue))
	t.mux.HandleFunc("PUT /__pages/api/kv/value", withStore(t.openKV, putValue))
	t.mux.HandleFunc("DELETE /__pages/api/kv/value", withStore(t.openKV, deleteValue))
	t.mux.HandleFunc("GET /__pages/api/storage", withStore(t.openBucket, listObjects))
	t.mux.HandleFunc("GET /__pages/api/storage/object", withStore(t.openBucket, serveObject))
	t.mux.HandleFunc("PUT /__pages/api/storage/object", withStore(t.openBucket, putObject))
	t.mux.HandleFunc("DELETE /__pages/api/storage/object", withStore(t.openBucket, deleteObject))
	return t
}

// ServeHTTP implements http.Handler.
func (t *tools) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := t.mux.Handler(r); pattern == "" && !t.otherMethod(r) {
		site.Refuse(w, r, &site.RefusalError{Status: http.StatusNotFound, Code: "not_found", Message: "there is no page at this address"})
		return
	}
	t.mux.ServeHTTP(w, r)
}

// otherMethod reports whether a path exists for another method.
func (t *tools) otherMethod(r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if _, pattern := t.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			return true
		}
	}
	return false
}

// commands runs commands of this program on the site.
func (t *tools) commands() devagent.Commands {
	return devagent.Commands{
		Terminal: t.run.process.Terminal, Dir: t.run.dir, StateDir: t.run.state.Dir, Run: t.run.process.Run,
	}
}

// command responds with the document of a command.
func (t *tools) command(w http.ResponseWriter, r *http.Request, stdin string, args ...string) {
	document, code, err := t.commands().Document(r.Context(), stdin, args...)
	if err != nil {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusUnprocessableEntity, Code: "too_much", Message: err.Error(),
			Fix: "ask for less, for example with LIMIT",
		})
		return
	}
	status, known := map[int]int{
		0: http.StatusOK, failure.ExitUsage: http.StatusBadRequest, failure.ExitResource: http.StatusServiceUnavailable,
	}[code]
	if !known {
		status = http.StatusUnprocessableEntity
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(document) // the client may be gone
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

// serveExplain answers GET /__pages/api/explain?method=…&path=…&as=…, as pages routes explain does.
func (t *tools) serveExplain(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	args := []string{"routes", "explain", "--edge-rules=" + cmp.Or(t.run.process.Sites.EdgeRules, project.EdgeRulesOn)}
	if as := asked.Get("as"); as != "" {
		args = append(args, "--as="+as)
	}
	method := cmp.Or(asked.Get("method"), http.MethodGet)
	t.command(w, r, "", append(args, "--", method, asked.Get("path"))...)
}

// serveReplay answers POST /__pages/api/replay, as pages leads replay and pages events replay do.
func (t *tools) serveReplay(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Lead   string `json:"lead"`   // its id
		Event  string `json:"event"`  // its id
		Status string `json:"status"` // all events whose delivery has this state
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

// serveMark answers POST /__pages/api/mark, as pages leads spam and pages leads ham do.
func (t *tools) serveMark(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Lead string `json:"lead"` // its id
		Spam bool   `json:"spam"` // and ham without
	}
	if !readArguments(w, r, &asked) {
		return
	}
	verb := "ham"
	if asked.Spam {
		verb = "spam"
	}
	t.command(w, r, "", "leads", verb, "--", asked.Lead)
}

// maxToolBody bounds the JSON that a tool reads.
const maxToolBody = 1 << 20

// readArguments parses the JSON body of a tool.
func readArguments(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxToolBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusBadRequest, Code: "body_malformed", Message: strings.TrimPrefix(err.Error(), "json: "),
		})
		return false
	}
	return true
}

func sendDocument(w http.ResponseWriter, r *http.Request, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client may be gone
}

// sendDone sends a response without a result.
func sendDone(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	sendDocument(w, r, struct {
		OK bool `json:"ok"`
	}{true})
}

// refuseTool responds with the error of a binding.
func refuseTool(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return // the client is gone
	}
	site.Refuse(w, r, &site.RefusalError{Status: http.StatusUnprocessableEntity, Code: "refused", Message: err.Error()})
}

func noSuchKey(w http.ResponseWriter, r *http.Request, key string) {
	site.Refuse(w, r, &site.RefusalError{Status: http.StatusNotFound, Code: "no_such_key", Message: fmt.Sprintf("there is no key %q", key)})
}

// asDownload makes browsers save the response: a client of the site may have sent the bytes.
func asDownload(w http.ResponseWriter, key string) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/`, r) {
			return '_'
		}
		return r
	}, path.Base(key))
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
}
