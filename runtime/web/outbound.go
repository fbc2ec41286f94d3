package web

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
)

// outbound is one fetch of a Worker, from its start until its body is read.
type outbound struct {
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

	ctx  context.Context //nolint:containedctx // owned: stop ends it
	stop context.CancelCauseFunc
}

var (
	errFetchAborted = &engine.Error{Name: "AbortError", Message: "The operation was aborted"}
	errUploadOver   = errors.New("the request's body is not read any more")
)

func (h *Host) fetchFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// fetch_start(token, method, url, headers, redirect, text or bytes or null,
		// handle or -1, streamed, length of those two or -1, integrity, whether the answer's body
		// stays encoded) -> a promise of [status, status text, url without its fragment, redirected, headers, handle or -1]
		"fetch_start": h.fetchStart,
		// fetch_abort(token)
		"fetch_abort": func(c *engine.Call) (any, error) {
			if f := outboundOf(c); f != nil {
				f.stop(errFetchAborted)
			}
			return engine.Undefined, nil
		},
		// fetch_upload(token, bytes) -> a promise, settled when they are sent
		"fetch_upload": func(c *engine.Call) (any, error) {
			f := outboundOf(c)
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
		// fetch_upload_end(token, what went wrong or null)
		"fetch_upload_end": func(c *engine.Call) (any, error) {
			f := outboundOf(c)
			if f == nil || f.upload == nil {
				return engine.Undefined, nil
			}
			var err error // nil is the end of the body
			if !c.IsNullish(1) {
				err = fmt.Errorf("the request's body failed: %s", c.String(1))
			}
			return engine.Undefined, f.upload.CloseWithError(err)
		},
	}
}

func outboundOf(c *engine.Call) *outbound {
	x, err := current(c)
	if err != nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.fetches[c.Int(0)]
}

func (h *Host) fetchStart(c *engine.Call) (any, error) {
	x, err := current(c)
	if err != nil {
		return nil, err
	}
	f := &outbound{method: c.String(1), url: c.String(2), header: c.Strings(3), redirect: c.String(4), integrity: c.String(9), manual: c.Bool(10)}
	if err := f.setBody(x, c); err != nil {
		return nil, err
	}
	f.start(x, c)
	if f.upload != nil { // what waits to be sent waits no longer than for the end
		context.AfterFunc(f.ctx, func() { f.upload.CloseWithError(errUploadOver) })
	}
	return engine.Async(func(context.Context) (any, error) {
		value, err := h.run(x, f)
		if err != nil {
			f.stop(err)
			if f.upload != nil {
				f.upload.CloseWithError(err)
			}
			return nil, fetchError(f, err)
		}
		return value, nil
	}), nil
}

// start gives a fetch its context, and fetch_abort the token to end it with: the first
// argument, null for one that nothing aborts.
func (f *outbound) start(x *Exchange, c *engine.Call) {
	f.ctx, f.stop = context.WithCancelCause(c.Context())
	if c.IsNullish(0) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fetches == nil {
		x.fetches = map[int64]*outbound{}
	}
	x.fetches[c.Int(0)] = f
}

func (f *outbound) setBody(x *Exchange, c *engine.Call) error {
	f.length = c.Int(8)
	switch handle := c.Int(6); {
	case c.Bool(7):
		f.stream, f.upload = io.Pipe()
	case handle >= 0:
		b := x.body(handle)
		if b == nil {
			return errForeignBody
		}
		f.stream = &bodyReader{b: b}
	case !c.IsNullish(5):
		if f.whole = c.Bytes(5); f.whole == nil {
			f.whole = c.TextBytes(5)
		}
	}
	return nil
}

// bodyReader reads a body as an io.Reader.
type bodyReader struct {
	b    *body
	left []byte
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		var err error
		if r.left, err = r.b.read(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// run follows redirects to the answer.
func (h *Host) run(x *Exchange, f *outbound) (any, error) {
	resp, redirected, err := h.follow(x, f, h.hop) //nolint:bodyclose // answer closes it
	if err != nil {
		return nil, err
	}
	return h.answer(x, f, resp, redirected)
}

// answer is what JavaScript has of the answer to a fetch. Its body gets a handle.
func (h *Host) answer(x *Exchange, f *outbound, resp *http.Response, redirected bool) ([]any, error) {
	if resp.StatusCode < http.StatusContinue { // net/http takes any three digits
		closeQuietly(resp.Body)
		return nil, engine.TypeError("fetch to %q failed: malformed HTTP status code %03d", f.url, resp.StatusCode)
	}
	if !bodyAllowed(f.method, resp.StatusCode) {
		closeQuietly(resp.Body)
		f.stop(nil)
		return f.shown(resp, redirected, -1), nil
	}
	b := &body{r: resp.Body, closer: func() { f.stop(errRequestOver) }}
	if !f.manual {
		b.r = decoded(resp.Body, strings.Join(resp.Header.Values("Content-Encoding"), ","))
	}
	if err := f.verify(x, b); err != nil {
		closeQuietly(resp.Body)
		return nil, err
	}
	// Ending the context ends reads and frees the connection.
	handle, err := x.hold(b)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(f.ctx, func() { closeQuietly(resp.Body) })
	return f.shown(resp, redirected, handle), nil
}

// shown is an answer as fetch_start gives it.
func (f *outbound) shown(resp *http.Response, redirected bool, handle int64) []any {
	_, text, _ := strings.Cut(resp.Status, " ")
	at, _, _ := strings.Cut(f.url, "#")
	return []any{resp.StatusCode, wireText(text), at, redirected, flatten(resp.Header, ""), handle}
}

// verify reads a body to its end if its integrity is asked for, and puts what was
// read in its place.
func (f *outbound) verify(x *Exchange, b *body) error {
	if f.integrity == "" {
		return nil
	}
	var held int64
	context.AfterFunc(f.ctx, func() { x.iso.Discharge(held) })
	all, err := io.ReadAll(io.LimitReader(counted{b.r, func(n int64) error {
		err := x.iso.Charge(f.ctx, n)
		if err == nil {
			held += n
		}
		return err
	}}, maxBody+1))
	if err == nil && len(all) > maxBody {
		err = errLongBody
	}
	if err != nil {
		return err
	}
	if !checkIntegrity(f.integrity, all) {
		return engine.TypeError("fetch to %q: the answer is not what integrity %q names", f.url, f.integrity)
	}
	b.r = bytes.NewReader(all)
	b.atEnd.Store(false)
	return nil
}

// closeQuietly closes a response body; what is lost with it nobody wanted.
func closeQuietly(c io.Closer) { _ = c.Close() }

// fetchError is the exception of a fetch that got no answer: a TypeError, as the
// standard has it, that says what happened.
func fetchError(f *outbound, err error) error {
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
func (f *outbound) newRequest() (*http.Request, error) {
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
		case isHopByHop(name), name == "Host", name == "Content-Length", name == "Expect", name == visitorAddress:
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
