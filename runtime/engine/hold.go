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

// take counts n bytes. The error is for JavaScript.
func (s *Scope) take(n int64) error {
	if s.outside.Add(n) <= MaxOutside {
		return nil
	}
	s.outside.Add(-n)
	return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("the operations that this request has under way hold more than %d MB; "+
		"await some before starting more", MaxOutside>>20)}
}

func (s *Scope) give(n int64) { s.outside.Add(-n) }

// room is what an isolate's Asyncs may read at the same time, whichever scopes they
// are of: each scope's own bound does not hold many requests.
type room struct {
	mu    sync.Mutex
	used  int64
	freed chan struct{} // closed when some of it is given back; nil when nobody waits
}

// enter waits until n more bytes fit, or nothing else is in the room.
func (r *room) enter(ctx context.Context, n int64) error {
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

func (r *room) leave(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}

// claim is what an Async said with Hold and HoldInTurn, in bytes.
type claim struct {
	scope   *Scope
	room    *room
	account *account
	n       int64
	here    int64     // of them in the room
	buffers []*Buffer // that it made
}

// take counts n bytes more.
func (c *claim) take(ctx context.Context, n int64) error {
	if err := c.scope.take(n); err != nil {
		return err
	}
	if err := c.account.take(ctx, n); err != nil {
		c.scope.give(n)
		return err
	}
	c.n += n
	return nil
}

// claimKey is the key of an Async's *claim in its context.
type claimKey struct{}

// Hold counts n bytes that the Async whose context ctx is (or descends from) has in
// memory, until JavaScript has its value: many that read at the same time are refused
// before they fill the memory of the process, and not after. The error is for
// JavaScript. An Async calls it on its own goroutine; elsewhere it does nothing.
func Hold(ctx context.Context, n int64) error {
	c, ok := ctx.Value(claimKey{}).(*claim)
	if !ok || n <= 0 {
		return nil
	}
	return c.take(ctx, n)
}

// HoldInTurn is Hold for what an Async is about to read from this machine. It waits
// until what the isolate's other requests read leaves room for it: their bounds do not
// add up. Only the first call of an Async waits, or two could wait for each other.
func HoldInTurn(ctx context.Context, n int64) error {
	c, ok := ctx.Value(claimKey{}).(*claim)
	if !ok || n <= 0 || c.here > 0 {
		return Hold(ctx, n)
	}
	if err := c.scope.take(n); err != nil {
		return err
	}
	if err := c.room.enter(ctx, n); err != nil {
		c.scope.give(n)
		return err
	}
	c.here = n
	if err := c.account.take(ctx, n); err != nil {
		c.scope.give(n)
		return err
	}
	c.n += n
	return nil
}

// cover takes what a value holds beyond what was claimed.
func (c *claim) cover(ctx context.Context, value any) error {
	more := sizeOf(value) - c.n
	if more <= 0 {
		return nil
	}
	return c.take(ctx, more)
}

// keep has a value freed with the rest, if JavaScript does not get it.
func (c *claim) keep(value any) {
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
func (c *claim) release() {
	for _, b := range c.buffers {
		b.Free()
	}
	c.scope.give(c.n)
	c.account.give(c.n)
	if c.here > 0 {
		c.room.leave(c.here)
	}
}

// held is work that holds what its call was given while it is under way. The error is
// for JavaScript.
func (vm *VM) held(work Async, c *Call) (Async, error) {
	scope := vm.scope
	if scope.pending.Load() >= MaxPending {
		return nil, &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("this request has %d operations under way; "+
			"await some before starting more", MaxPending)}
	}
	n := c.taken
	if err := scope.take(n); err != nil {
		return nil, err
	}
	if n == 0 {
		return work, nil
	}
	release, err := c.Keep()
	if err != nil {
		scope.give(n)
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		defer func() {
			scope.give(n)
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
	case Lent:
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
