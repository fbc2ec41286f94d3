// Package web is the web platform that a Worker sees: Request, Response, fetch,
// URL, streams, timers, crypto … Each is a thin JavaScript class (the folder js,
// bundled into the engine's prelude) over host functions that this package
// answers in Go.
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
// A new global is a class or function under js, put in its place by install, a new member
// of a class no more than that; then make artifacts. What it does is a line in a list of
// snippets, in the test of its subject or in snippets_test.go; the shape of a class is one of
// shapes, in idl_test.go and scope_test.go. Where it is on purpose otherwise than in workerd,
// ../DIFFERENCES.md has a row.
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
)

// LimitMode says what happens at a limit.
type LimitMode string

// What happens at a limit: it holds, it is only told to the console, or nothing.
const (
	LimitEnforce LimitMode = "enforce"
	LimitWarn    LimitMode = "warn"
	LimitOff     LimitMode = "off"
)

// ConsoleEntry is one line that the Worker wrote to its console.
type ConsoleEntry struct {
	// Level is log, info, debug, warn, error or trace.
	Level string
	// Text is what was written, formatted; it may have several lines.
	Text string
	// Stack is where: of the call of a method of console, or of an uncaught
	// exception, in positions of the bundle.
	Stack string
	// Called says that a method of console was called.
	Called bool
	// Args is the JSON array of its arguments, as far as JSON has them; empty when
	// there are none, or when it would be over 16 KiB.
	Args string
}

// Options says how a Host behaves. The zero value works.
type Options struct {
	// Console hears what the Worker writes; the scope's Value is the *Exchange,
	// or nil while the module is evaluated. Default: nobody.
	Console func(s *engine.Scope, e ConsoleEntry)
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
	Caches *Caches
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
	o         Options
	transport http.RoundTripper
	origin    time.Time // of performance.now

	last      atomic.Int64 // the newest id of an exchange or body
	mu        sync.Mutex
	exchanges map[int64]*Exchange
	origins   map[string]string // of visitors, by scheme and Host header

	keys     keyCache // of crypto.subtle
	wordings wordings
	loading  codecs // of the module, while it is evaluated

	messages   *engine.Reservation // that the Worker's WebSockets send and read
	restarting atomic.Bool         // the Worker is replaced

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
	if o.IsSelf == nil {
		o.IsSelf = func(string) bool { return false }
	}
	if o.Caches == nil {
		o.Caches = NewCaches(CachesOptions{})
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
	h := &Host{o: o, messages: o.Memory.Reservation(), transport: o.Transport, origin: o.Now(), exchanges: map[int64]*Exchange{}, origins: map[string]string{}}
	if h.transport == nil {
		h.transport = newTransport(newGuard(o.AllowFetch))
	}
	return h
}

// Close waits for what still runs beside the requests and drops the idle
// connections of outbound requests.
func (h *Host) Close() {
	h.work.Wait()
	h.messages.Close()
	if t, ok := h.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// Funcs returns the host functions by name, for the isolates of the Worker.
func (h *Host) Funcs() map[string]engine.Func {
	all := map[string]engine.Func{}
	for _, part := range []map[string]engine.Func{
		h.bodyFuncs(), h.cacheFuncs(), h.clockFuncs(), h.codecFuncs(), h.consoleFuncs(), h.cryptoFuncs(), h.fetchFuncs(),
		h.formFuncs(), h.htmlFuncs(), h.patternFuncs(), h.respondFuncs(), h.scopeFuncs(), h.socketFuncs(), h.stackFuncs(), h.textFuncs(), h.timerFuncs(), h.urlFuncs(), h.wordingFuncs(), intl.Funcs(), objectFuncs(),
	} {
		maps.Copy(all, part)
	}
	return all
}

// Names returns the names of all host functions of this package, sorted: what
// the engine's image must know.
func Names() []string {
	return slices.Sorted(maps.Keys((&Host{}).Funcs()))
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

// errGlobalScope is the platform's own text.
var errGlobalScope = &engine.Error{Name: "Error", Message: "Disallowed operation called within global scope. " +
	"Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values " +
	"are not allowed within global scope. To fix this error, perform this operation within a handler."}

// current returns the exchange on whose behalf a host function was called. An
// error means that no request is being served: the module is being evaluated.
func current(c *engine.Call) (*Exchange, error) {
	x, ok := c.Scope().Value.(*Exchange)
	if !ok {
		return nil, errGlobalScope
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
