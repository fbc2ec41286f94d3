package devserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// deadlines is a ResponseWriter whose connection has deadlines.
type deadlines struct{ *httptest.ResponseRecorder }

// SetReadDeadline serves http.ResponseController.
func (deadlines) SetReadDeadline(time.Time) error { return nil }

// pausedBody pauses for as long as it may. As with net/http, the request is cancelled before its read returns.
type pausedBody struct{ cancelled func() }

func (p pausedBody) Read([]byte) (int, error) {
	<-time.After(bodyGrace)
	p.cancelled()
	return 0, os.ErrDeadlineExceeded
}

func (pausedBody) Close() error { return nil }

// TestSlowBodyIsKnownAtOnce: an engine that ends a cancelled request learns that the body was too slow, and not that the client left.
func TestSlowBodyIsKnownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *pacedBody
		var before, then bool
		b = &pacedBody{
			ReadCloser: pausedBody{func() { then = b.TooSlow() }}, now: time.Now,
			control: http.NewResponseController(deadlines{httptest.NewRecorder()}),
		}
		before = b.TooSlow()
		_, err := io.Copy(io.Discard, b)
		if before || !then || !b.TooSlow() {
			t.Errorf("too slow: %v at first, %v when the request is cancelled, %v after that (%v)", before, then, b.TooSlow(), err)
		}
	})
}
