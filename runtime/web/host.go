package web

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/console"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/socket"
)

// LimitMode says what happens at a limit.
type LimitMode string

// What happens at a limit: it holds, it is only told to the console, or nothing.
const (
	LimitEnforce LimitMode = "enforce"
	LimitWarn    LimitMode = "warn"
	LimitOff     LimitMode = "off"
)

// Options says how a Host behaves. The zero value works.
type Options struct {
	// Console hears what the Worker writes; the scope's Value is the *Exchange,
	// or nil while the module is evaluated. Default: nobody.
	Console func(s *engine.Scope, e console.Entry)
	// SubRequests is the most outbound requests of one request, redirects
	// counted. Default: that of the manifest.
	SubRequests int
	// AnswerBytes is the most bytes of the body of one answer. Default:
	// DefaultAnswerBytes.
	AnswerBytes int64
	// LimitMode is for SubRequests and AnswerBytes. Default: LimitEnforce.
	LimitMode LimitMode
	// AllowFetch lists hosts, as HOST or HOST:PORT, that fetch may reach although
	// their addresses are private. Default: none.
	AllowFetch []string
	// Self is the site's own front door, which a fetch to a host for which IsSelf
	// is true enters like any visitor, if StrictlyPublic. Default: none.
	Self http.Handler
	// IsSelf reports whether a URL's host, with its port if it has one, is the
	// site's own. Default: no host is.
	IsSelf func(host string) bool
	// StrictlyPublic is the compatibility flag global_fetch_strictly_public.
	StrictlyPublic bool
	// NodeJS is the compatibility flag nodejs_compat: Cloudflare.compatibilityFlags
	// tells of both.
	NodeJS bool
	// Caches is what caches.default and caches.open keep things in. Default: caches
	// of the Host's own, in memory.
	Caches *cache.Store
	// Source returns the code of an evaluated module by its name, nil for none: for
	// errors that name what they are about. Default: none.
	Source func(name string) []byte
	// Stack returns the stack of an error that the Worker reads with positions in the
	// author's files. Default: stacks are read as they are.
	Stack func(stack string) string
	// Transport replaces the guarded transport; for tests.
	Transport http.RoundTripper
	// Memory is what the messages of the Worker's WebSockets take their memory of. Default:
	// a Worker's share of one.
	Memory *engine.HostMemory
	// Now is the clock of timers and performance.now. Default: time.Now.
	Now func() time.Time
	// Logger hears what is wrong with the host itself. Default: discarded.
	Logger *slog.Logger
}

// Host answers the host functions of the web platform for one Worker.
type Host struct {
	o           Options
	client      *fetch.Client
	sockets     *socket.Hub
	compression *compression.Host
	funcs       map[string]engine.Func

	last      atomic.Int64 // the newest id of an exchange or body
	newID     func() int64 // nextID, made once
	mu        sync.Mutex
	exchanges map[int64]*Exchange
	origins   map[string]string // of visitors, by scheme and Host header

	work sync.WaitGroup // what was started beside the requests
}

func (h *Host) log(s *engine.Scope, e console.Entry) {
	if h.o.Console != nil {
		h.o.Console(s, e)
	}
}

func (h *Host) nextID() int64 { return h.last.Add(1) }

func (h *Host) add(x *Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges[x.id] = x
}

func (h *Host) remove(x *Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.exchanges, x.id)
}

// exchange returns the exchange of an id that JavaScript gave back; nil when it
// is over.
func (h *Host) exchange(id int64) *Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exchanges[id]
}

// of returns the exchanges of an isolate.
func (h *Host) of(iso *engine.Isolate) (all []*Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.exchanges {
		if x.io.Isolate == iso {
			all = append(all, x)
		}
	}
	return all
}

// DefaultAnswerBytes is the most bytes of one answer's body. The platform's own
// figure is not shown.
const DefaultAnswerBytes = 512 << 20
