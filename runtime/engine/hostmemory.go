package engine

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultHostMemory is the bytes that a process may hold outside of its isolates for all Workers together: pixels, buffers
// of codecs, results of Asyncs (assumption: the platform shows no figure).
const DefaultHostMemory = 256 << 20

// shares is the divisor for the part that one Worker may hold, in all of its isolates (assumption).
const shares = 2

// HostMemory is a quota for the bytes that a process stores for Workers outside of their isolates. All sites of a process share
// one. While much of it is reserved, Go collects garbage earlier, and released bytes return to the system soon. It is
// safe for concurrent use.
type HostMemory struct {
	total int64
	of    *HostMemory   // the quota that this is a share of, or nil
	large chan struct{} // one item while a reservation of more than a quarter exists

	mu      sync.Mutex
	used    int64
	waiting []*waiter // in the order of arrival
}

type waiter struct {
	n     int64
	ready chan struct{} // closed once the bytes are reserved
}

// NewHostMemory returns a HostMemory of total bytes; 0 means DefaultHostMemory.
func NewHostMemory(total int64) *HostMemory {
	if total <= 0 {
		total = DefaultHostMemory
	}
	return &HostMemory{total: total, large: make(chan struct{}, 1)}
}

// Share returns the part of m that one Worker may hold. Its reservations count for m too.
func (m *HostMemory) Share() *HostMemory {
	s := NewHostMemory(max(m.total/shares, 1))
	s.of = m
	return s
}

// Total is the size of the quota in bytes.
func (m *HostMemory) Total() int64 { return m.total }

// Reserve reserves n bytes, and waits in the order of arrival until they are free: a caller with a reservation must not
// wait for another, or two could wait for each other. More than the total is refused at once by an error for JavaScript
// that names the limit; the end of ctx ends the wait with its error. Reservations of more than a quarter wait for each
// other before they wait for bytes, so that they do not block small ones. release may be called more than once.
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

// TryReserve is Reserve without waiting, and without regard to waiting callers. ok is false unless n bytes are free.
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
	m.addLocked(n)
	return true
}

func (m *HostMemory) addLocked(n int64) {
	m.used += n
	if m.of == nil { // bytes of a share count in its whole
		collector.update(m.used)
	}
}

// shareWait bounds the wait for a Worker's own share: its other requests release memory soon, or wait for more themselves.
const shareWait = 200 * time.Millisecond

// acquire waits for bytes of the share before bytes of the whole, which keeps no other Worker waiting.
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

// errFull is the error for JavaScript after a wait for n bytes in vain.
func (m *HostMemory) errFull(n int64) error {
	m.mu.Lock()
	free := m.total - m.used
	m.mu.Unlock()
	switch {
	case m.of == nil:
		return quotaError("all Workers together hold more than %d MB outside of their heaps; try again later, or stream the data",
			m.total>>20)
	case free < n:
		return quotaError("all isolates of this Worker together hold more than %d MB outside of their heaps; "+
			"take less of the data at a time, or stream it", m.total>>20)
	default:
		return m.of.errFull(n)
	}
}

func (m *HostMemory) acquireOwn(ctx context.Context, n int64) error {
	if n > m.total && m.of != nil {
		return m.errFull(n)
	}
	if n > m.total {
		return quotaError("this takes %d MB of memory outside of the Worker, and all Workers together have %d MB", n>>20, m.total>>20)
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
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := slices.Index(m.waiting, w); at >= 0 {
		m.waiting = slices.Delete(m.waiting, at, at+1)
	} else {
		m.addLocked(-n) // granted at the same moment
	}
	m.grantLocked()
	return ctx.Err()
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
	m.addLocked(-n)
	m.grantLocked()
}

func (m *HostMemory) grantLocked() {
	for len(m.waiting) > 0 && m.takeLocked(m.waiting[0].n) {
		close(m.waiting[0].ready)
		m.waiting[0] = nil
		m.waiting = m.waiting[1:]
	}
}

const (
	// pressureStep is the number of held bytes from which Go's memory limit is set, and the step in which it is adapted.
	pressureStep = 16 << 20
	// heapSlack is the bytes of garbage that the limit allows.
	heapSlack = 40 << 20
	// quietTime is the delay after the last large buffer until memory returns to the system.
	quietTime = time.Second
)

// memoryPressure makes Go collect garbage earlier while it holds many bytes for Workers, and release memory to the system
// afterwards. By default Go lets the heap grow to twice the live bytes, which for buffers of 100 MB is 100 MB too many,
// and an idle process collects only every two minutes.
type memoryPressure struct {
	mapped atomic.Int64 // bytes held outside of Go's heap

	mu    sync.Mutex
	base  int64 // of the heap when the pressure began; 0 without pressure
	limit int64
	quiet bool // little is held since that period
	turn  int
}

var collector memoryPressure //nolint:gochecknoglobals // there is one heap

// update adapts Go's memory limit to the bytes held.
func (p *memoryPressure) update(used int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if used < pressureStep {
		if p.base != 0 && !p.quiet {
			p.quiet, p.turn = true, p.turn+1
			turn := p.turn
			time.AfterFunc(quietTime, func() { p.relax(turn) })
		}
		return
	}
	p.quiet = false
	if p.base == 0 {
		if debug.SetMemoryLimit(-1) != math.MaxInt64 {
			return // the user's limit (GOMEMLIMIT) stays
		}
		p.base = heapNow()
	}
	limit := p.base + max(0, used-p.mapped.Load())/pressureStep*pressureStep + pressureStep + heapSlack
	if limit != p.limit {
		p.limit = limit
		debug.SetMemoryLimit(limit)
	}
}

// relax ends the pressure unless it rose again after that turn.
func (p *memoryPressure) relax(turn int) {
	p.mu.Lock()
	if !p.quiet || p.turn != turn {
		p.mu.Unlock()
		return
	}
	p.quiet, p.base, p.limit = false, 0, 0
	debug.SetMemoryLimit(math.MaxInt64)
	p.mu.Unlock()
	debug.FreeOSMemory()
}

// heapNow is Go's share of the system's memory, without bytes it released and without garbage of its last collection.
func heapNow() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(samples)
	at := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	return at(0) - at(1) - at(3) - max(0, at(2)-at(4))
}
