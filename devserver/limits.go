package devserver

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file holds the bounds of one request, beside those that net/http
// enforces itself.

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 60 * time.Second
	// maxHeaderBytes is the size of a request's head. net/http adds maxHeaderSlop to what it is told.
	maxHeaderBytes = 32 << 10
	maxHeaderSlop  = 4 << 10
	maxHeaderLines = 100
	maxRequestLine = 8 << 10

	// A body may take bodyGrace, and then a second for every bodyRate bytes it has brought.
	bodyGrace = 10 * time.Second
	bodyRate  = 1 << 10
)

// withinLimits refuses what is too long and bounds how slowly a body may come.
func withinLimits(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case requestLine(r) > maxRequestLine:
			refuse(w, r, http.StatusRequestURITooLong, "path_too_long", "the request line is over "+strconv.Itoa(maxRequestLine)+" bytes")
			return
		case headerLines(r.Header) > maxHeaderLines:
			refuse(
				w, r, http.StatusRequestHeaderFieldsTooLarge, "too_many_headers",
				"the request has more than "+strconv.Itoa(maxHeaderLines)+" header lines",
			)
			return
		}
		if r.Body != nil && r.Body != http.NoBody {
			body := &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w), now: now}
			// In a copy: net/http looks at its own body to know that a client still
			// waits to be told to send it, and then does not wait for it.
			r = r.WithContext(r.Context())
			r.Body = body
			defer body.boundUnread()
		}
		next.ServeHTTP(w, r)
	})
}

func requestLine(r *http.Request) int {
	return len(r.Method) + len(r.RequestURI) + len(r.Proto) + len("  \r\n")
}

// headerLines counts the lines, Host included, which net/http keeps elsewhere.
func headerLines(h http.Header) int {
	lines := 1
	for _, values := range h {
		lines += len(values)
	}
	return lines
}

// refuse answers and ends the connection.
func refuse(w http.ResponseWriter, r *http.Request, status int, code, why string) {
	w.Header().Set("Connection", "close")
	site.Refuse(w, r, &site.RefusalError{Status: status, Code: code, Message: why})
}

// pacedBody ends a body that comes too slowly. Only time spent waiting for the
// client counts, so a Worker may take as long as it likes between two reads.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	now     func() time.Time
	got     int64
	waited  time.Duration
	ended   bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	start := b.now()
	if b.control.SetReadDeadline(b.deadline(start)) != nil {
		return 0, io.ErrUnexpectedEOF // the connection is closed
	}
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	b.waited += b.now().Sub(start)
	if errors.Is(err, io.EOF) {
		b.release() // after any other error net/http still tries to read the rest
	}
	return n, err
}

// Close throws away what is left of the body, within the time it has left.
func (b *pacedBody) Close() error {
	b.boundUnread()
	err := b.ReadCloser.Close()
	if err == nil {
		b.release()
	}
	return err
}

// boundUnread bounds the time that net/http gives a body nobody read to its end.
func (b *pacedBody) boundUnread() {
	if !b.ended {
		_ = b.control.SetReadDeadline(b.deadline(b.now())) // fails only on a closed connection
	}
}

// release takes the deadline off: with it, net/http would take the wait for the
// next request for a client that went away.
func (b *pacedBody) release() {
	b.ended = true
	_ = b.control.SetReadDeadline(time.Time{}) // fails only on a closed connection
}

func (b *pacedBody) deadline(now time.Time) time.Time {
	allowed := bodyGrace + time.Duration(b.got)*(time.Second/bodyRate)
	return now.Add(allowed - b.waited)
}
