package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// accountOwn is the bytes that an isolate has without a reservation, so that small requests of one site need not wait
	// for large ones of another.
	accountOwn = 4 << 20
	// accountStep is the bytes that an account reserves at a time.
	accountStep = 1 << 20
	// accountWait bounds the wait for a reservation: the waiting account may hold bytes for which others wait.
	accountWait = 2 * time.Second
)

// account counts the bytes that Go holds for an isolate, over all requests: arguments of host calls, running Asyncs,
// Buffers. Bytes beyond accountOwn are reserved from a HostMemory. It is safe for concurrent use; a charge is
// usually only an addition.
type account struct {
	memory  *HostMemory
	used    atomic.Int64
	covered atomic.Int64 // bytes that need no further reservation

	mu     sync.Mutex
	closed bool
}

func newAccount(m *HostMemory) *account {
	a := &account{memory: m}
	a.covered.Store(accountOwn)
	return a
}

// charge counts n bytes. The error is for JavaScript, or the end of ctx.
func (a *account) charge(ctx context.Context, n int64) error {
	if a == nil || n <= 0 {
		return nil
	}
	used := a.used.Add(n)
	if used > MaxOutside {
		a.used.Add(-n)
		return quotaError("the current bodies and operations of this Worker hold more than %d MB outside of its heap; "+
			"await some before starting more, or stream the data", MaxOutside>>20)
	}
	if used <= a.covered.Load() {
		return nil
	}
	err := a.reserve(ctx)
	if err != nil {
		a.discharge(n)
	}
	return err
}

// reserve reserves the difference of used and covered.
func (a *account) reserve(ctx context.Context) error {
	if a.tryReserve() {
		return nil
	}
	a.mu.Lock()
	n := a.missingLocked()
	a.mu.Unlock()
	limited, stop := context.WithTimeout(ctx, accountWait)
	defer stop()
	if err := a.memory.acquire(limited, n); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return a.memory.errFull(n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		a.memory.release(n)
		return ErrClosed
	}
	a.covered.Add(n)
	return nil
}

// tryReserve is reserve without waiting.
func (a *account) tryReserve() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.missingLocked()
	ok := n == 0 || a.memory.tryAcquire(n)
	if ok {
		a.covered.Add(n)
	}
	return ok
}

func (a *account) missingLocked() int64 {
	missing := a.used.Load() - a.covered.Load()
	if a.closed || missing <= 0 {
		return 0
	}
	return (missing + accountStep - 1) / accountStep * accountStep
}

// discharge subtracts n bytes.
func (a *account) discharge(n int64) {
	if a == nil || n <= 0 {
		return
	}
	if used := a.used.Add(-n); a.covered.Load()-max(used, accountOwn) >= 2*accountStep {
		a.shrink()
	}
}

// shrink releases unused bytes except for one step, which saves the next reservation.
func (a *account) shrink() {
	a.mu.Lock()
	defer a.mu.Unlock()
	spare := (a.covered.Load() - max(a.used.Load(), accountOwn)) / accountStep * accountStep
	if spare -= accountStep; a.closed || spare <= 0 {
		return
	}
	a.covered.Add(-spare)
	a.memory.release(spare)
}

func (a *account) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed = true
		if n := a.covered.Swap(accountOwn) - accountOwn; n > 0 {
			a.memory.release(n)
		}
	}
}

// Reservation counts bytes that Go holds for a Worker beyond a host call, such as unread messages. The first 4 MiB are
// free; a HostMemory covers the rest. It is safe for concurrent use. Close it.
type Reservation struct{ account *account }

// Reservation returns a Reservation of no bytes yet.
func (m *HostMemory) Reservation() *Reservation { return &Reservation{newAccount(m)} }

// Add adds n bytes, which may be negative, even without memory for them: see Fits.
func (r *Reservation) Add(n int64) {
	if n < 0 {
		r.account.discharge(-n)
		return
	}
	r.account.used.Add(n)
}

// Fits reports whether there is memory for all counted bytes. It reserves missing ones without waiting.
func (r *Reservation) Fits() bool {
	return r.account.used.Load() <= r.account.covered.Load() || r.account.tryReserve()
}

// Bytes is the number of bytes counted.
func (r *Reservation) Bytes() int64 { return r.account.used.Load() }

// Close releases all of it.
func (r *Reservation) Close() { r.account.close() }
