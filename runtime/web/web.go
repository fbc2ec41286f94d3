// Package web is the web platform that a Worker sees. It composes the packages
// below it, one for each subject: each is JavaScript classes over host functions,
// which the package answers in Go. What is here is the life of a request: how it
// enters the Worker, its response, and its end.
//
// A [Host] serves the isolates of one Worker. In: the requests of its visitors,
// as [Exchange] values given to [Host.Serve]. Out: the answers, written to the
// exchange's http.ResponseWriter; console output, to [Options]; outbound
// requests, through a guard that lets no Worker reach the machine or the network
// it runs in. Errors: a [*Failure] when the Worker gave no answer, an [*Aborted]
// when its answer broke off, the engine's own errors when it was stopped.
//
// A Host is safe for concurrent use. The package opens no socket to listen on,
// knows no routes, no members and no bindings, and keeps nothing between
// requests but the connections of its transport.
//
// A new global is a class or function in the folder js of its subject, put in its
// place by install, a new member of a class no more than that; then make artifacts.
// What it does is a line in a list of snippets, in the test of its subject or in
// snippets_test.go; the shape of a class is one of shapes, in idl_test.go and
// scope_test.go. Where it is on purpose otherwise than in workerd, ../DIFFERENCES.md
// has a row.
package web

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/console"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/formdata"
	"github.com/pages-toolchain/pages/runtime/web/htmlrewriter"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/language"
	"github.com/pages-toolchain/pages/runtime/web/socket"
	"github.com/pages-toolchain/pages/runtime/web/textcodec"
	"github.com/pages-toolchain/pages/runtime/web/timers"
	"github.com/pages-toolchain/pages/runtime/web/urlpattern"
	"github.com/pages-toolchain/pages/runtime/web/webcrypto"
	"github.com/pages-toolchain/pages/runtime/web/weburl"
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

// New returns a Host. Close it when its isolates are closed.
func New(o Options) *Host {
	if o.SubRequests <= 0 {
		o.SubRequests = limits.SubRequests.Default
	}
	if o.AnswerBytes <= 0 {
		o.AnswerBytes = DefaultAnswerBytes
	}
	if o.LimitMode == "" {
		o.LimitMode = LimitEnforce
	}
	if o.Caches == nil {
		o.Caches = cache.New(cache.Options{})
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Memory == nil {
		o.Memory = engine.NewHostMemory(0).Share()
	}
	h := &Host{o: o, exchanges: map[int64]*Exchange{}, origins: map[string]string{}}
	h.newID = h.nextID
	h.client = fetch.New(fetch.Options{AllowFetch: o.AllowFetch, Self: o.Self, IsSelf: o.IsSelf, StrictlyPublic: o.StrictlyPublic, Transport: o.Transport})
	h.sockets = socket.NewHub(o.Memory.Reservation(), o.Logger)
	h.compression = compression.New(h.nextID, func(c *engine.Call) (*compression.Streams, error) {
		x, err := current(c)
		if err != nil {
			return nil, err
		}
		return &x.codecs, nil
	})
	h.funcs = h.collectFuncs()
	return h
}

// Close waits for what still runs beside the requests and drops the idle
// connections of outbound requests.
func (h *Host) Close() {
	h.work.Wait()
	h.sockets.Close()
	h.client.Close()
}

// Funcs returns the host functions by name, for an isolate of the Worker.
func (h *Host) Funcs() map[string]engine.Func { return maps.Clone(h.funcs) }

// collectFuncs collects the host functions of all subjects.
func (h *Host) collectFuncs() map[string]engine.Func {
	all := map[string]engine.Func{}
	for _, part := range []map[string]engine.Func{
		cache.Funcs(h.o.Caches, h.o.Now), h.compression.Funcs(), console.Funcs(h.log), fetch.Funcs(session), formdata.Funcs(),
		htmlrewriter.Funcs(), intl.Funcs(), iocontext.Funcs(), language.New(language.Options{Source: h.o.Source, Stack: h.o.Stack}).Funcs(),
		h.sockets.Funcs(h.client, session), textcodec.Funcs(), timers.ClockFuncs(h.o.Now), timers.Funcs(queue), urlpattern.Funcs(),
		webcrypto.Funcs(), weburl.Funcs(), h.respondFuncs(), h.scopeFuncs(),
	} {
		maps.Copy(all, part)
	}
	return all
}

func (h *Host) log(s *engine.Scope, e console.Entry) {
	if h.o.Console != nil {
		h.o.Console(s, e)
	}
}

// Compression opens the streams of node:zlib beside those of CompressionStream.
func (h *Host) Compression() *compression.Host { return h.compression }

// Loaded says that the module is evaluated: what it left open is closed, as isolates that
// start from its image have no part in it.
func (h *Host) Loaded() { h.compression.Loaded() }

// Restart ends the WebSockets because the Worker is replaced; new ones end at once.
func (h *Host) Restart() { h.sockets.Restart() }

// session returns the fetches of the request on whose behalf a host function was called.
func session(c *engine.Call) (*fetch.Session, error) {
	x, err := current(c)
	if err != nil {
		return nil, err
	}
	return &x.fetches, nil
}

// queue returns the timers of the request on whose behalf a host function was called.
func queue(c *engine.Call) (*timers.Queue, error) {
	x, err := current(c)
	if err != nil {
		return nil, err
	}
	return &x.timers, nil
}

// Names returns the names of all host functions of this package, sorted: what
// the engine's image must know.
func Names() []string {
	h := New(Options{})
	defer h.Close()
	return slices.Sorted(maps.Keys(h.funcs))
}

// Modules returns the sources of the modules that the platform provides, by
// specifier. An unknown name in an import of one is a SyntaxError.
func Modules() map[string]string {
	names := "env, waitUntil, WorkerEntrypoint, DurableObject, WorkflowEntrypoint, RpcTarget, RpcStub, RpcPromise, RpcProperty, ServiceStub"
	return map[string]string{
		"cloudflare:workers": `const { ` + names + ` } = globalThis[Symbol.for("pages.workers")];
export { ` + names + ` };
`,
		"cloudflare:sockets": `const { connect } = globalThis[Symbol.for("pages.workers")];
export { connect };
`,
	}
}

// current returns the exchange on whose behalf a host function was called. An
// error means that no request is being served: the module is being evaluated.
func current(c *engine.Call) (*Exchange, error) {
	x, ok := c.Scope().Value.(*Exchange)
	if !ok {
		return nil, iocontext.ErrGlobalScope()
	}
	return x, nil
}

// InHandler returns the platform's error for I/O while no request is served; nil
// while one is.
func InHandler(c *engine.Call) error {
	_, err := current(c)
	return err
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
