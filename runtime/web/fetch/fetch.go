// Package fetch makes the requests of a Worker: fetch, its redirects, data: URLs, and the site's
// requests to itself. A guard lets no Worker reach the machine or the network it runs in.
//
// A [Client] serves the isolates of one Worker, a [Session] the fetches of one request. In: the
// calls of JavaScript, as host functions. Out: responses, whose bodies are kept by the request's
// [iocontext.Context]. Errors: exceptions for JavaScript with the reason, but never with addresses
// of this machine.
//
// A [Gateway] makes the requests of a Worker that runs elsewhere, in workerd, in the same way. In and
// out: HTTP, as gateway.go describes.
//
// A Client, a Session and a Gateway are safe for concurrent use. The package keeps nothing between requests
// but the connections of its transport, and reads no proxy settings and no credentials of this
// machine.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Options limit the addresses that a Client reaches. The zero value reaches public addresses.
type Options struct {
	// AllowFetch lists hosts, as HOST or HOST:PORT, that fetch may reach although their addresses
	// are private. Default: none.
	AllowFetch []string
	// Self is the site's own front door, which a fetch to a host for which IsSelf is true enters
	// like any client, if StrictlyPublic. Default: none.
	Self http.Handler
	// IsSelf reports whether a URL's host, with its port if it has one, is the site's own. Default:
	// no host is.
	IsSelf func(host string) bool
	// StrictlyPublic is the compatibility flag global_fetch_strictly_public.
	StrictlyPublic bool
	// Transport replaces the guarded transport; for tests.
	Transport http.RoundTripper
}

// Client makes the outbound requests of one Worker.
type Client struct {
	o         Options
	transport http.RoundTripper
	work      sync.WaitGroup // goroutines beside the requests
}

// New returns a Client. Close it when its isolates are closed.
func New(o Options) *Client {
	if o.IsSelf == nil {
		o.IsSelf = func(string) bool { return false }
	}
	c := &Client{o: o, transport: o.Transport}
	if c.transport == nil {
		c.transport = &http.Transport{ // no proxy, no credentials of this machine, no decoding of its own
			DialContext:            newGuard(o.AllowFetch).dial,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
			MaxIdleConns:           64,
			MaxIdleConnsPerHost:    32, // most Workers ask one host, often at once
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		}
	}
	return c
}

// Close waits for running work and drops the idle connections.
func (c *Client) Close() {
	c.work.Wait()
	if t, ok := c.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// isSelf reports whether u is on the site itself, a dot at the end of its host or not: one that
// passed for another host would be fetched without end.
func (c *Client) isSelf(u *url.URL) bool {
	name, port := splitHost(u.Host)
	return c.o.IsSelf(strings.TrimSuffix(name, ".") + port)
}

// Upgrade makes a request that asks for another protocol.
func (c *Client) Upgrade(r *http.Request) (*http.Response, error) {
	if c.isSelf(r.URL) { // a front door in this process has no socket to pass
		return nil, engine.TypeError("a WebSocket from the site to itself (%q) is not supported", r.URL.Host)
	}
	return c.upgradeTransport().RoundTrip(r)
}

// upgradeTransport is the transport of fetch, for HTTP/1.1 alone: no other version of HTTP takes an
// upgrade everywhere.
func (c *Client) upgradeTransport() http.RoundTripper {
	t, ok := c.transport.(*http.Transport)
	if !ok {
		return c.transport
	}
	t = t.Clone()
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	t.DisableKeepAlives = true
	return t
}

// Session is the fetches of one request.
type Session struct {
	// IO keeps the bodies of the responses.
	IO *iocontext.Context
	// Count is called before each outbound request, redirects included. Its error refuses it.
	Count func() error

	client  *Client
	lineage lineage
	trace   *trace.Recorder // nil for none
	mu      sync.Mutex
	fetches map[int64]*Outbound
}

// NewSession returns the session of a request that came with ctx.
func (c *Client) NewSession(ctx context.Context, io *iocontext.Context, count func() error) Session {
	return Session{IO: io, Count: count, client: c, lineage: lineageOf(ctx), trace: trace.From(ctx)}
}

// Close ends all requests of the session.
func (s *Session) Close() {
	s.mu.Lock()
	fetches := s.fetches
	s.fetches = nil
	s.mu.Unlock()
	for _, f := range fetches {
		f.Stop(iocontext.ErrRequestOver)
	}
}

// Start begins a fetch whose requests Follow makes, with the caller's hop. The first argument of
// the call is the token that ends it, as for fetch_start.
func (s *Session) Start(c *engine.Call, url string, header []string, redirect string) *Outbound {
	f := &Outbound{method: http.MethodGet, url: url, header: header, redirect: redirect}
	s.start(f, c)
	return f
}

// start creates the context of a fetch, and registers its token, the first argument or null, for fetch_abort.
func (s *Session) start(f *Outbound, c *engine.Call) {
	f.ctx, f.Stop = context.WithCancelCause(c.Context())
	if c.IsNullish(0) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fetches == nil {
		s.fetches = map[int64]*Outbound{}
	}
	s.fetches[c.Int(0)] = f
}

// Response returns the response to a fetch as JavaScript takes it. Its body gets a handle.
func (s *Session) Response(f *Outbound, resp *http.Response, redirected bool) ([]any, error) {
	if !BodyAllowed(f.method, resp.StatusCode) {
		closeQuietly(resp.Body)
		f.Stop(nil)
		return f.Head(resp, redirected), nil
	}
	content := io.Reader(resp.Body)
	if !f.manual {
		content = compression.Decode(resp.Body, strings.Join(resp.Header.Values("Content-Encoding"), ","))
	}
	content, err := f.verify(s.IO.Isolate, content)
	if err != nil {
		closeQuietly(resp.Body)
		return nil, err
	}
	// Ending the context ends reads and frees the connection.
	handle, err := s.IO.KeepBody(iocontext.NewBody(content, func() { f.Stop(iocontext.ErrRequestOver) }))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(f.ctx, func() { closeQuietly(resp.Body) })
	return f.responseValues(resp, redirected, handle), nil
}

// Funcs returns the host functions of fetch. session returns the session of the request that a call
// belongs to; an error means that no request is being served.
func Funcs(session func(*engine.Call) (*Session, error)) map[string]engine.Func {
	return map[string]engine.Func{
		// fetch_start(token, method, url, headers, redirect, text or bytes or null, handle or -1,
		// streamed, length of those two or -1, integrity, whether the response's body stays
		// encoded) -> a promise of [status, status text, url without its fragment, redirected,
		// headers, handle or -1]
		"fetch_start": func(c *engine.Call) (any, error) {
			s, err := session(c)
			if err != nil {
				return nil, err
			}
			return s.fetch(c)
		},
		// fetch_abort(token)
		"fetch_abort": func(c *engine.Call) (any, error) {
			if f := outboundOf(session, c); f != nil {
				f.Stop(errFetchAborted)
			}
			return engine.Undefined, nil
		},
		// fetch_upload(token, bytes) -> a promise, settled when they are sent
		"fetch_upload": func(c *engine.Call) (any, error) {
			f := outboundOf(session, c)
			if f == nil || f.upload == nil {
				return nil, errUploadOver
			}
			b := c.Bytes(1)
			return engine.Async(func(context.Context) (any, error) {
				if _, err := f.upload.Write(b); err != nil {
					return nil, errUploadOver
				}
				return engine.Undefined, nil
			}), nil
		},
		// fetch_upload_end(token, the error or null)
		"fetch_upload_end": func(c *engine.Call) (any, error) {
			f := outboundOf(session, c)
			if f == nil || f.upload == nil {
				return engine.Undefined, nil
			}
			var failure error // nil means the end
			if !c.IsNullish(1) {
				failure = fmt.Errorf("the request's body failed: %s", c.String(1))
			}
			return engine.Undefined, f.upload.CloseWithError(failure)
		},
	}
}

func outboundOf(session func(*engine.Call) (*Session, error), c *engine.Call) *Outbound {
	s, err := session(c)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches[c.Int(0)]
}

var (
	errFetchAborted = &engine.Error{Name: "AbortError", Message: "The operation was aborted"}
	errUploadOver   = errors.New("the request's body is not read any more")
)

func (s *Session) fetch(c *engine.Call) (any, error) {
	f := &Outbound{
		method: c.String(1), url: c.String(2), header: c.Strings(3), redirect: c.String(4), length: c.Int(8),
		integrity: c.String(9), manual: c.Bool(10),
	}
	switch handle := c.Int(6); {
	case c.Bool(7):
		f.stream, f.upload = io.Pipe()
	case handle >= 0:
		b := s.IO.Body(handle)
		if b == nil {
			return nil, iocontext.ErrForeign
		}
		f.stream = b.Reader()
	case !c.IsNullish(5):
		if f.whole = c.Bytes(5); f.whole == nil {
			f.whole = c.TextBytes(5)
		}
	}
	s.start(f, c)
	if f.upload != nil { // unsent bytes wait no longer than for the end
		context.AfterFunc(f.ctx, func() { f.upload.CloseWithError(errUploadOver) })
	}
	return engine.Async(func(context.Context) (any, error) {
		resp, redirected, err := s.Follow(f, s.hop) //nolint:bodyclose // Response closes it
		var value any
		if err == nil {
			value, err = s.Response(f, resp, redirected)
		}
		if err != nil {
			f.Stop(err)
			if f.upload != nil {
				f.upload.CloseWithError(err)
			}
			return nil, f.Error(err)
		}
		return value, nil
	}), nil
}
