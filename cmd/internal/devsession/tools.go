package devsession

import (
	"net/http"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
)

// toolPage is how many keys a page of a list has.
const toolPage = 100

// tools answers the paths under /__pages/api/ that need more than the front door.
type tools struct {
	mux  *http.ServeMux
	run  *session
	life *life                 // set before the first request
	log  *devserver.RequestLog // the same
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
	t.mux.HandleFunc("POST "+localstate.FlushPath, func(w http.ResponseWriter, r *http.Request) {
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
func (t *tools) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := t.mux.Handler(r); pattern == "" && !t.otherMethod(r) {
		site.Refuse(w, r, &site.RefusalError{Status: http.StatusNotFound, Code: "not_found", Message: "there is no page at this address"})
		return
	}
	t.mux.ServeHTTP(w, r)
}

// otherMethod reports whether a path is known, but not for the method.
func (t *tools) otherMethod(r *http.Request) bool {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if _, pattern := t.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			return true
		}
	}
	return false
}
