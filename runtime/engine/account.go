package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// This file counts what Go holds for an isolate, whichever requests it is for: what
// host calls were given, what Asyncs have under way, what Buffers grew to. All of it
// is one bound, and beyond a little of its own an isolate takes it of the process's.

const (
	// accountOwn is what an isolate has for itself: small requests of one site need not
	// wait for large ones of another.
	accountOwn = 4 << 20
	// accountStep is how many bytes at a time an account takes of the process's.
	accountStep = 1 << 20
	// accountWait is how long it waits for them. It may hold some of what others wait for,
	// so that the wait has to end.
	accountWait = 2 * time.Second
)

// account is safe for concurrent use. Most of the time a charge is an addition.
type account struct {
	memory  *HostMemory
	used    atomic.Int64
	covered atomic.Int64 // how far used may go before the process is asked

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
		return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("the bodies and operations that this Worker has under way hold more than %d MB outside of its heap; "+
			"await some before starting more, or stream the data", MaxOutside>>20)}
	}
	if used <= a.covered.Load() {
		return nil
	}
	if err := a.reserve(ctx); err != nil {
		a.discharge(n)
		return err
	}
	return nil
}

// reserve takes of the process's memory what used goes beyond what is covered.
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

// tryReserve is cover that does not wait.
func (a *account) tryReserve() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.missingLocked()
	done := n == 0 || a.memory.tryAcquire(n)
	if done {
		a.covered.Add(n)
	}
	return done
}

func (a *account) missingLocked() int64 {
	lack := a.used.Load() - a.covered.Load()
	if a.closed || lack <= 0 {
		return 0
	}
	return (lack + accountStep - 1) / accountStep * accountStep
}

// discharge takes back what take counted.
func (a *account) discharge(n int64) {
	if a == nil || n <= 0 {
		return
	}
	if used := a.used.Add(-n); a.covered.Load()-max(used, accountOwn) >= 2*accountStep {
		a.shrink()
	}
}

// shrink gives back to the process what nobody uses, but for a step: to keep that saves
// asking again.
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

// close gives all back.
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
