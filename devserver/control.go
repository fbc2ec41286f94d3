package devserver

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

// StatePath is the address of the [State].
const StatePath = "/__pages/api/dev"

// The paths of a Hub. None of them is ever the site's own.
const (
	controlRoot = "/__pages/"
	uiPath      = "/__pages/ui/"
	scriptPath  = "/__pages/reload.js"
	streamPath  = "/__pages/reload"
	feedPath    = "/__pages/api/dev/stream"
	toolsPath   = "/__pages/api/"
	agentsPath  = "/__pages/mcp"
)

const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers the dashboard, its files, the reload script and stream, and GET /__pages/api/dev, passes other
// paths under /__pages/api/ to the tools, and /__pages/mcp to agents.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Content-Security-Policy", dashboardPolicy)
	head.Set("Referrer-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	p := r.URL.Path
	if h.tools != nil && strings.HasPrefix(p, toolsPath) && p != StatePath && p != feedPath {
		h.serveTool(w, r)
		return
	}
	if h.agents != nil && p == agentsPath {
		h.serveAgents(w, r)
		return
	}
	if !readOnly(r) {
		head.Set("Allow", "GET, HEAD")
		refuse(w, r, http.StatusMethodNotAllowed, "method_not_allowed", "this address takes GET and HEAD only")
		return
	}
	switch {
	case p == "/__pages":
		http.Redirect(w, r, controlRoot, http.StatusTemporaryRedirect)
	case p == controlRoot:
		h.serveUI(w, r, "index.html")
	case isForeign(r):
		refuseForeign(w, r, "only the site's own pages may request this")
	case p == scriptPath:
		// Only pages of this site may read it: see isForeign, and Cross-Origin-Resource-Policy above.
		h.serveEmbedded(w, r, "reload.js", strings.NewReplacer("%TOKEN%", h.opener, "%STREAM%", streamPath))
	case p == streamPath:
		h.serveStream(w, r)
	case p == feedPath:
		h.serveFeed(w, r)
	case p == StatePath:
		h.serveState(w, r)
	case strings.HasPrefix(p, uiPath) && path.Dir(p)+"/" == uiPath:
		h.serveUI(w, r, path.Base(p))
	default:
		notFound(w, r)
	}
}

func readOnly(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// serveTool checks who may use the tools. A page of another site cannot read a response, learn the token, or send the header with it; a
// form cannot send the header or JSON. An empty body needs no content type.
func (h *Hub) serveTool(w http.ResponseWriter, r *http.Request) {
	contentType := r.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(contentType)
	empty := contentType == "" && r.ContentLength == 0
	switch {
	case isForeign(r):
		refuseForeign(w, r, "only the site's own pages may request this")
	case !readOnly(r) && !h.authorized(r):
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusForbidden, Code: "token_needed", Message: "this request changes state, and needs the token of this run",
			Fix: `send "Authorization: Bearer TOKEN"; the token is in .pages/state/dev.json, and in PAGES_TEST_TOKEN under pages test`,
		})
	case r.Method == http.MethodPost && !empty && kind != "application/json":
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusUnsupportedMediaType, Code: "json_needed", Message: "this takes JSON",
			Fix: `send "Content-Type: application/json"`,
		})
	default:
		h.tools.ServeHTTP(w, r)
	}
}

// authorized reports whether a request has the token of this run.
func (h *Hub) authorized(r *http.Request) bool {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return bearer && subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) == 1
}

// serveAgents checks who may call the tools for agents: programs with the token, and no page of another site.
func (h *Hub) serveAgents(w http.ResponseWriter, r *http.Request) {
	switch {
	case isForeign(r):
		refuseForeign(w, r, "pages of other sites may not call these tools")
	case !h.authorized(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="pages dev"`)
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusUnauthorized, Code: "token_needed", Message: "agents need the token of this run",
			Fix: `send "Authorization: Bearer TOKEN"; the token is in .pages/state/dev.json; pages mcp --dev finds it by itself`,
		})
	default:
		h.agents.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	site.Refuse(w, r, &site.RefusalError{Status: status, Code: code, Message: message})
}

func notFound(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, http.StatusNotFound, "not_found", "there is no page at this address")
}

func refuseForeign(w http.ResponseWriter, r *http.Request, why string) {
	refuse(w, r, http.StatusForbidden, "foreign_origin", why)
}

// isForeign reports whether another site's page makes the request. Clients other than browsers send none of these headers, and pass.
func isForeign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return true
	}
	for _, name := range []string{"Origin", "Referer"} {
		if from := r.Header.Get(name); from != "" {
			u, err := url.Parse(from)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, site.RequestedHost(r)) {
				return true
			}
		}
	}
	return false
}

// ownPage reports whether the request proves that it comes from a page of this site.
func ownPage(r *http.Request) bool {
	if isForeign(r) {
		return false
	}
	return r.Header.Get("Sec-Fetch-Site") == "same-origin" ||
		r.Header.Get("Origin") != "" || r.Header.Get("Referer") != ""
}

// serveUI sends one embedded file.
func (h *Hub) serveUI(w http.ResponseWriter, r *http.Request, name string) {
	if name == "problem.html" || name == "problem.css" || name == "reload.js" {
		notFound(w, r) // these are parts of other responses
		return
	}
	var fill *strings.Replacer
	if name == "index.html" {
		fill = strings.NewReplacer("%TOKEN%", h.token) // the page may not be framed, nor read by another site
	}
	h.serveEmbedded(w, r, name, fill)
}

func (h *Hub) serveEmbedded(w http.ResponseWriter, r *http.Request, name string, fill *strings.Replacer) {
	data, err := ui.ReadFile("ui/" + name)
	if err != nil {
		notFound(w, r)
		return
	}
	if fill != nil {
		data = []byte(fill.Replace(string(data)))
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// State is the document of GET StatePath.
type State struct {
	OK         bool       `json:"ok"`      // the last build is being served
	Version    int64      `json:"version"` // of the revision being served; 0 before the first
	Build      int64      `json:"build"`   // number of the last build
	TookMs     float64    `json:"took_ms"`
	LiveReload LiveReload `json:"live_reload"`
	Pages      int        `json:"pages"`    // open pages
	Watching   int        `json:"watching"` // paths that the build depends on
	Problems   []Problem  `json:"problems"` // errors unless ok, else warnings
	Info       Info       `json:"info"`
}

// state returns the document. The caller holds the lock.
func (h *Hub) state() State {
	return State{
		OK: !h.failed, Version: h.version, Build: h.build,
		TookMs: float64(h.took.Microseconds()) / 1000, LiveReload: h.mode,
		Pages: len(h.pages) + len(h.guests), Watching: h.watching, Problems: orEmpty(h.problems), Info: h.info,
	}
}

func (h *Hub) serveState(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	state := h.state()
	h.mu.Unlock()
	data, err := json.Marshal(state)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, "internal", "the state has no JSON form")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the client may be gone
	}
}
