package fetch

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Session is the fetches of one request.
type Session struct {
	// IO keeps the bodies of the responses.
	IO *iocontext.Context
	// Count is called before each outbound request, redirects included. Its error refuses it.
	Count func() error

	client  *Client
	lineage lineage
	mu      sync.Mutex
	fetches map[int64]*Outbound
}

// NewSession returns the session of a request that came with ctx.
func (c *Client) NewSession(ctx context.Context, io *iocontext.Context, count func() error) Session {
	return Session{IO: io, Count: count, client: c, lineage: lineageOf(ctx)}
}

// Close ends what is under way.
func (s *Session) Close() {
	s.mu.Lock()
	fetches := s.fetches
	s.fetches = nil
	s.mu.Unlock()
	for _, f := range fetches {
		f.Stop(iocontext.ErrRequestOver)
	}
}

// Start begins a fetch that Follow makes the requests of, by a hop of the caller's. Its
// first argument is the token to end it with, as of fetch_start.
func (s *Session) Start(c *engine.Call, url string, header []string, redirect string) *Outbound {
	f := &Outbound{method: http.MethodGet, url: url, header: header, redirect: redirect}
	s.start(f, c)
	return f
}

// start gives a fetch its context, and fetch_abort the token to end it with: the first
// argument, null for one that nothing aborts.
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

// Response is what JavaScript has of the response to a fetch. Its body gets a handle.
func (s *Session) Response(f *Outbound, resp *http.Response, redirected bool) ([]any, error) {
	if resp.StatusCode < http.StatusContinue { // net/http takes any three digits
		closeQuietly(resp.Body)
		return nil, engine.TypeError("fetch to %q failed: malformed HTTP status code %03d", f.url, resp.StatusCode)
	}
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
	return f.shown(resp, redirected, handle), nil
}
