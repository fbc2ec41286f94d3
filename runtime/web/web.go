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
	"slices"
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
	h.client = fetch.New(fetch.Options{
		AllowFetch: o.AllowFetch, Self: o.Self, IsSelf: o.IsSelf, StrictlyPublic: o.StrictlyPublic, Transport: o.Transport,
	})
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

// InHandler returns the platform's error for I/O while no request is served; nil
// while one is.
func InHandler(c *engine.Call) error {
	_, err := current(c)
	return err
}
