package client

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// window paces requests by the service's rate window. The window rolls: when it is full,
// RateLimit-Reset is the time until one request leaves it. So the first request after a wait is a
// probe, and its response releases the others.
type window struct {
	c  *Client
	mu sync.Mutex
	// known means that left is known.
	known   bool
	left    int
	limit   string    // calls per minute, from the service
	until   time.Time // the earliest time with quota left
	probing bool
	warned  time.Time // the until of the last warning
}

func newWindow(c *Client) *window { return &window{c: c} }

// shownWait is the shortest wait with a warning.
const shownWait = 2 * time.Second

// probePoll is the pause between checks for the response of a probe.
const probePoll = 50 * time.Millisecond

func (w *window) acquire(ctx context.Context, requestID string) error {
	for {
		wait, ok := w.reserve()
		if ok {
			return nil
		}
		if wait > w.c.o.UploadRetryTime {
			return &StatusError{
				Status: http.StatusTooManyRequests, Code: toolapi.CodeRateLimited, RequestID: requestID,
				Message: w.usedUp(), RetryAfter: seconds(wait),
			}
		}
		w.mu.Lock()
		news := wait >= shownWait && !w.warned.Equal(w.until) // one warning for all waiting requests
		w.warned = w.until
		w.mu.Unlock()
		if news {
			w.c.warn("%s: waiting %d s", w.usedUp(), seconds(wait))
		}
		if err := w.c.o.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// usedUp is the message about an exhausted quota of calls per minute.
func (w *window) usedUp() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return usedUp(http.Header{toolapi.HeaderRateLimit: {w.limit}})
}

// usedUp is the message for an exhausted rate limit, with the number of calls if the service gives it.
func usedUp(h http.Header) string {
	if n, err := strconv.Atoi(h.Get(toolapi.HeaderRateLimit)); err == nil && n > 0 {
		return fmt.Sprintf("this key has used its %d calls per minute", n)
	}
	return "this key has used its calls of the last minute"
}

// seconds rounds up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// reserve reserves one request of the quota, or returns the time to wait.
func (w *window) reserve() (wait time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		return 0, true
	}
	if w.left > 0 {
		w.left--
		return 0, true
	}
	if wait := w.until.Sub(w.c.o.Now()); wait > 0 {
		return wait, false
	}
	if w.probing {
		return probePoll, false
	}
	w.probing = true
	return 0, true
}

// readHeaders reads the headers of a response; nil when there was none.
func (w *window) readHeaders(h http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probing = false
	left, err := strconv.Atoi(h.Get(toolapi.HeaderRateLimitRemaining))
	reset, errReset := strconv.Atoi(h.Get(toolapi.HeaderRateLimitReset))
	if err != nil || errReset != nil || left < 0 || reset < 0 {
		return
	}
	w.limit = h.Get(toolapi.HeaderRateLimit)
	until := w.c.o.Now().Add(time.Duration(min(reset, maxWait)) * time.Second)
	// Responses arrive out of order: for the same reset, the lower figure is the later one.
	if !w.known || left < w.left || w.left <= 0 || until.After(w.until) {
		w.left = left
	}
	w.known, w.until = true, until
}
