package devserver

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/devserver/loopback"
)

// LiveReload chooses the reaction of open pages to a build.
type LiveReload string

// The modes of live reload. The zero value is Hot.
const (
	Hot  LiveReload = "hot"  // style sheets are swapped in place, everything else reloads the page
	Full LiveReload = "full" // every change reloads the page
	Off  LiveReload = "off"  // pages have neither script nor overlay
)

// HubOptions configure a Hub. The zero value works.
type HubOptions struct {
	LiveReload LiveReload       // default Hot
	Now        func() time.Time // default time.Now
	Logger     *slog.Logger     // default none
	// Tools answers the other paths under "/__pages/api/". It gets only requests of the site's own pages and of programs; those that may
	// change something must have the token of this run. Default 404.
	Tools http.Handler
	// Agents answers "/__pages/mcp". It gets only requests with the token of this run. Default 404.
	Agents http.Handler
}

// Hub holds the version of the site that is being served and the problems of the newest one, and updates the open pages. It is an
// http.Handler for the dev server's own paths under /__pages/, so make it before the site.
type Hub struct {
	mode   LiveReload
	now    func() time.Time
	logger *slog.Logger
	tools  http.Handler
	agents http.Handler
	token  string // for the tools that change something, and for agents
	opener string // token of the reload stream; every page of the site has it
	boot   string // names this run in entity tags

	mu       sync.Mutex
	version  int64 // grows with every served revision
	build    int64 // number of the last build
	took     time.Duration
	problems []Problem
	failed   bool
	info     Info
	watching int
	pages    audience // of the reload stream
	guests   audience // of the reload stream beyond this machine, with separate places
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

// problemsMessage has the problems of the newest build, which is not served. An empty list withdraws them.
type problemsMessage struct {
	Build    int64     `json:"build"`
	Problems []Problem `json:"problems"`
}

// NewHub makes a Hub.
func NewHub(o HubOptions) *Hub {
	h := &Hub{
		mode: cmp.Or(o.LiveReload, Hot), now: o.Now, logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		tools: o.Tools, agents: o.Agents,
		token: rand.Text(), opener: rand.Text(), boot: rand.Text()[:6],
		pages: audience{}, guests: audience{}, viewers: audience{}, info: Describe(nil), logged: map[string]bool{},
	}
	if h.now == nil {
		h.now = time.Now
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

// fail records a failed build, and shows its problems on the author's pages.
func (h *Hub) fail(build int64, problems []Problem, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.build, h.took, h.failed, h.problems = build, took, true, problems
	h.viewers.broadcast(message{event: "state", data: h.state()})
	h.pages.broadcast(message{event: "problems", data: problemsMessage{build, problems}})
}

// join opens the reload stream of a page with the given version; a guest is beyond this machine. It returns nil if there are too many, or
// the server is closing.
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
	h.viewers.end(page)
}

// view opens the stream of a dashboard, as join does for a page.
func (h *Hub) view() *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	page := h.viewers.join()
	if page != nil {
		page.messages <- message{event: "state", data: h.state()}
	}
	return page
}

// close ends all streams permanently.
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

// keepAlive is the pause after which a quiet stream sends a comment, with which the server notices a closed page.
const keepAlive = 15 * time.Second

// serveStream is GET /__pages/reload?token=…&v=N: server-sent events for one open page that holds version N. It takes
// the token of the reload script and proof that a page of this site makes the request. Beyond this machine it announces
// new versions, and never problems.
func (h *Hub) serveStream(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !ownPage(r) || subtle.ConstantTimeCompare([]byte(query.Get("token")), []byte(h.opener)) != 1 {
		refuseForeign(w, r, "the reload stream is for this site's own pages")
		return
	}
	held := r.Header.Get("Last-Event-ID") // of a page that reconnects
	if held == "" {
		held = query.Get("v")
	}
	version, err := strconv.ParseInt(held, 10, 64)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "version_malformed", "v is not a version number")
		return
	}
	guest := loopback.ExternalOf(r.Context()) != nil
	h.serveEvents(w, r, func() *subscriber { return h.join(version, guest) })
}

// serveFeed is GET /__pages/api/dev/stream: server-sent events for a dashboard, each a "state" with the document of
// /__pages/api/dev, now and after each build.
func (h *Hub) serveFeed(w http.ResponseWriter, r *http.Request) {
	if !ownPage(r) {
		refuseForeign(w, r, "the stream is for the dashboard")
		return
	}
	h.serveEvents(w, r, h.view)
}

// serveEvents streams to the subscriber that join returns.
func (h *Hub) serveEvents(w http.ResponseWriter, r *http.Request, join func() *subscriber) {
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	page := join()
	if page == nil {
		w.Header().Set("Retry-After", "1")
		refuse(w, r, http.StatusServiceUnavailable, "too_many_pages", "no room for another page")
		return
	}
	defer h.leave(page)
	_ = stream(w, r, page.messages) // it ends with the page or the server
}

// stream writes messages until they end or the client is gone.
func stream(w http.ResponseWriter, r *http.Request, messages <-chan message) error {
	control := http.NewResponseController(w)
	if _, err := io.WriteString(w, "retry: 500\n\n"); err != nil {
		return err
	}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		var err error
		select {
		case <-r.Context().Done():
			return nil
		case <-alive.C:
			_, err = io.WriteString(w, ": alive\n\n")
		case m, open := <-messages:
			if !open {
				return nil
			}
			err = m.write(w)
		}
		if err != nil {
			return err
		}
	}
}

func (m message) write(w io.Writer) error {
	data, err := json.Marshal(m.data)
	if err != nil {
		return err
	}
	if m.id > 0 {
		if _, err := fmt.Fprintf(w, "id: %d\n", m.id); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", m.event, data)
	return err
}

const (
	// maxSubscribers bounds the streams of each kind; each belongs to an open page.
	maxSubscribers = 64
	// subscriberRoom is the number of messages that may wait for one page. A slower page is disconnected; it reconnects and starts afresh.
	subscriberRoom = 16
)

// subscriber is one open page. Its channel closes when the page is disconnected.
type subscriber struct{ messages chan message }

// message is one server-sent event. With an id above 0, the page sends it back when it reconnects.
type message struct {
	event string
	id    int64
	data  any
}

// audience is a set of open pages. Its owner guards it.
type audience map[*subscriber]struct{}

// join adds a page, or returns nil if there are too many.
func (a audience) join() *subscriber {
	if len(a) >= maxSubscribers {
		return nil
	}
	page := &subscriber{make(chan message, subscriberRoom)}
	a[page] = struct{}{}
	return page
}

// broadcast sends m to every page without waiting.
func (a audience) broadcast(m message) {
	for page := range a {
		select {
		case page.messages <- m:
		default:
			a.end(page)
		}
	}
}

// end ends one stream, once.
func (a audience) end(page *subscriber) {
	if _, open := a[page]; open {
		delete(a, page)
		close(page.messages)
	}
}
