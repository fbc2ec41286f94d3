package service

import (
	"sync"
	"time"
)

// limiter counts the calls of each key in a rolling minute: exactly, by the times of the last calls, since a fixed window
// would admit twice the cap around its edge. It starts empty with the service.
type limiter struct {
	mu      sync.Mutex
	elapsed func() time.Duration // never goes back
	keys    map[int64]*window
}

// window is a ring of the times of a key's last admitted calls.
type window struct {
	times []time.Duration
	first int // the oldest
	n     int
}

func newLimiter(elapsed func() time.Duration) *limiter {
	return &limiter{elapsed: elapsed, keys: map[int64]*window{}}
}

// quota has the values of the three rate headers.
type quota struct {
	limit, remaining int
	reset            int64 // seconds until a call is freed, at least 1
}

// admit counts calls of a key with a cap. Calls over the cap are not counted, so they do not prolong the wait.
func (l *limiter) admit(key int64, limit, calls int) (quota, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	w := l.keys[key]
	if w == nil || len(w.times) != limit {
		w = w.resize(limit)
		l.keys[key] = w
	}
	w.forget(now)
	ok := w.n+calls <= limit
	for range calls {
		if ok {
			w.times[(w.first+w.n)%limit] = now
			w.n++
		}
	}
	left := w.times[w.first] + rateWindow - now
	return quota{limit: limit, remaining: limit - w.n, reset: int64(max(1, (left+time.Second-1)/time.Second))}, ok
}

// resize returns the window with another cap; the newest calls stay.
func (w *window) resize(limit int) *window {
	r := &window{times: make([]time.Duration, limit)}
	if w == nil {
		return r
	}
	r.n = min(w.n, limit)
	for i := range r.n {
		r.times[i] = w.times[(w.first+w.n-r.n+i)%len(w.times)]
	}
	return r
}

// forget drops the calls that are a minute old.
func (w *window) forget(now time.Duration) {
	for w.n > 0 && now-w.times[w.first] >= rateWindow {
		w.first = (w.first + 1) % len(w.times)
		w.n--
	}
}

// clean drops empty windows.
func (l *limiter) clean() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	for key, w := range l.keys {
		if w.forget(now); w.n == 0 {
			delete(l.keys, key)
		}
	}
}
