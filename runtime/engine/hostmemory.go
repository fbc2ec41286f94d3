package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// DefaultHostMemory is how many bytes a process may hold outside of its isolates for all
// Workers together: pixels, buffers of codecs, results on their way (assumption: the
// platform shows no figure).
const DefaultHostMemory = 256 << 20

// shares is what part of a process's memory one Worker may hold, in all of its isolates
// (assumption): who takes all it can leaves as much to the others.
const shares = 2

// HostMemory is what a process may hold outside of its isolates on behalf of Workers. All
// sites of a process share one. While much of it is taken Go collects its garbage
// sooner, and what is given back goes back to the system soon after. It is safe for
// concurrent use.
type HostMemory struct {
	total int64
	of    *HostMemory   // whose share it is, or nil
	large chan struct{} // holds one while somebody reserves more than a quarter

	mu      sync.Mutex
	used    int64
	waiting []*waiter // in the order of arrival
}

type waiter struct {
	n     int64
	ready chan struct{} // closed once the bytes are its own
}

// NewHostMemory returns a HostMemory of so many bytes; 0 means DefaultHostMemory.
func NewHostMemory(total int64) *HostMemory {
	if total <= 0 {
		total = DefaultHostMemory
	}
	return &HostMemory{total: total, large: make(chan struct{}, 1)}
}

// Share returns the part of m that one Worker may hold: what it gives is also m's.
func (m *HostMemory) Share() *HostMemory {
	s := NewHostMemory(max(m.total/shares, 1))
	s.of = m
	return s
}

// Total is how many bytes there are in all.
func (m *HostMemory) Total() int64 { return m.total }

// Reserve takes n bytes, and waits in the order of arrival until they are free: so a
// caller that holds some may not wait for more, or two could wait for each other. More
// than there is in all is refused at once, by an error for JavaScript that names the
// limit; the end of ctx ends the wait with its error. Who takes more than a quarter waits
// for others that do before it waits for bytes: so many of them do not keep out those who
// take little. release gives the bytes back, and may be called more than once.
func (m *HostMemory) Reserve(ctx context.Context, n int64) (release func(), err error) {
	if n <= m.total/4 || n > m.total {
		if err := m.acquire(ctx, n); err != nil {
			return nil, err
		}
		return m.releaser(n), nil
	}
	select {
	case m.large <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := m.acquire(ctx, n); err != nil {
		<-m.large
		return nil, err
	}
	return sync.OnceFunc(func() { m.release(n); <-m.large }), nil
}

// TryReserve is Reserve that does not wait, not even behind those who do: ok is false
// where n bytes are not free.
func (m *HostMemory) TryReserve(n int64) (release func(), ok bool) {
	if !m.tryAcquire(n) {
		return nil, false
	}
	return m.releaser(n), true
}

func (m *HostMemory) releaser(n int64) func() { return sync.OnceFunc(func() { m.release(n) }) }

func (m *HostMemory) tryAcquire(n int64) bool {
	m.mu.Lock()
	ok := m.takeLocked(n)
	m.mu.Unlock()
	if ok && m.of != nil && !m.of.tryAcquire(n) {
		m.releaseOwn(n)
		return false
	}
	return ok
}

func (m *HostMemory) takeLocked(n int64) bool {
	if m.used+n > m.total {
		return false
	}
	m.used += n
	m.notePressureLocked()
	return true
}

// notePressureLocked tells Go's collector; what a share holds its whole holds too.
func (m *HostMemory) notePressureLocked() {
	if m.of == nil {
		collector.held(m.used)
	}
}

// shareWait is how long a Worker waits for its own share: what its other requests hold is
// given back soon, or after they have what they wait for too.
const shareWait = 200 * time.Millisecond

// acquire waits for the share's own bytes first, and not for long: who waits for those
// keeps no other Worker waiting.
func (m *HostMemory) acquire(ctx context.Context, n int64) error {
	if m.of == nil {
		return m.acquireOwn(ctx, n)
	}
	own, stop := context.WithTimeout(ctx, shareWait)
	defer stop()
	if err := m.acquireOwn(own, n); err != nil {
		return err
	}
	if err := m.of.acquire(ctx, n); err != nil {
		m.releaseOwn(n)
		return err
	}
	return nil
}

// errFull is the error for JavaScript of n bytes that were waited for in vain.
func (m *HostMemory) errFull(n int64) error {
	m.mu.Lock()
	free := m.total - m.used
	m.mu.Unlock()
	switch {
	case m.of == nil:
		return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("all Workers together hold more than %d MB outside of their heaps; try again later, or stream the data", m.total>>20)}
	case free < n:
		return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("all isolates of this Worker together hold more than %d MB outside of their heaps; "+
			"take less of the data at a time, or stream it", m.total>>20)}
	default:
		return m.of.errFull(n)
	}
}

func (m *HostMemory) acquireOwn(ctx context.Context, n int64) error {
	if n > m.total && m.of != nil {
		return m.errFull(n)
	}
	if n > m.total {
		return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("this takes %d MB of memory outside of the Worker, and all Workers together have %d MB", n>>20, m.total>>20)}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if len(m.waiting) == 0 && m.takeLocked(n) {
		m.mu.Unlock()
		return nil
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	m.waiting = append(m.waiting, w)
	m.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		m.cancelWait(w)
		return ctx.Err()
	}
}

// cancelWait ends a wait, or gives back what came of it in the same moment. Who waits behind
// may fit now.
func (m *HostMemory) cancelWait(w *waiter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.Index(m.waiting, w); at >= 0 {
		m.waiting = slices.Delete(m.waiting, at, at+1)
		m.grantLocked()
		return
	}
	m.releaseLocked(w.n)
}

func (m *HostMemory) release(n int64) {
	if m.of != nil {
		m.of.release(n)
	}
	m.releaseOwn(n)
}

func (m *HostMemory) releaseOwn(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.releaseLocked(n)
}

func (m *HostMemory) releaseLocked(n int64) {
	m.used -= n
	m.notePressureLocked()
	m.grantLocked()
}

func (m *HostMemory) grantLocked() {
	for len(m.waiting) > 0 && m.takeLocked(m.waiting[0].n) {
		close(m.waiting[0].ready)
		m.waiting[0] = nil
		m.waiting = m.waiting[1:]
	}
}
