package devserver

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"
)

// LiveReload says how open pages react to a build.
type LiveReload string

// The modes of live reload. The zero value is Hot.
const (
	Hot  LiveReload = "hot"  // style sheets are swapped in place, everything else reloads the page
	Full LiveReload = "full" // every change reloads the page
	Off  LiveReload = "off"  // pages are served as they are, without script or overlay
)

// HubOptions configure a Hub. The zero value works.
type HubOptions struct {
	LiveReload LiveReload       // default Hot
	Now        func() time.Time // default time.Now
	Logger     *slog.Logger     // default none
	// Tools answers the other paths under "/__pages/api/". It gets requests of the site's own pages and of programs
	// only, and those that may change something only with the token of this run. Default 404.
	Tools http.Handler
}

// Hub holds the version of the site that is being served and the problems of the newest one, and updates the open pages.
// As an http.Handler it answers the dev server's own paths under /__pages/, and so is made before the site.
type Hub struct {
	mode   LiveReload
	now    func() time.Time
	logger *slog.Logger
	tools  http.Handler
	token  string // for the tools that change something
	opener string // token of the reload stream; every page of the site has it
	boot   string // names this run in entity tags

	mu       sync.Mutex
	version  int64 // grows with every revision served
	build    int64 // number of the last build
	took     time.Duration
	problems []Problem
	failed   bool
	info     Info
	watching int
	pages    audience // of the reload stream
	guests   audience // the same, beyond this machine, with places of their own
	viewers  audience // of the dashboard's stream
	closed   bool
	logged   map[string]bool // directives that forbid the reload script
}

// updateMessage announces a new version of the site.
type updateMessage struct {
	Type    Reload   `json:"type"`
	Version int64    `json:"version"`
	Paths   []string `json:"paths,omitempty"` // style sheets, when Type is "css"
}

// problemsMessage says why the newest build is not served. An empty list withdraws that.
type problemsMessage struct {
	Build    int64     `json:"build"`
	Problems []Problem `json:"problems"`
}

// NewHub makes a Hub.
func NewHub(o HubOptions) *Hub {
	h := &Hub{
		mode: o.LiveReload, now: o.Now, logger: o.Logger, tools: o.Tools,
		token: rand.Text(), opener: rand.Text(), boot: rand.Text()[:6],
		pages: audience{}, guests: audience{}, viewers: audience{}, info: Describe(nil), logged: map[string]bool{},
	}
	if h.mode == "" {
		h.mode = Hot
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.logger == nil {
		h.logger = slog.New(slog.DiscardHandler)
	}
	return h
}

// logObstacle logs why a page will not reload, once for each directive that forbids it.
func (h *Hub) logObstacle(r *http.Request, o policyObstacle) {
	h.mu.Lock()
	known := h.logged[o.directive]
	h.logged[o.directive] = true
	h.mu.Unlock()
	if o.directive != "" && !known {
		h.logger.Warn(
			"live reload does not work on "+r.URL.EscapedPath()+`: its Content-Security-Policy forbids it with "`+o.text+`"`,
			"fix", o.fix,
		)
	}
}

// Token returns the secret of this run: tools that change something take "Authorization: Bearer TOKEN".
func (h *Hub) Token() string { return h.token }

// succeed records a build whose revision is being served, and updates the pages.
func (h *Hub) succeed(build int64, out Outcome, changed []string, took time.Duration) Reload {
	h.mu.Lock()
	defer h.mu.Unlock()
	update := updateMessage{Type: ReloadFull}
	if paths, only := changedStyles(changed, out.Revision.Assets); only && h.mode == Hot && !h.failed && h.version > 0 {
		update.Type, update.Paths = ReloadCSS, paths
	}
	h.version++
	update.Version = h.version
	h.build, h.took, h.failed, h.problems, h.info = build, took, false, out.Problems, out.Info.withLists()
	h.viewers.broadcast(message{event: "state", data: h.state()})
	if h.mode == Off {
		return ReloadNone
	}
	h.pages.broadcast(message{"update", update.Version, update})
	update.Paths = nil // they may be for members
	h.guests.broadcast(message{"update", update.Version, update})
	return update.Type
}

// fail records a failed build, and shows its problems on pages of the author's.
func (h *Hub) fail(build int64, problems []Problem, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.build, h.took, h.failed, h.problems = build, took, true, problems
	h.viewers.broadcast(message{event: "state", data: h.state()})
	h.pages.broadcast(message{event: "problems", data: problemsMessage{build, problems}})
}

// join opens the reload stream of a page that holds the given version; a guest is beyond this machine. It is nil when
// there are too many, or the server is closing.
func (h *Hub) join(version int64, guest bool) *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	group := h.pages
	if guest {
		group = h.guests
	}
	page := group.join()
	if page == nil {
		return nil
	}
	if version != h.version {
		page.messages <- message{"update", h.version, updateMessage{Type: ReloadFull, Version: h.version}}
	}
	if h.failed && !guest {
		page.messages <- message{event: "problems", data: problemsMessage{h.build, h.problems}}
	}
	return page
}

func (h *Hub) leave(page *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages.end(page)
	h.guests.end(page)
}

// view opens the stream of a dashboard, as join does for a page.
func (h *Hub) view() *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	page := h.viewers.join()
	if page == nil {
		return nil
	}
	page.messages <- message{event: "state", data: h.state()}
	return page
}

func (h *Hub) endView(page *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.viewers.end(page)
}

// close ends all streams for good.
func (h *Hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, each := range []audience{h.pages, h.guests, h.viewers} {
		for page := range each {
			each.end(page)
		}
	}
}

// current returns the version being served; 0 before the first.
func (h *Hub) current() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// failure returns the problems of the last build, and whether it failed.
func (h *Hub) failure() (build int64, problems []Problem, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.build, slices.Clone(h.problems), h.failed
}

func (h *Hub) setWatching(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watching = n
}
