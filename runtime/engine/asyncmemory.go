package engine

import (
	"context"
	"encoding/json"
	"sync"
)

// This file bounds the memory of a scope's Asyncs. JavaScript can start work faster than Go finishes it: without a bound, a
// loop that never waits would fill the memory of the process long before its budget ends. The platform does not document its
// figures.

const (
	// MaxPending bounds the concurrent Asyncs of a scope.
	MaxPending = 10_000
	// MaxOutside bounds the bytes that Go may hold for a scope's Asyncs: their arguments, and results that JavaScript has
	// not received yet. It equals the heap's limit.
	MaxOutside = DefaultMemoryLimit
)

// reserve counts n bytes. The error is for JavaScript.
func (s *Scope) reserve(n int64) error {
	if s.outside.Add(n) <= MaxOutside {
		return nil
	}
	s.outside.Add(-n)
	return quotaError("the pending operations of this request hold more than %d MB; "+
		"await some before starting more", MaxOutside>>20)
}

func (s *Scope) release(n int64) { s.outside.Add(-n) }

// readQuota bounds the bytes that an isolate's Asyncs read concurrently, over all scopes, since the bounds of many requests
// add up.
type readQuota struct {
	mu    sync.Mutex
	used  int64
	freed chan struct{} // closed at the next release; nil without a waiting Async
}

// acquire waits until n more bytes fit, or no others are reserved.
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
	outlast *outlasting
	scope   *Scope
	reads   *readQuota
	account *account
	n       int64
	read    int64     // of these, in reads
	buffers []*Buffer // to be freed with it
}

// add reserves n bytes more.
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

// reservationKey is the context key of an Async's *asyncReservation.
type reservationKey struct{}

// Reserve reserves n bytes for the Async of the context ctx until JavaScript has its value. An Async calls it on its own
// goroutine before it takes the memory; elsewhere it does nothing. The error is for JavaScript.
func Reserve(ctx context.Context, n int64) error {
	c, ok := ctx.Value(reservationKey{}).(*asyncReservation)
	if !ok || n <= 0 {
		return nil
	}
	return c.add(ctx, n)
}

// ReserveInTurn is Reserve before an Async reads from this machine. It waits until other reads of the isolate leave enough
// of their common quota. Only the first call of an Async waits, since two could wait for each other.
func ReserveInTurn(ctx context.Context, n int64) error {
	c, ok := ctx.Value(reservationKey{}).(*asyncReservation)
	if !ok || n <= 0 || c.read > 0 {
		return Reserve(ctx, n)
	}
	if err := c.scope.reserve(n); err != nil {
		return err
	}
	if err := c.reads.acquire(ctx, n); err != nil {
		c.scope.release(n)
		return err
	}
	c.read = n
	if err := c.account.charge(ctx, n); err != nil {
		c.scope.release(n)
		return err
	}
	c.n += n
	return nil
}

func (c *asyncReservation) release() {
	for _, b := range c.buffers {
		b.Free()
	}
	c.scope.release(c.n)
	c.account.discharge(c.n)
	if c.read > 0 {
		c.reads.release(c.read)
	}
}

// withReservation returns work with a reservation for the arguments of its call. The error is for JavaScript.
func (vm *VM) withReservation(work Async, c *Call) (Async, error) {
	scope := vm.scope
	if scope.pending.Load() >= MaxPending {
		return nil, quotaError("this request has %d pending operations; await some before you start more", MaxPending)
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

// orderedReservation is withReservation of the Async that begin makes.
func (vm *VM) orderedReservation(begin AsyncInOrder, c *Call) (AsyncInOrder, error) {
	var work Async
	reserved, err := vm.withReservation(func(ctx context.Context) (any, error) { return work(ctx) }, c)
	if err != nil {
		return nil, err
	}
	return func() Async {
		work = begin()
		return reserved
	}, nil
}

// sizeOf returns the bytes of text and data in a value for VM.New.
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
