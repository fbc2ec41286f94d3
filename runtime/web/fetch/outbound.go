package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Outbound is one fetch of a Worker, from its start until its body is read.
type Outbound struct {
	method, url string
	header      []string // name, value, name, value, …
	redirect    string   // follow, manual or error
	integrity   string   // of the answer's body; empty for none
	manual      bool     // the answer's body stays encoded
	// The body: at most one of whole and stream. A stream is sent once only.
	whole  []byte
	stream io.Reader
	length int64          // of stream; -1 when nobody knows
	upload *io.PipeWriter // the other end of stream, when JavaScript fills it

	ctx context.Context //nolint:containedctx // owned: stop ends it
	// Stop ends it, with the reason.
	Stop context.CancelCauseFunc
}

// Start begins a fetch that Follow makes the requests of, by a hop of the caller's. Its
// first argument is the token to end it with, as of fetch_start.
func (s *Session) Start(c *engine.Call, url string, header []string, redirect string) *Outbound {
	f := &Outbound{method: http.MethodGet, url: url, header: header, redirect: redirect}
	s.start(f, c)
	return f
}

// Context is done when the fetch is ended.
func (f *Outbound) Context() context.Context { return f.ctx }

// URL is where the next hop goes.
func (f *Outbound) URL() string { return f.url }

// Header is what the next hop sends: names and values in turn.
func (f *Outbound) Header() []string { return f.header }

var (
	errFetchAborted = &engine.Error{Name: "AbortError", Message: "The operation was aborted"}
	errUploadOver   = errors.New("the request's body is not read any more")
)

// uploadError is what went wrong with a body that JavaScript streams; nil is its end.
func uploadError(c *engine.Call) error {
	if c.IsNullish(1) {
		return nil
	}
	return fmt.Errorf("the request's body failed: %s", c.String(1))
}

// begin starts a fetch.
func (s *Session) begin(c *engine.Call) (any, error) {
	f := &Outbound{method: c.String(1), url: c.String(2), header: c.Strings(3), redirect: c.String(4), integrity: c.String(9), manual: c.Bool(10)}
	if err := f.setBody(s.IO, c); err != nil {
		return nil, err
	}
	s.start(f, c)
	if f.upload != nil { // what waits to be sent waits no longer than for the end
		context.AfterFunc(f.ctx, func() { f.upload.CloseWithError(errUploadOver) })
	}
	return engine.Async(func(context.Context) (any, error) {
		value, err := s.run(f)
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

func (f *Outbound) setBody(x *iocontext.Context, c *engine.Call) error {
	f.length = c.Int(8)
	switch handle := c.Int(6); {
	case c.Bool(7):
		f.stream, f.upload = io.Pipe()
	case handle >= 0:
		b := x.Body(handle)
		if b == nil {
			return iocontext.ErrForeign
		}
		f.stream = b.Reader()
	case !c.IsNullish(5):
		if f.whole = c.Bytes(5); f.whole == nil {
			f.whole = c.TextBytes(5)
		}
	}
	return nil
}

// run follows redirects to the answer.
func (s *Session) run(f *Outbound) (any, error) {
	resp, redirected, err := s.Follow(f, s.hop) //nolint:bodyclose // answer closes it
	if err != nil {
		return nil, err
	}
	return s.Response(f, resp, redirected)
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

// Head is a response without a body as fetch_start gives it.
func (f *Outbound) Head(resp *http.Response, redirected bool) []any {
	return f.shown(resp, redirected, -1)
}

// shown is a response as fetch_start gives it.
func (f *Outbound) shown(resp *http.Response, redirected bool, handle int64) []any {
	_, text, _ := strings.Cut(resp.Status, " ")
	at, _, _ := strings.Cut(f.url, "#")
	return []any{resp.StatusCode, wireText(text), at, redirected, flatten(resp.Header, ""), handle}
}

// verify reads a body to its end if its integrity is asked for, and returns what was
// read in its place.
func (f *Outbound) verify(iso *engine.Isolate, content io.Reader) (io.Reader, error) {
	if f.integrity == "" {
		return content, nil
	}
	var reserved int64
	context.AfterFunc(f.ctx, func() { iso.Discharge(reserved) })
	all, err := io.ReadAll(io.LimitReader(iocontext.Counted{R: content, Reserve: func(n int64) error {
		err := iso.Charge(f.ctx, n)
		if err == nil {
			reserved += n
		}
		return err
	}}, iocontext.MaxBody+1))
	if err == nil && len(all) > iocontext.MaxBody {
		err = iocontext.ErrLongBody
	}
	if err != nil {
		return nil, err
	}
	if !checkIntegrity(f.integrity, all) {
		return nil, engine.TypeError("fetch to %q: the answer is not what integrity %q names", f.url, f.integrity)
	}
	return bytes.NewReader(all), nil
}

// closeQuietly closes a response body; what is lost with it nobody wanted.
func closeQuietly(c io.Closer) { _ = c.Close() }

// Error is the exception of a fetch that got no answer: a TypeError, as the
// standard has it, that says what happened.
func (f *Outbound) Error(err error) error {
	if cause := context.Cause(f.ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	if thrown, ok := errors.AsType[*engine.Error](err); ok {
		return thrown
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return engine.TypeError("%v", refused)
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		if name.IsNotFound {
			return engine.TypeError("fetch to %q failed: no name server knows %q", f.url, name.Name)
		}
		return engine.TypeError("fetch to %q failed: %q cannot be looked up: %s", f.url, name.Name, name.Err) // and not by which server
	}
	return engine.TypeError("fetch to %q failed: %v", f.url, err)
}

var strayPercent = regexp.MustCompile(`%([^0-9A-Fa-f]|[0-9A-Fa-f][^0-9A-Fa-f]|[0-9A-Fa-f]?$)`)

// newRequest makes the request of one hop.
func (f *Outbound) newRequest() (*http.Request, error) {
	var body io.Reader
	switch {
	case f.stream != nil:
		body = io.NopCloser(f.stream)
	case f.whole != nil:
		body = bytes.NewReader(f.whole)
	}
	r, err := http.NewRequestWithContext(f.ctx, f.method, f.url, body)
	if err != nil {
		// A stray % is a part of a URL for the web, but not for net/url.
		r, err = http.NewRequestWithContext(f.ctx, f.method, strayPercent.ReplaceAllString(f.url, "%25$1"), body)
	}
	if err != nil {
		return nil, err
	}
	if f.stream != nil {
		r.ContentLength = f.length
	}
	for i := 0; i+1 < len(f.header); i += 2 {
		switch name := http.CanonicalHeaderKey(f.header[i]); {
		case IsHopByHop(name), name == "Host", name == "Content-Length", name == "Expect", name == ClientAddress:
		default:
			r.Header[name] = append(r.Header[name], f.header[i+1])
		}
	}
	if r.Header["Accept-Encoding"] == nil {
		accept := "br, gzip"
		if r.Header["Range"] != nil {
			accept = "identity" // a part of something compressed could not be read
		}
		r.Header.Set("Accept-Encoding", accept)
	}
	if r.Header["User-Agent"] == nil {
		r.Header["User-Agent"] = []string{""} // none, rather than net/http's
	}
	if (f.method == http.MethodPut || f.method == http.MethodDelete) && r.Header["X-Idempotency-Key"] == nil {
		// Says to net/http alone that it may ask again when a kept connection turns
		// out to be closed (RFC 9110, 9.2.2); it would for GET only.
		r.Header["X-Idempotency-Key"] = []string{}
	}
	return r, nil
}

// BodyAllowed reports whether a response to method with this status may have a body.
func BodyAllowed(method string, status int) bool {
	switch status {
	case http.StatusSwitchingProtocols, http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
		return false
	}
	return method != http.MethodHead
}
