// Package wire serves the bindings of one Worker to code outside of this process, in the formats that workerd's own clients of
// KV, R2, D1 and Images speak, over HTTP.
//
// A [Handler] serves the stores of a [binding.Set] with the Go halves of isolates: the same limits, messages and order of calls. A
// [Server] listens for it on a Unix socket that only this user may open, or, on Windows, on loopback behind a token.
// [Server.Workerd] writes the services and bindings for workerd's configuration, secrets included.
//
// # The wire, version 1
//
// A request names the version, the token if there is one, and the binding by headers, which workerd adds to every request of an
// external service (injectRequestHeaders); workerd replaces headers of a Worker with these names:
//
//	Pages-Wire: 1
//	Pages-Token: …
//	Pages-Binding: kv/NAME, r2/NAME, d1/NAME, images/NAME, assets/NAME, site for the front door, outbound, cache, or env
//	Pages-Proto: http or https, as the Worker wrote its URL (assets and site)
//
// The rest follows the requests of each kind's client: GET, PUT and DELETE of /key, GET / for a list and POST /bulk/get (KV); GET and
// PUT of / with CF-R2-Request or CF-R2-Metadata-Size (R2); POST /query and /execute (D1); POST /info and /transform (Images); any
// request (assets, site); any request as a proxy gets it, with the whole URL in its first line (outbound, of workerd's globalOutbound;
// the package fetch describes its headers); GET, PUT and PURGE of a URL (cache, of cacheApiOutbound; the package cache describes
// them). A request of another version, without the token, or for a missing binding gets a refusal in the form of its kind, so that the
// Worker's call fails with the reason. GET / without a binding responds {"wire": 1}.
//
// KV's client takes the reason of a failure from the status line. A Server writes it; another server has fixed status lines, so
// such a response ends its connection.
//
// # Order
//
// A client that numbers its calls sends its name and the number, from 1, and may reuse a connection:
//
//	Pages-Client: its name, of 64 bytes at most; the names of 64 clients are remembered
//	Pages-Order: 1, 2, 3 …; the wait for a missing number is that for a head, 2 s
//
// Any other client opens a connection for each concurrent call. A Server closes it after a call of KV, R2 or D1, so that each of these
// calls begins with a connection, and calls take their places in the order in which their connections were opened, if the whole
// request follows within [patience], and its first byte, while others wait, within [silentPatience]. Under another server it is the
// order in which goroutines read the heads. The bytes of a large put are stored as they arrive, and it takes its place after the last
// byte, like the put of a stream in an isolate. A client may hold requests back: workerd does so with the puts of KV and R2, and a
// later get of the same key, without await, may overtake them.
//
// # Errors
//
// With the header "Pages-Errors: 1" a refusal also has the error that a Worker of the built-in engine catches, in the header
// Pages-Error as JSON in ASCII: {"name", "message", "props": {"code": 9523, "cause": {"name", "message"}}}; and the warnings of Images are
// in the header Pages-Warnings, an array of texts.
//
// # Bounds
//
// Every byte of a request is hostile. Heads, bodies and JSON are bounded; memory held for calls counts in Options.Memory; a peer that
// neither reads nor writes for Options.Silence is disconnected, except in outbound requests, which last as long as both ends keep them.
// They take at most two fifths of Options.Connections, and calls of caches one fifth, so that calls of bindings always find one. A
// panic ends one call. Everything is safe for concurrent use. The package does not control access: a guest can use everything in the
// Set.
package wire

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// Version is the version of the wire.
const Version = "1"

// The headers of the wire.
const (
	headerPrefix  = "Pages-"
	versionHeader = headerPrefix + "Wire"
	tokenHeader   = headerPrefix + "Token"
	bindingHeader = headerPrefix + "Binding"
	protoHeader   = headerPrefix + "Proto"
)

const (
	// silence and maxCalls are the defaults of Options.
	silence  = 2 * time.Minute
	maxCalls = 1000
	// readyTime bounds a call's wait for Options.Ready.
	readyTime = 30 * time.Second
	// smallBody bounds a put that is read before it takes its place.
	smallBody = 1 << 20
	// maxDrained bounds the bytes of a refused body that are read, so that the client reads the refusal.
	maxDrained = 128 << 20
)

// Options of a Handler.
type Options struct {
	Bindings *binding.Set
	// FrontDoor is the site itself, for requests of the Worker to its own site; nil offers none.
	FrontDoor http.Handler
	// Subrequest is called for each request to the front door, and may refuse it. Nil allows all.
	Subrequest func(ctx context.Context) error
	// Outbound makes the Worker's outbound requests, like a fetch.Gateway; nil refuses them. Its requests have the whole URL, and in
	// fetch.IDHeader the Worker's request that caused them.
	Outbound http.Handler
	// Env offers the binding "env": GET returns the result of binding.Set.EnvSpec, with the values of the secrets.
	Env bool
	// Ready, if not nil, is closed once the bindings exist: until then calls wait, for [readyTime] at most.
	Ready <-chan struct{}
	// Caches serves the caches of the Worker, as cache.Handler does; nil: they are empty.
	Caches http.Handler
	// Called gets each finished call, from several goroutines. Nil discards them.
	Called func(Call)
	// Trace returns the recorder of the Worker's request that a call of a binding belongs to, by the id that the guest gives, "" for none.
	// It may return nil. Nil: no call is recorded.
	Trace func(request string) *trace.Recorder
	// Token, if not "", must come with each request.
	Token string
	// Memory is the quota for data held by calls; nil is a quota of its own.
	Memory *engine.HostMemory
	// Silence bounds the time in which a peer neither sends the expected bytes nor reads ours. 0 is two minutes.
	Silence time.Duration
	// Connections bounds the connections of a Server. A client opens one for each concurrent call. 0 is 1,000.
	Connections int
}

// Call is one call on a binding.
type Call struct {
	Kind    string // "kv", "r2", "d1", "images", "assets", "site", "outbound", "cache"; "" if the request names none
	Binding string
	// Request is the id of the Worker's request that made it, if the guest names it; URL is the target of an outbound request, or the
	// key of a cache. Binding is the name of that cache, "" of the default one.
	Request, URL string
	// Method is that of the binding: "get", "put", "query" … For assets, the site and outbound requests it is that of HTTP.
	Method   string
	Status   int    // of HTTP
	Err      string // the message of a refusal, or the reason why the call ended early
	Warnings []string
	Duration time.Duration
}

// Handler is an http.Handler of the wire. Close it.
type Handler struct {
	o     Options
	guest *engine.Guest
	bound atomic.Pointer[map[string]*bound]
	// One item for each current request to the front door, to other servers, and to the caches.
	site, outbound, caching chan struct{}

	arrivals  arrivals
	sequences sequences
}

// bound is a binding by its kind.
type bound struct {
	kind, name string
	serve      func(ctx context.Context, c *call) error
}

// ordered reports whether the calls have an order.
func (b *bound) ordered() bool { return b.kind == "kv" || b.kind == "r2" || b.kind == "d1" }

// maxSite bounds concurrent requests to the front door, which stops a site that fetches itself endlessly.
const maxSite = 64

// New returns a handler.
func New(o Options) *Handler {
	if o.Bindings == nil {
		o.Bindings = &binding.Set{}
	}
	if o.Memory == nil {
		o.Memory = engine.NewHostMemory(0)
	}
	if o.Silence <= 0 {
		o.Silence = silence
	}
	if o.Connections <= 0 {
		o.Connections = maxCalls
	}
	h := &Handler{
		o: o, guest: engine.NewGuest(o.Memory),
		site: make(chan struct{}, maxSite),
		// The share of connections that leaves one for calls of bindings. A put of a cache lasts as long as its stream.
		outbound: make(chan struct{}, max(o.Connections*2/5, 1)), caching: make(chan struct{}, max(o.Connections/5, 1)),
	}
	h.Rebind(o.Bindings)
	return h
}

// Rebind sets the bindings for new calls. Current calls keep theirs.
func (h *Handler) Rebind(set *binding.Set) {
	all := bindings{}
	for name, store := range set.KV {
		all.add("kv", name, namespace{store}.serve)
	}
	for name, store := range set.R2 {
		all.add("r2", name, bucket{store}.serve)
	}
	for name, db := range set.D1 {
		all.add("d1", name, database{db}.serve)
	}
	for name, images := range set.Images {
		all.add("images", name, imaging{images}.serve)
	}
	for name, files := range set.Assets {
		all.add("assets", name, fileService(files))
	}
	if h.o.FrontDoor != nil {
		all.add("site", "", h.serveSite)
	}
	if h.o.Outbound != nil {
		all.add("outbound", "", h.serveOutbound)
	}
	if h.o.Caches != nil {
		all.add("cache", "", h.serveCache)
	}
	if h.o.Env {
		all.add("env", "", func(_ context.Context, c *call) error {
			c.arrival.done()
			c.record.Method = c.r.Method
			spec, err := set.EnvSpec()
			if err != nil {
				return err
			}
			return c.answer(http.StatusOK, "application/json", spec)
		})
	}
	h.bound.Store((*map[string]*bound)(&all))
}

// bindings are those of a Handler by the value of the header that names them.
type bindings map[string]*bound

func (b bindings) add(kind, name string, serve func(context.Context, *call) error) {
	b[id(kind, name)] = &bound{kind: kind, name: name, serve: serve}
}

// id is the value of the header that names a binding.
func id(kind, name string) string {
	if name == "" {
		return kind
	}
	return kind + "/" + name
}

// Close cancels current calls and waits for them. It refuses later ones.
func (h *Handler) Close() { h.guest.Close() }

// call is a current request.
type call struct {
	*bound

	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	record  Call
	wrote   bool // the head of the response
	arrival queue
	silence time.Duration
	span    trace.Active // of a call that is one
}

// errCut ends a response that has begun and cannot be finished.
var errCut = errors.New("the response was cut off")

// ServeHTTP implements http.Handler. It panics with http.ErrAbortHandler to cut off a response that has begun.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now() //nolint:forbidigo // a duration
	c := &call{w: w, r: r, control: http.NewResponseController(w), bound: &bound{}, silence: h.o.Silence}
	kind, name, _ := strings.Cut(r.Header.Get(bindingHeader), "/")
	c.record.Kind, c.record.Request = kind, r.Header.Get(fetch.IDHeader)
	c.bound = &bound{kind: kind, name: name}
	w.Header()["Date"] = nil
	err := h.serve(c)
	broken := err != nil && c.wrote
	if err != nil {
		c.record.Err = err.Error()
	}
	if err != nil && !broken {
		c.refuse(err)
	}
	_ = c.control.SetWriteDeadline(time.Time{})
	c.record.Binding, c.record.Duration = c.name, time.Since(begun)
	if h.o.Called != nil {
		h.o.Called(c.record)
	}
	if broken {
		panic(http.ErrAbortHandler)
	}
}

// refusalError refuses a request before it reaches its binding.
type refusalError struct {
	status int
	text   string
}

func (e refusalError) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return refusalError{status, fmt.Sprintf(format, args...)}
}

func (h *Handler) serve(c *call) error {
	header := c.r.Header
	if c.r.Method == http.MethodConnect { // it has no headers of the wire
		c.record.Kind, c.record.Method, c.record.URL = "outbound", c.r.Method, c.r.RequestURI
		c.bound = &bound{kind: "outbound"}
		return fetch.ErrConnect
	}
	if version := header.Get(versionHeader); version != Version {
		return refuse(http.StatusHTTPVersionNotSupported,
			"the bindings are served in version %s of the wire, and the request is of version %q: both sides must be of one release",
			Version, version)
	}
	if h.o.Token != "" && subtle.ConstantTimeCompare([]byte(header.Get(tokenHeader)), []byte(h.o.Token)) != 1 {
		return refuse(http.StatusForbidden, "the token of the wire is missing or wrong")
	}
	if c.kind == "" && c.r.Method == http.MethodGet && c.r.URL.Path == "/" {
		return c.answer(http.StatusOK, "application/json", []byte(`{"wire":`+Version+`}`))
	}
	if err := h.awaitReady(c.r.Context()); err != nil {
		return err
	}
	found := (*h.bound.Load())[id(c.kind, c.name)]
	if found == nil {
		return refuse(http.StatusNotFound, "there is no binding %q on the wire", header.Get(bindingHeader))
	}
	c.bound = found
	number := h.sequences.of(header)
	ours, ok := c.w.(*response)
	if ok {
		ours.keep = ours.keep && (!found.ordered() || number != nil) && !ours.conn.server.crowded()
	}
	switch {
	case number != nil:
		if ok {
			ours.arrival.done()
		}
		c.arrival = number
	case ok:
		c.arrival = ours.arrival
	default:
		c.arrival = h.arrivals.add(nil)
	}
	defer c.arrival.done()
	return h.guest.Do(c.r.Context(), func(ctx context.Context) error { return h.traced(ctx, c) })
}

// traced serves a call with its span.
func (h *Handler) traced(ctx context.Context, c *call) error {
	switch c.kind {
	case "kv", "r2", "d1", "images", "assets", "cache":
		if h.o.Trace != nil {
			ctx = trace.With(ctx, h.o.Trace(c.r.Header.Get(fetch.IDHeader)))
		}
	}
	err := c.serve(ctx, c)
	if c.kind == "assets" && c.record.Status != 0 {
		c.span.Set(trace.Int(trace.StatusCode, int64(c.record.Status)))
	}
	c.span.End(err)
	return err
}

func (h *Handler) awaitReady(ctx context.Context) error {
	if h.o.Ready == nil {
		return nil
	}
	late := time.NewTimer(readyTime)
	defer late.Stop()
	select {
	case <-h.o.Ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return refuse(http.StatusServiceUnavailable, "the site has not been built yet: see the output of pages dev")
	}
}

// place takes the place of the call in its order, after the calls that arrived before it.
func (c *call) place(ctx context.Context, take func() *hostcall.Turn) *hostcall.Turn {
	c.arrival.wait(ctx)
	defer c.arrival.done()
	return take()
}

// body is the body of the request. Each read has Options.Silence.
func (c *call) body() io.Reader { return &patientReader{c.control, c.r.Body, c.silence} }

type patientReader struct {
	control *http.ResponseController
	body    io.Reader
	silence time.Duration
}

// Read implements io.Reader.
func (p *patientReader) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(p.silence)) //nolint:forbidigo // a deadline
	n, err := p.body.Read(b)
	if err != nil { // net/http continues to read, to detect the peer's close
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// whole reads all of the body, up to limit bytes; over is the error of more. They are valid as long as ctx.
func (c *call) whole(ctx context.Context, limit int64, over error) ([]byte, error) {
	if c.r.ContentLength > limit {
		return nil, over
	}
	defer time.AfterFunc(patience, c.arrival.done).Stop()
	b := engine.NewBuffer(ctx, limit, over)
	_, err := b.ReadFrom(c.body())
	return b.Bytes(), err
}

// expectWrite allows the peer Options.Silence for the next write.
func (c *call) expectWrite() {
	if c.kind != "outbound" {
		_ = c.control.SetWriteDeadline(time.Now().Add(c.silence)) //nolint:forbidigo // a deadline
	}
}

// head writes the head of the response.
func (c *call) head(status int) {
	c.wrote, c.record.Status = true, status
	c.expectWrite()
	c.w.WriteHeader(status)
}

// answer writes a complete response.
func (c *call) answer(status int, media string, content []byte) error {
	h := c.w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", fmt.Sprint(len(content)))
	c.head(status)
	_, err := c.write(content)
	return err
}

// write writes bytes of the response. Each 64 KiB have Options.Silence.
func (c *call) write(p []byte) (written int, err error) {
	const piece = 64 << 10
	for len(p) > 0 && err == nil {
		n := min(len(p), piece)
		if written > 0 {
			c.expectWrite()
		}
		n, err = c.w.Write(p[:n])
		written, p = written+n, p[n:]
	}
	if err != nil {
		return written, errors.Join(errCut, err)
	}
	return written, nil
}

// send writes a body and closes it.
func (c *call) send(b hostcall.Body) error {
	defer b.Close()
	chunk := make([]byte, min(max(b.Len(), 512), 64<<10))
	for {
		n, err := b.Read(chunk)
		if n > 0 {
			c.expectWrite()
			if _, err := c.write(chunk[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.Join(errCut, err)
		}
	}
}
