package devserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file bounds one request, in addition to the bounds of net/http.

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 60 * time.Second
	// maxHeaderBytes is the size of a request's head. net/http adds maxHeaderSlop to its setting.
	maxHeaderBytes = 32 << 10
	maxHeaderSlop  = 4 << 10
	maxHeaderLines = 100
	maxRequestLine = 8 << 10

	// A body may take bodyGrace, and another second for every bodyRate bytes that arrived.
	bodyGrace = 10 * time.Second
	bodyRate  = 1 << 10
)

// withinLimits refuses requests that are too long and sets a minimum rate for bodies.
func withinLimits(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines := 1 // Host, which net/http keeps elsewhere
		for _, values := range r.Header {
			lines += len(values)
		}
		switch {
		case len(r.Method)+len(r.RequestURI)+len(r.Proto)+len("  \r\n") > maxRequestLine:
			w.Header().Set("Connection", "close")
			refuse(w, r, http.StatusRequestURITooLong, "path_too_long", "the request line is over "+strconv.Itoa(maxRequestLine)+" bytes")
			return
		case lines > maxHeaderLines:
			w.Header().Set("Connection", "close")
			refuse(
				w, r, http.StatusRequestHeaderFieldsTooLarge, "too_many_headers",
				"the request has more than "+strconv.Itoa(maxHeaderLines)+" header lines",
			)
			return
		}
		if r.Body != nil && r.Body != http.NoBody {
			body := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), now: now}
			// Change a copy: net/http inspects its own body to find a client that waits for "100 Continue" before it sends the body, and
			// then does not wait for the body.
			r = r.WithContext(r.Context())
			r.Body = body
			defer body.boundUnread()
		}
		next.ServeHTTP(w, r)
	})
}

// pacedBody ends a body that arrives too slowly. Only time spent waiting for the client counts, so a Worker may take any time between two
// reads.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	got     int64
	waited  time.Duration
	ended   bool
	slow    atomic.Bool               // its time was over
	reading atomic.Pointer[time.Time] // the deadline of a running read
}

// TooSlow reports whether the body took too long. It is safe for concurrent use. net/http cancels the request before a read returns at its
// deadline, so such a read counts, too.
func (b *pacedBody) TooSlow() bool {
	deadline := b.reading.Load()
	return b.slow.Load() || deadline != nil && !b.now().Before(*deadline)
}

func (b *pacedBody) Read(p []byte) (int, error) {
	start := b.now()
	deadline := b.deadline(start)
	if b.control.SetReadDeadline(deadline) != nil {
		return 0, io.ErrUnexpectedEOF // the connection is closed
	}
	b.reading.Store(&deadline)
	defer b.reading.Store(nil)
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	b.waited += b.now().Sub(start)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		b.slow.Store(true)
	}
	if errors.Is(err, io.EOF) {
		b.release() // after any other error, net/http still tries to read the rest
	}
	return n, err
}

// Close discards the rest of the body, within its remaining time.
func (b *pacedBody) Close() error {
	b.boundUnread()
	err := b.ReadCloser.Close()
	if err == nil {
		b.release()
	}
	return err
}

// boundUnread bounds how long net/http waits for the rest of an unread body.
func (b *pacedBody) boundUnread() {
	if !b.ended {
		_ = b.control.SetReadDeadline(b.deadline(b.now())) // it fails only on a closed connection
	}
}

// release removes the deadline: with it, net/http would mistake the wait for the next request for a client that left.
func (b *pacedBody) release() {
	b.ended = true
	_ = b.control.SetReadDeadline(time.Time{}) // it fails only on a closed connection
}

func (b *pacedBody) deadline(now time.Time) time.Time {
	allowed := bodyGrace + time.Duration(b.got)*(time.Second/bodyRate)
	return now.Add(allowed - b.waited)
}

// harden sets the bounds of this package on a server that is not serving yet: the time and size of heads, bodies and idle connections, and
// the refusal of ambiguous requests. It wraps the Handler, and takes ConnContext and ConnState. Each listener of the server must go through
// bounded, which counts their connections together.
func harden(server *http.Server, now func() time.Time) (bounded func(net.Listener) net.Listener) {
	server.Handler = withinLimits(now, server.Handler)
	server.ReadHeaderTimeout = readHeaderTimeout
	server.IdleTimeout = idleTimeout
	server.MaxHeaderBytes = maxHeaderBytes - maxHeaderSlop
	server.DisableGeneralOptionsHandler = true // "OPTIONS *" is left to the site
	server.ConnContext = nil
	return guard(server, &connPool{max: maxConns, now: now})
}

// Guard sets the bounds on connections of a server: their number, the time for which a client may refuse to read, and the refusal of
// ambiguous requests. The server keeps its timeouts and the size of its requests, and net/http refuses transfer codings. Guard wraps the
// Handler and takes ConnState; ConnContext gets the connections of the bounded listener.
func Guard(server *http.Server, conns int, now func() time.Time) (bounded func(net.Listener) net.Listener) {
	return guard(server, &connPool{max: conns, now: now, named: true})
}

func guard(server *http.Server, pool *connPool) (bounded func(net.Listener) net.Listener) {
	server.Handler = endWithHandler(server.Handler)
	next := server.ConnContext
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if member, ok := c.(*conn); ok {
			if next != nil {
				ctx = next(ctx, member.Conn) // the accepted connection
			}
			ctx = site.WithStatusTexts(ctx, member.text.set)
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	server.ConnState = trackState
	return pool.listener
}
