package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file is the HTTP/1.1 of one connection. It does not use net/http's server, which reads the heads of requests in the order
// of its goroutines, and writes no reason phrases.
//
// A connection whose request has an order is closed after it. A call on a reused connection arrives as bytes, one on a new
// connection as a connection, and no system orders the two.

const (
	// headTime bounds the time for a head.
	headTime = 10 * time.Second
	// maxHead bounds the bytes of a head: R2's conditions are in one of its headers.
	maxHead = 64 << 10
	// gathered bounds the bytes of a response that are sent together.
	gathered = 16 << 10
)

type conn struct {
	net.Conn

	server *Server
	*buffers

	hijacked bool
	next     *arrival // of the next request
	begun    atomic.Bool
	watch    atomic.Pointer[watch]
}

func (s *Server) newConn(stream net.Conn) *conn {
	c := &conn{Conn: stream, server: s}
	c.buffers = pool.Get().(*buffers) //nolint:errcheck // it holds nothing else
	c.in.Reset(stream)
	c.out.Reset(stream)
	return c
}

// buffers are those of a connection.
type buffers struct {
	in    *bufio.Reader
	out   *bufio.Writer
	head  []byte
	lines *bufio.Reader // of head
}

func newBuffers() *buffers {
	const small = 4 << 10
	return &buffers{in: bufio.NewReaderSize(nil, small), out: bufio.NewWriterSize(nil, gathered), lines: bufio.NewReaderSize(nil, small)}
}

// pool reuses buffers: most connections serve one call.
var pool = sync.Pool{New: func() any { return newBuffers() }}

// release returns the buffers to the pool, unless a handler still has them. The connection must not be used
// afterwards.
func (c *conn) release() {
	if !c.hijacked {
		c.in.Reset(nil)
		c.out.Reset(nil)
		pool.Put(c.buffers)
	}
	c.buffers = nil
}

func (c *conn) serve() {
	for c.awaitHead() && c.serveOne() { //nolint:revive // the conditions do the work
	}
}

// awaitHead waits for the next request, and reports whether there is one.
func (c *conn) awaitHead() bool {
	idle := c.server.handler.o.Silence
	if c.next != nil { // the first one
		idle = c.headTime()
	}
	_ = c.SetReadDeadline(time.Now().Add(idle)) //nolint:forbidigo // a deadline
	if _, err := c.in.Peek(1); err != nil {
		c.next.done()
		return false
	}
	if c.next == nil {
		c.next = c.server.handler.arrivals.add(nil)
	}
	c.begun.Store(true)
	return true
}

// headTime returns the time limit of the next head.
func (c *conn) headTime() time.Duration { return min(headTime, c.server.handler.o.Silence) }

// isSilent reports whether nothing was sent on the connection.
func (c *conn) isSilent() bool { return !c.begun.Load() && isSilent(c.Conn) }

// serveOne serves one request, and reports whether the connection can be used again.
func (c *conn) serveOne() (again bool) {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // of the peer's request
	defer cancel()
	arrival := c.next
	c.next = nil
	defer arrival.done()
	_ = c.SetReadDeadline(time.Now().Add(c.headTime())) //nolint:forbidigo // a deadline
	r, body, err := nextRequest(c.buffers)
	w := &response{conn: c, header: http.Header{}, arrival: arrival, length: -1}
	if err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			w.r, w.broken = &http.Request{Method: http.MethodGet, Body: http.NoBody}, true
			http.Error(w, "the request is not valid: "+err.Error(), http.StatusBadRequest)
			w.finish()
		}
		return false
	}
	_ = c.SetReadDeadline(time.Time{})
	r = r.WithContext(ctx)
	r.RemoteAddr = "127.0.0.1:0"
	w.r, w.keep = r, !r.Close && r.ProtoAtLeast(1, 1)
	w.body = body
	c.watch.Store(newWatch(c.in, w.body, cancel))
	defer func() {
		w.ended.Store(true)
		w.stopWatch()
		if p := recover(); p != nil { // http.ErrAbortHandler
			again = false
		}
	}()
	c.server.handler.ServeHTTP(w, r)
	w.stopWatch()
	if w.hijacked {
		return false
	}
	return w.finish() && w.keep
}

// watch detects, during a long call, that the peer has closed the connection.
type watch struct {
	in   *bufio.Reader
	body *requestBody
	gone func() // ends the request

	mu      sync.Mutex
	timer   *time.Timer
	running chan struct{} // closed at the end of the look; nil before it
	stopped bool
}

// watchAfter is the time after which a call counts as long.
const watchAfter = 100 * time.Millisecond

func newWatch(in *bufio.Reader, body *requestBody, gone func()) *watch {
	w := &watch{in: in, body: body, gone: gone}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(watchAfter, w.look)
	return w
}

// look waits for the end of the connection, once the body was read.
func (w *watch) look() {
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return
	}
	if !w.body.ended.Load() {
		w.timer.Reset(watchAfter)
		w.mu.Unlock()
		return
	}
	w.running = make(chan struct{})
	w.mu.Unlock()
	defer close(w.running)
	if _, err := w.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.gone()
	}
}

// stopWatch ends the watch, after which the connection may be read again.
func (w *response) stopWatch() {
	if watching := w.conn.watch.Load(); watching.stop() {
		_ = w.conn.SetReadDeadline(time.Unix(1, 0))
		<-watching.running
		_ = w.conn.SetReadDeadline(time.Time{})
	}
}

// stop reports, at its first call, whether a look is running.
func (w *watch) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	w.stopped = true
	w.timer.Stop()
	return w.running != nil
}

// response is an http.ResponseWriter on a connection.
type response struct {
	conn    *conn
	r       *http.Request
	body    *requestBody
	arrival *arrival
	header  http.Header
	text    string // the reason of the status

	status   int
	length   int64 // of the body; -1 if it is not known
	written  int64
	pending  bytes.Buffer // of a body of unknown length, before the head is sent
	sent     bool         // the head
	chunked  io.WriteCloser
	keep     bool // the connection can be used again
	broken   bool // the request could not be read
	duplex   bool // the request can still be read during the response
	hijacked bool
	ended    atomic.Bool // the handler has returned
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.ended.Load() || w.status != 0 || w.hijacked || status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	w.status = status
	if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		w.length = n
	}
	if w.length >= 0 {
		w.sendHead()
	}
}

// bodiless reports whether the response has no body, even if the handler writes one.
func (w *response) bodiless() bool {
	return w.r.Method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified ||
		w.status < http.StatusOK
}

func (w *response) sendHead() {
	w.sent = true
	if !w.drained() {
		w.keep = false
	}
	header := w.header.Clone()
	maps.DeleteFunc(header, func(_ string, values []string) bool { return values == nil })
	for _, own := range []string{"Transfer-Encoding", "Trailer", "Connection", "Keep-Alive"} {
		if w.status != http.StatusSwitchingProtocols {
			header.Del(own)
		}
	}
	if w.length < 0 && !w.bodiless() {
		header.Set("Transfer-Encoding", "chunked")
		w.chunked = httputil.NewChunkedWriter(w.conn.out)
	}
	if !w.keep && w.status != http.StatusSwitchingProtocols {
		header.Set("Connection", "close")
	}
	text := w.text
	if text == "" {
		text = http.StatusText(w.status)
	}
	fmt.Fprintf(w.conn.out, "HTTP/1.1 %03d %s\r\n", w.status, plain(text))
	_ = header.Write(w.conn.out)
	_, _ = w.conn.out.WriteString("\r\n")
}

// drained reads a little of the rest, and reports whether the whole request was read.
func (w *response) drained() bool {
	const little = 256 << 10
	if w.broken || w.body == nil {
		return false
	}
	if !w.duplex && !w.body.ended.Load() && !w.body.broken.Load() {
		_ = w.conn.SetReadDeadline(time.Now().Add(time.Second)) //nolint:forbidigo // a deadline
		_, _ = io.CopyN(io.Discard, w.body, little)
		_ = w.conn.SetReadDeadline(time.Time{})
	}
	return w.body.ended.Load()
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.ended.Load():
		return 0, net.ErrClosed
	case w.hijacked:
		return 0, http.ErrHijacked
	case w.bodiless():
		return len(p), nil
	case w.length >= 0:
		if w.written+int64(len(p)) > w.length {
			return 0, http.ErrContentLength
		}
		w.written += int64(len(p))
		return w.conn.out.Write(p)
	case !w.sent && w.pending.Len()+len(p) <= gathered:
		return w.pending.Write(p)
	}
	w.startChunks()
	return w.chunked.Write(p)
}

func (w *response) startChunks() {
	if w.sent {
		return
	}
	w.sendHead()
	if w.pending.Len() > 0 && w.chunked != nil {
		_, _ = w.chunked.Write(w.pending.Bytes())
	}
}

// Flush implements http.Flusher.
func (w *response) Flush() {
	if w.hijacked || w.ended.Load() {
		return
	}
	w.WriteHeader(http.StatusOK)
	w.startChunks()
	_ = w.conn.out.Flush()
}

// finish sends the rest, and reports whether the response is complete.
func (w *response) finish() bool {
	w.WriteHeader(http.StatusOK)
	if !w.sent {
		if !w.bodiless() {
			w.length = int64(w.pending.Len())
			w.header.Set("Content-Length", strconv.FormatInt(w.length, 10))
			w.written = w.length
		}
		w.sendHead()
		if !w.bodiless() {
			_, _ = w.conn.out.Write(w.pending.Bytes())
		}
		return w.conn.out.Flush() == nil
	}
	if w.chunked != nil {
		_ = w.chunked.Close()
		_, _ = w.conn.out.WriteString("\r\n") // no trailers
	}
	err := w.conn.out.Flush()
	return err == nil && (w.bodiless() || w.length < 0 || w.written == w.length)
}

// SetReadDeadline and SetWriteDeadline are for http.ResponseController.
func (w *response) SetReadDeadline(at time.Time) error { return w.conn.SetReadDeadline(at) }

// SetWriteDeadline is that of the connection.
func (w *response) SetWriteDeadline(at time.Time) error { return w.conn.SetWriteDeadline(at) }

// EnableFullDuplex lets http.ResponseController permit a handler to read the request after it has begun to write.
func (w *response) EnableFullDuplex() error {
	w.duplex = true
	return nil
}

// Hijack implements http.Hijacker. The connection is closed when the handler returns.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.hijacked || w.sent || w.ended.Load() {
		return nil, nil, http.ErrHijacked
	}
	w.stopWatch()
	w.hijacked, w.conn.hijacked = true, true
	return w.conn.Conn, bufio.NewReadWriter(w.conn.in, w.conn.out), nil
}

// WriteReason sets the reason of the status.
func (w *response) WriteReason(text string) { w.text = strings.TrimSpace(text) }
