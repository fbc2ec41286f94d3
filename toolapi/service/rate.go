package service

import (
	"sync"
	"time"
)

// limiter counts the calls of each key in a rolling minute: exactly, by the times of
// the last calls, since a fixed window would admit twice the cap around its edge. It
// starts empty with the service.
type limiter struct {
	mu      sync.Mutex
	elapsed func() time.Duration // never goes back
	keys    map[int64]*window
}

// window is the times of the last admitted calls of a key, as a ring that grows with
// them.
type window struct {
	times []time.Duration
	first int // the oldest
	n     int
}

func newLimiter(elapsed func() time.Duration) *limiter {
	return &limiter{elapsed: elapsed, keys: map[int64]*window{}}
}

// quota is what the three rate headers say.
type quota struct {
	limit, remaining int
	reset            int64 // seconds until a call is freed, at least 1
}

// admit counts calls of a key with a cap. Calls over the cap are not counted: who
// keeps calling is not kept out for longer.
func (l *limiter) admit(key int64, limit, calls int) (quota, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	w := l.keys[key]
	if w == nil {
		w = &window{}
		l.keys[key] = w
	}
	w.forget(now)
	w.drop(w.n - limit) // the cap was lowered: the newest calls stay
	ok := w.n+calls <= limit
	if ok {
		w.add(now, calls)
	}
	left := rateWindow
	if w.n > 0 {
		left += w.times[w.first] - now
	}
	return quota{limit: limit, remaining: limit - w.n, reset: int64(max(1, (left+time.Second-1)/time.Second))}, ok
}

// add counts calls of now.
func (w *window) add(now time.Duration, calls int) {
	if due := w.n + calls; due > len(w.times) {
		times := make([]time.Duration, max(due, 2*len(w.times)))
		before := copy(times, w.times[w.first:])
		copy(times[before:], w.times[:w.first])
		w.times, w.first = times, 0
	}
	for range calls {
		w.times[(w.first+w.n)%len(w.times)] = now
		w.n++
	}
}

// forget drops the calls that are a minute old.
func (w *window) forget(now time.Duration) {
	for w.n > 0 && now-w.times[w.first] >= rateWindow {
		w.drop(1)
	}
}

// drop forgets so many calls, the oldest first.
func (w *window) drop(calls int) {
	if calls > 0 {
		w.first = (w.first + calls) % len(w.times)
		w.n -= calls
	}
}

// clean drops the windows of keys that are not used.
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
