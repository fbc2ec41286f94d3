package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// This file bounds what Go holds on behalf of a scope while work is under way.
// JavaScript can start work faster than it is done: without a bound, a loop that
// waits for nothing fills the memory of the process long before its budget ends. The
// platform's own figures are not shown.

const (
	// MaxPending is how many Asyncs a scope may have under way.
	MaxPending = 10_000
	// MaxOutside is how many bytes Go may hold for a scope's Asyncs: what they
	// were given, and results that JavaScript has not got yet. As much as the heap.
	MaxOutside = DefaultMemoryLimit
)

// reserve counts n bytes. The error is for JavaScript.
func (s *Scope) reserve(n int64) error {
	if s.outside.Add(n) <= MaxOutside {
		return nil
	}
	s.outside.Add(-n)
	return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("the operations that this request has under way hold more than %d MB; "+
		"await some before starting more", MaxOutside>>20)}
}

func (s *Scope) release(n int64) { s.outside.Add(-n) }

// readQuota is what an isolate's Asyncs may read at the same time, whichever scopes they
// are of: each scope's own bound does not hold many requests.
type readQuota struct {
	mu    sync.Mutex
	used  int64
	freed chan struct{} // closed when some of it is given back; nil when nobody waits
}

// acquire waits until n more bytes fit, or nothing else is in the room.
func (r *readQuota) acquire(ctx context.Context, n int64) error {
	for {
		r.mu.Lock()
		if r.used == 0 || r.used+n <= MaxOutside {
			r.used += n
			r.mu.Unlock()
			return nil
		}
		if r.freed == nil {
			r.freed = make(chan struct{})
		}
		freed := r.freed
		r.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *readQuota) release(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}

// asyncReservation counts the bytes that an Async has reserved.
type asyncReservation struct {
	scope   *Scope
	room    *readQuota
	account *account
	n       int64
	here    int64     // of them in the room
	buffers []*Buffer // that it made
}

// add counts n bytes more.
func (c *asyncReservation) add(ctx context.Context, n int64) error {
	if err := c.scope.reserve(n); err != nil {
		return err
	}
	if err := c.account.charge(ctx, n); err != nil {
		c.scope.release(n)
		return err
	}
	c.n += n
	return nil
}

// reservationKey is the key of an Async's *claim in its context.
type reservationKey struct{}

// Reserve counts n bytes that the Async whose context ctx is (or descends from) has in
// memory, until JavaScript has its value: many that read at the same time are refused
// before they fill the memory of the process, and not after. The error is for
// JavaScript. An Async calls it on its own goroutine; elsewhere it does nothing.
func Reserve(ctx context.Context, n int64) error {
	c, ok := ctx.Value(reservationKey{}).(*asyncReservation)
	if !ok || n <= 0 {
		return nil
	}
	return c.add(ctx, n)
}

// ReserveInTurn is Reserve for what an Async is about to read from this machine. It waits
// until what the isolate's other requests read leaves room for it: their bounds do not
// add up. Only the first call of an Async waits, or two could wait for each other.
func ReserveInTurn(ctx context.Context, n int64) error {
	c, ok := ctx.Value(reservationKey{}).(*asyncReservation)
	if !ok || n <= 0 || c.here > 0 {
		return Reserve(ctx, n)
	}
	if err := c.scope.reserve(n); err != nil {
		return err
	}
	if err := c.room.acquire(ctx, n); err != nil {
		c.scope.release(n)
		return err
	}
	c.here = n
	if err := c.account.charge(ctx, n); err != nil {
		c.scope.release(n)
		return err
	}
	c.n += n
	return nil
}

// addResult takes what a value holds beyond what was claimed.
func (c *asyncReservation) addResult(ctx context.Context, value any) error {
	more := sizeOf(value) - c.n
	if more <= 0 {
		return nil
	}
	return c.add(ctx, more)
}

// freeUnlessUsed has a value freed with the rest, if JavaScript does not get it.
func (c *asyncReservation) freeUnlessUsed(value any) {
	switch v := value.(type) {
	case *Buffer:
		c.buffers = append(c.buffers, v)
	case DecodedBuffer:
		c.buffers = append(c.buffers, v.Buffer)
	case JSONBuffer:
		c.buffers = append(c.buffers, v.Buffer)
	}
}

// release gives all of it back.
func (c *asyncReservation) release() {
	for _, b := range c.buffers {
		b.Free()
	}
	c.scope.release(c.n)
	c.account.discharge(c.n)
	if c.here > 0 {
		c.room.release(c.here)
	}
}

// withReservation is work that holds what its call was given while it is under way. The error is
// for JavaScript.
func (vm *VM) withReservation(work Async, c *Call) (Async, error) {
	scope := vm.scope
	if scope.pending.Load() >= MaxPending {
		return nil, &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("this request has %d operations under way; "+
			"await some before starting more", MaxPending)}
	}
	n := c.taken
	if err := scope.reserve(n); err != nil {
		return nil, err
	}
	if n == 0 {
		return work, nil
	}
	release, err := c.Keep()
	if err != nil {
		scope.release(n)
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		defer func() {
			scope.release(n)
			release()
		}()
		return work(ctx)
	}, nil
}

// sizeOf is how many bytes of text and data a value for VM.New holds.
func sizeOf(value any) (n int64) {
	switch v := value.(type) {
	case string:
		return int64(len(v))
	case []byte:
		return int64(len(v))
	case BorrowedBytes:
		return int64(len(v.Bytes))
	case json.RawMessage:
		return int64(len(v))
	case []string:
		for _, s := range v {
			n += int64(len(s))
		}
	case []any:
		for _, item := range v {
			n += sizeOf(item)
		}
	case []Object:
		for _, item := range v {
			n += sizeOf(item)
		}
	case Object:
		for _, f := range v {
			n += sizeOf(f.Value)
		}
	}
	return n
}
