// Package web is the web platform that a Worker sees. It composes the packages below it, one for
// each subject: each is JavaScript classes over host functions, which the package answers in Go.
// The package itself has the life of a request: how it enters the Worker, its response, and its end.
//
// A [Host] serves the isolates of one Worker. In: the requests of its clients, as [Exchange] values
// given to [Host.Serve]. Out: the responses, written to the exchange's http.ResponseWriter; console
// output, to [Options]; outbound requests, through a guard that lets no Worker reach the machine or
// the network it runs in. Errors: a [*Failure] if the Worker returned no response, an [*Aborted] if
// its response broke off, the engine's own errors if it was stopped.
//
// A Host is safe for concurrent use. The package opens no socket to listen on, knows no routes, no
// members and no bindings, and keeps nothing between requests but the connections of its transport.
//
// A new global is a class or function in the folder js of its subject, put in its place by install, a new member of a class no more
// than that; then run make artifacts. Its behaviour is a line in a list of snippets, in the test of its subject or in
// snippets_test.go; the shape of a class is one of shapes, in idl_test.go and scope_test.go. ../DIFFERENCES.md has a row for each
// deliberate difference from workerd.
package web

import (
	"context"
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

// LimitMode is the action at a limit.
type LimitMode string

// Actions at a limit: enforce it, warn on the console, or ignore it.
const (
	LimitEnforce LimitMode = "enforce"
	LimitWarn    LimitMode = "warn"
	LimitOff     LimitMode = "off"
)

// DefaultResponseBytes is the maximum number of bytes of one response's body. The platform's own figure is not
// shown.
const DefaultResponseBytes = 512 << 20

// Options are the options of a Host. The zero value works.
type Options struct {
	// Console gets the Worker's console output; the scope's Value is the *Exchange, or nil while the
	// module is evaluated. Default: discarded.
	Console func(s *engine.Scope, e console.Entry)
	// SubRequests is the most outbound requests of one request, redirects counted. Default: that of
	// the manifest.
	SubRequests int
	// ResponseBytes is the maximum number of bytes of the body of one response. Default: DefaultResponseBytes.
	ResponseBytes int64
	// LimitMode applies to SubRequests and ResponseBytes. Default: LimitEnforce.
	LimitMode LimitMode
	// StatusText gets the status text that the Worker gave a response, before the head is written: net/http writes none of
	// its own. ctx is that of the request. Default: ignored.
	StatusText func(ctx context.Context, status int, text string)
	// See fetch.Options.
	AllowFetch     []string
	Self           http.Handler
	IsSelf         func(host string) bool
	StrictlyPublic bool
	Transport      http.RoundTripper
	// NodeJS is the compatibility flag nodejs_compat; Cloudflare.compatibilityFlags shows both.
	NodeJS bool
	// Caches stores the entries of caches.default and caches.open. Default: caches of the Host's
	// own, in memory.
	Caches *cache.Store
	// See language.Options.
	Source func(name string) []byte
	Stack  func(stack string) string
	// Memory is the budget of the messages of the Worker's WebSockets. Default: a Worker's share of
	// one.
	Memory *engine.HostMemory
	// Now is the clock of caches, and of the origin of performance.now. Default: time.Now.
	Now func() time.Time
	// Logger gets the host's own errors. Default: discarded.
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
	origins   Origins // of requests

	work sync.WaitGroup // goroutines beside the requests
}

// New returns a Host. Close it when its isolates are closed.
func New(o Options) *Host {
	if o.SubRequests <= 0 {
		o.SubRequests = limits.SubRequests.Default
	}
	if o.ResponseBytes <= 0 {
		o.ResponseBytes = DefaultResponseBytes
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
	h := &Host{o: o, funcs: map[string]engine.Func{}, exchanges: map[int64]*Exchange{}}
	h.newID = h.nextID
	h.client = fetch.New(fetch.Options{
		AllowFetch: o.AllowFetch, Self: o.Self, IsSelf: o.IsSelf, StrictlyPublic: o.StrictlyPublic, Transport: o.Transport,
	})
	h.sockets = socket.NewHub(o.Memory.Reservation(), o.Logger)
	h.compression = compression.New(h.nextID, ofExchange(func(x *Exchange) *compression.Streams { return &x.codecs }))
	session := ofExchange(func(x *Exchange) *fetch.Session { return &x.fetches })
	queue := ofExchange(func(x *Exchange) *timers.Queue { return &x.timers })
	for _, part := range []map[string]engine.Func{
		cache.Funcs(o.Caches, o.Now), h.compression.Funcs(), console.Funcs(h.log), fetch.Funcs(session), formdata.Funcs(),
		htmlrewriter.Funcs(), intl.Funcs(), iocontext.Funcs(), language.Funcs(language.Options{Source: o.Source, Stack: o.Stack}),
		h.sockets.Funcs(h.client, session), textcodec.Funcs(), timers.ClockFuncs(o.Now), timers.Funcs(queue), urlpattern.Funcs(),
		webcrypto.Funcs(), weburl.Funcs(), h.requestFuncs(),
	} {
		maps.Copy(h.funcs, part)
	}
	return h
}

// Close waits for goroutines beside the requests and drops the idle connections of outbound
// requests.
func (h *Host) Close() {
	h.work.Wait()
	h.sockets.Close()
	h.client.Close()
}

// Funcs returns the host functions by name, for an isolate of the Worker.
func (h *Host) Funcs() map[string]engine.Func { return maps.Clone(h.funcs) }

// Compression opens the streams of node:zlib beside those of CompressionStream.
func (h *Host) Compression() *compression.Host { return h.compression }

// Loaded is called after the evaluation of the module. It closes streams that the module left open:
// isolates that start from its image do not have them.
func (h *Host) Loaded() { h.compression.Loaded() }

// Restart ends the WebSockets because the Worker is replaced; new ones end at once.
func (h *Host) Restart() { h.sockets.Restart() }

// RestartSockets is Restart for the WebSockets of one isolate, which was retired.
func (h *Host) RestartSockets(iso *engine.Isolate) {
	for _, x := range h.of(iso) {
		h.sockets.RestartOf(&x.io)
	}
}

func (h *Host) log(s *engine.Scope, e console.Entry) {
	if h.o.Console != nil {
		h.o.Console(s, e)
	}
}

func (h *Host) nextID() int64 { return h.last.Add(1) }

func (h *Host) exchange(id int64) *Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exchanges[id]
}

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

// countSubRequest counts one outbound request of x, and refuses it over the limit (platform
// document, 2.9 limits.subRequests). By assumption, a fetch and each redirect that it follows
// count, and calls of bindings do not.
func (h *Host) countSubRequest(x *Exchange) error {
	n := x.subRequests.Add(1)
	if int(n) <= h.o.SubRequests || h.o.LimitMode == LimitOff {
		return nil
	}
	err := fetch.TooMany(h.o.SubRequests)
	if h.o.LimitMode == LimitWarn {
		h.log(x.io.Scope, console.Entry{Level: "warn", Text: err.Message})
		return nil
	}
	x.subRequests.Add(-1)
	return err
}

// Names returns the names of all host functions of this package, sorted. The engine's image needs them.
func Names() []string {
	h := New(Options{})
	defer h.Close()
	return slices.Sorted(maps.Keys(h.funcs))
}

// Modules returns the sources of the modules that the platform provides, by specifier. An unknown
// name in an import of one is a SyntaxError.
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

// InHandler returns the platform's error for I/O while no request is served; nil while one is.
func InHandler(c *engine.Call) error {
	_, err := current(c)
	return err
}
