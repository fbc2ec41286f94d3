package fetch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// This file makes the requests of a Worker in a process of workerd. workerd sends each to its globalOutbound as to a proxy of
// HTTP/1.1, with the whole URL in the request line, and follows redirects itself: each hop is a request here, and counts.
//
// The module that wraps the Worker's code replaces fetch by a function that
//
//   - gives each request the header [IDHeader] with the id of the Worker's request that makes the call, in place of a value
//     from the caller. It stays on the request through redirects, and this gateway removes it.
//     A request without it comes from the constructor of WebSocket or EventSource, whose URL has the id in a last parameter
//     of this name ([IDHeader] in lower case), which the gateway removes; or from a module of workerd, or from code that found
//     another way.
//   - throws if the response has the header [RefusalHeader]. Its value is JSON in ASCII, {"name": …, "message": …}: of an
//     Error, a TypeError or a RangeError; another name is that of a DOMException. The status is 502 and there is no body. No
//     server can send this header: the gateway removes it.
//
// CONNECT, which workerd sends for connect() of cloudflare:sockets and for node:net, is always refused.

const (
	// IDHeader names the Worker's request that a request is made for.
	IDHeader = "Pages-Request"
	// RefusalHeader marks a response that fetch turns into an exception.
	RefusalHeader = "Pages-Refusal"

	// maxRefusal is the maximum number of bytes of an exception's message: a URL in it may be long.
	maxRefusal = 8 << 10
	// maxDrained is the limit of an upload's bytes that are read after the response, and drainTime the limit of the time.
	maxDrained = 128 << 20
	drainTime  = 10 * time.Second
)

// ErrConnect refuses CONNECT.
var ErrConnect = engine.TypeError(
	"connect: this platform has no sockets; use fetch, with a client that speaks HTTP, or bindings.database",
)

// GatewayOptions limit the addresses that a Gateway reaches, and the requests that it serves.
type GatewayOptions struct {
	Options

	// Of returns the request of the Worker with an id: a context that ends with it and its waitUntil, and whose values have the
	// chain of the site's requests to itself; and a function that counts an outbound request, and may refuse it. ok is false for
	// a request that is over, and for an id that never existed. The id "" means a request without an id. These never
	// reach the site itself, since the depth of that chain is unknown. Default: every request is allowed, as one without an id.
	Of func(id string) (ctx context.Context, count func() error, ok bool)
}

// Gateway is an http.Handler for the outbound requests of one Worker in another process. It receives requests like a proxy, and passes
// bodies on unchanged. Close it.
type Gateway struct {
	client *Client
	of     func(id string) (ctx context.Context, count func() error, ok bool)
}

// NewGateway returns a Gateway.
func NewGateway(o GatewayOptions) *Gateway {
	g := &Gateway{client: New(o.Options), of: o.Of}
	if g.of == nil {
		g.of = func(id string) (context.Context, func() error, bool) {
			return context.Background(), func() error { return nil }, id == "" //nolint:forbidigo // of no request
		}
	}
	return g
}

// Close waits for running work and drops the idle connections. No request may be running.
func (g *Gateway) Close() { g.client.Close() }

// ServeHTTP implements http.Handler. It panics with http.ErrAbortHandler to cut off a response that has begun.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.EnableFullDuplex() // without it the client sends the request first
	sent := &upload{r: r.Body, ended: r.Body == nil || r.Body == http.NoBody}
	defer sent.end(control)
	id, url := ownerOf(r)
	f := newForwarded(r, url, sent)
	defer f.Stop(nil)
	resp, err := g.answer(f, r, id) //nolint:bodyclose // it is closed
	if err == nil {
		err = respond(w, control, f, resp)
		closeQuietly(resp.Body)
	}
	if err != nil {
		Refuse(w, f.Error(err))
	}
	sent.drain(control)
}

// idParameter begins the last parameter of a URL that names the Worker's request.
const idParameter = "pages-request="

// ownerOf returns the id of the Worker's request that a request of a client is made for, "" for none, and its URL without that.
func ownerOf(r *http.Request) (id, url string) {
	if url = r.RequestURI; !strings.Contains(url, "://") {
		url = r.URL.String()
	}
	if named := r.Header.Values(IDHeader); len(named) > 0 {
		return strings.Join(named, ","), url // two are the id of none
	}
	i := strings.LastIndex(url, idParameter)
	if i < 1 || (url[i-1] != '?' && url[i-1] != '&') || strings.ContainsAny(url[i:], "&?/") {
		return "", url
	}
	return url[i+len(idParameter):], url[:i-1]
}

// newForwarded is a request of a client as the fetch of a Worker.
func newForwarded(r *http.Request, url string, sent *upload) *Outbound {
	f := &Outbound{method: r.Method, url: url, redirect: "manual", upgrade: IsUpgrade(r)}
	for name, values := range r.Header {
		for _, value := range values {
			if name != IDHeader {
				f.header = append(f.header, name, value)
			}
		}
	}
	if !sent.ended {
		f.stream, f.length = sent, r.ContentLength
	}
	f.ctx, f.Stop = context.WithCancelCause(r.Context())
	return f
}

// answer makes the request of f for the Worker's request of an id.
func (g *Gateway) answer(f *Outbound, r *http.Request, id string) (*http.Response, error) {
	if r.Method == http.MethodConnect {
		return nil, ErrConnect
	}
	if r.URL.Host == "" {
		return nil, engine.TypeError("Fetch API cannot load: %s (a request names the whole URL)", f.url)
	}
	ctx, count, ok := g.of(id)
	switch {
	case !ok && id == "":
		return nil, &engine.Error{Name: "Error", Message: fmt.Sprintf("fetch to %q is refused: it is of no request of the site", f.url)}
	case !ok:
		return nil, thrown(iocontext.ErrRequestOver)
	}
	over := context.AfterFunc(ctx, func() { f.Stop(iocontext.ErrRequestOver) })
	context.AfterFunc(f.ctx, func() { over() })
	s := g.client.NewSession(ctx, nil, func() error { return thrown(count()) })
	hop := s.hop
	switch {
	case f.upgrade:
		hop = func(f *Outbound) (*http.Response, error) { return g.client.upgrade(f, r) }
	case id == "" && g.client.isSelf(r.URL):
		hop = func(*Outbound) (*http.Response, error) {
			return nil, engine.TypeError("fetch to %q is the site itself, which is reached by fetch in a request alone", r.URL.Host)
		}
	}
	resp, _, err := s.Follow(f, hop)
	return resp, err
}

// thrown is err as an exception with its own words.
func thrown(err error) error {
	if _, ok := errors.AsType[*engine.Error](err); ok || err == nil {
		return err
	}
	return &engine.Error{Name: "Error", Message: err.Error()}
}

// upgrade makes the handshake of a WebSocket, whose own headers are the client's.
func (c *Client) upgrade(f *Outbound, from *http.Request) (*http.Response, error) {
	r, err := f.newRequest()
	if err != nil {
		return nil, err
	}
	if from.Header["Accept-Encoding"] == nil {
		r.Header.Del("Accept-Encoding")
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	return c.Upgrade(r)
}

// respond writes a response, or the reason why there is none.
func respond(w http.ResponseWriter, control *http.ResponseController, f *Outbound, resp *http.Response) error {
	header := http.Header{}
	for list := flatten(resp.Header, RefusalHeader); len(list) > 1; list = list[2:] {
		header.Add(list[0], list[1])
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		if !f.upgrade {
			return engine.ConnectionLost("fetch to %q failed: the response switched protocols without a request for it", f.url)
		}
		return tunnel(control, f, resp, header)
	}
	if resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusResetContent {
		header.Del("Content-Length") // some servers announce content that does not exist
	}
	maps.Copy(w.Header(), header)
	_, text, _ := strings.Cut(resp.Status, " ")
	writeReason(w, wireText(text))
	w.WriteHeader(resp.StatusCode)
	if !BodyAllowed(f.method, resp.StatusCode) {
		return nil
	}
	_ = control.Flush() // the head may be long before the body
	piece := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(piece)
		if n > 0 {
			if _, err := w.Write(piece[:n]); err != nil {
				panic(http.ErrAbortHandler)
			}
			if err == nil {
				_ = control.Flush()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// ReasonWriter is an http.ResponseWriter that can write the reason of a status, too.
type ReasonWriter interface {
	// WriteReason sets the reason of the status that is written next.
	WriteReason(text string)
}

func writeReason(w http.ResponseWriter, text string) {
	for {
		if into, ok := w.(ReasonWriter); ok {
			into.WriteReason(text)
			return
		}
		wrapped, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = wrapped.Unwrap()
	}
}

// Refuse writes a response that fetch turns into an exception.
func Refuse(w http.ResponseWriter, err error) {
	exception, ok := errors.AsType[*engine.Error](err)
	if !ok {
		exception = &engine.Error{Name: "Error", Message: err.Error()}
	}
	message := strings.ToValidUTF8(exception.Message, string(utf8.RuneError))
	if len(message) > maxRefusal {
		message = strings.ToValidUTF8(message[:maxRefusal], "") + " …"
	}
	text, failed := json.Marshal(map[string]string{"name": exception.Name, "message": message})
	if failed != nil {
		text = []byte(`{"name":"Error","message":"fetch failed"}`)
	}
	w.Header().Set(RefusalHeader, inASCII(string(text)))
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusBadGateway)
}

// Refused is the text of a value of [RefusalHeader].
func Refused(value string) string {
	var thrown engine.Error
	if err := json.Unmarshal([]byte(value), &thrown); err != nil {
		return value
	}
	return thrown.Error()
}

// inASCII is JSON in the visible characters of ASCII.
func inASCII(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r <= '~':
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// tunnel passes the bytes of both ends after they have switched protocols.
func tunnel(control *http.ResponseController, f *Outbound, resp *http.Response, header http.Header) error {
	remote, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		return engine.ConnectionLost("fetch to %q failed: the response has no connection", f.url)
	}
	conn, buffered, err := control.Hijack()
	if err != nil {
		return err
	}
	defer context.AfterFunc(f.ctx, func() {
		closeQuietly(conn)
		closeQuietly(remote)
	})()
	defer closeQuietly(conn)
	if err := writeSwitch(buffered, header); err != nil {
		return nil // the client has left
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, remote)
		closeQuietly(conn)
	})
	_, _ = io.Copy(remote, buffered.Reader)
	closeQuietly(remote)
	back.Wait()
	return nil
}

func writeSwitch(to *bufio.ReadWriter, header http.Header) error {
	header.Set("Connection", "Upgrade")
	header.Set("Upgrade", "websocket")
	_, _ = to.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = header.Write(to)
	_, _ = to.WriteString("\r\n")
	return to.Flush()
}

// upload is the body of a client's request, which a transport may read after its response has come.
type upload struct {
	mu    sync.Mutex
	r     io.Reader
	ended bool // all of it was read
	over  bool // nothing more may be
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return 0, errUploadOver
	}
	n, err := u.r.Read(p)
	if errors.Is(err, io.EOF) {
		u.ended = true
	}
	return n, err
}

// drain reads the rest of the client's upload, for a while: a client that still sends may otherwise miss the response.
func (u *upload) drain(control *http.ResponseController) {
	if u.isEnded() {
		return
	}
	_ = control.Flush()
	_ = control.SetReadDeadline(time.Now().Add(drainTime)) //nolint:forbidigo // a deadline
	_, _ = io.CopyN(io.Discard, u, maxDrained)
}

func (u *upload) isEnded() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended
}

// end ends the reads: after it the body is not touched.
func (u *upload) end(control *http.ResponseController) {
	if !u.mu.TryLock() {
		_ = control.SetReadDeadline(time.Unix(1, 0)) // ends the read that waits
		u.mu.Lock()
	}
	defer u.mu.Unlock()
	u.over = true
	if !u.ended {
		_ = control.SetReadDeadline(time.Time{})
	}
}
