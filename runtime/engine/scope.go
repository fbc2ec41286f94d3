package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// Scope is the life of one request in an isolate: its context, its CPU budget and its meter. Every turn of the event loop
// belongs to one scope, and so do the host calls, timers and promises that the turn started, and the code after its
// awaits, regardless of the scope that settles the promise. A Scope is safe for concurrent use.
type Scope struct {
	// Value belongs to the embedder; set it before the scope is used.
	Value any
	// Abandoned reports whether no client waits for the scope or its work: then it gets no further turn, and the current
	// one is ended. It is called before each turn and about once a millisecond within, and must be quick. Set before the
	// scope is used. Default: never.
	Abandoned func() bool

	number       uint32 // of the owner of promises that it awaits; 0: see Share
	ctx          context.Context
	cancel       context.CancelCauseFunc
	budget       time.Duration
	cpu          atomic.Int64         // nanoseconds of the turns that ended
	turn         atomic.Pointer[turn] // that runs; nil between turns
	pending      atomic.Int32         // running Asyncs
	clockStopped bool                 // see StopClock
	outside      atomic.Int64         // bytes that Go holds for the scope: asyncmemory.go
}

// NewScope returns a scope that ends with ctx or with End. A budget of 0 sets no limit to the CPU time of its turns.
func NewScope(ctx context.Context, budget time.Duration, value any) *Scope {
	s := &Scope{Value: value, budget: budget, number: scopes.Add(1)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

// backgroundScope returns the scope of turns that make an image.
func backgroundScope(ctx context.Context) *Scope { return &Scope{ctx: ctx} }

// scopes counts the scopes made.
var scopes atomic.Uint32

// Share lets code after an await of the scope run in whichever turn settles the promise, as at the top level of a module,
// which outlives its evaluation. Call it before the scope is used.
func (s *Scope) Share() { s.number = 0 }

// Context ends when the scope does.
func (s *Scope) Context() context.Context { return s.ctx }

// CPU is the CPU time of the scope's turns so far, including the current one, without waits: that of the threads of turns
// and their host calls (assumption). On systems other than Linux, where the CPU time of a thread cannot be read, it is
// the elapsed time of turns.
func (s *Scope) CPU() time.Duration {
	used := time.Duration(s.cpu.Load())
	if t := s.turn.Load(); t != nil {
		used += t.cpuTime()
	}
	return used
}

// Refill restores the scope's whole budget from the next turn on, for work that counts as a separate request.
func (s *Scope) Refill() { s.cpu.Store(0) }

// StopClock makes Date return the first of January 1970 in the scope's turns. Call it before the scope is used.
func (s *Scope) StopClock() { s.clockStopped = true }

// ClockStopped reports whether StopClock was called.
func (s *Scope) ClockStopped() bool { return s.clockStopped }

// Idle reports whether the scope has no running Async.
func (s *Scope) Idle() bool { return s.pending.Load() == 0 }

// End ends the scope: its running work is cancelled and its promises stay pending forever. The cause may be nil.
func (s *Scope) End(cause error) { s.cancel(cause) }

func (s *Scope) ended() bool { return s.ctx.Err() != nil }

func (s *Scope) abandoned() bool { return s != nil && s.Abandoned != nil && s.Abandoned() }
