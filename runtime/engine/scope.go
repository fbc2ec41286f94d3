package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// Scope is the life of one request in an isolate: its context, its CPU budget
// and its meter. Every turn of the event loop runs on behalf of one scope, and
// host calls, timers and promises that a turn started settle on behalf of the
// same scope; what it awaits goes on on its behalf, whoever settles the promise. A
// Scope is safe for concurrent use.
type Scope struct {
	// Value is the embedder's own; set before the scope is used.
	Value any
	// Abandoned reports whether nobody waits for the scope, nor for anything that it
	// began: then it gets no turn any more, and the one that runs is ended. It is asked
	// before each turn, and in turns about once a millisecond, and must be quick. Set
	// before the scope is used. Default: somebody always waits.
	Abandoned func() bool

	// number tells what the scope awaits from what others do; 0: see Share.
	number uint32
	ctx    context.Context
	cancel context.CancelCauseFunc
	budget time.Duration
	cpu    atomic.Int64
	// turn is the turn that runs, nil between turns.
	turn atomic.Pointer[turn]
	// pending counts the scope's Asyncs under way.
	pending atomic.Int32
	// clockStopped is whether Date tells 1970: see StopClock.
	clockStopped bool
	// outside is what Go holds for the scope, in bytes: asyncmemory.go.
	outside atomic.Int64
}

// NewScope returns a scope that ends with ctx or with End. A budget of 0 sets
// no limit to the CPU time of its turns.
func NewScope(ctx context.Context, budget time.Duration, value any) *Scope {
	s := &Scope{Value: value, budget: budget, number: scopes.Add(1)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

// backgroundScope is the scope of what an image is made by.
func backgroundScope(ctx context.Context) *Scope { return &Scope{ctx: ctx} }

// scopes counts the scopes made.
var scopes atomic.Uint32

// Share has what is awaited in the scope's turns go on in whichever turn settles
// it, as at the top level of a module, which outlives its evaluation. It is called
// before the scope is used.
func (s *Scope) Share() { s.number = 0 }

// Context ends when the scope does.
func (s *Scope) Context() context.Context { return s.ctx }

// CPU is the CPU time that the scope's turns took so far, the one that runs
// included. Time spent waiting does not count. Where a thread's CPU time cannot be
// read, which is everywhere but on Linux, it is the elapsed time of turns. What counts
// is an assumption: the threads of the turns and of their host calls.
func (s *Scope) CPU() time.Duration {
	used := time.Duration(s.cpu.Load())
	if t := s.turn.Load(); t != nil {
		used += t.cpuTime()
	}
	return used
}

// begin begins a turn on the calling thread, which is locked.
func (s *Scope) begin() *turn {
	t := &turn{clock: threadClock(), began: time.Since(opened), bounded: s.budget > 0, limit: s.budget - time.Duration(s.cpu.Load())}
	t.start = t.clock.read()
	s.turn.Store(t)
	return t
}

// end charges the turn to the scope.
func (s *Scope) end(t *turn) {
	s.turn.Store(nil)
	s.cpu.Add(int64(t.cpuTime()))
}

// Refill gives the scope its whole budget again: what begins is as good as a
// request of its own. It counts from the next turn on.
func (s *Scope) Refill() { s.cpu.Store(0) }

// StopClock has Date tell the first of January 1970 in the scope's turns. It is
// called before the scope is used.
func (s *Scope) StopClock() { s.clockStopped = true }

// ClockStopped reports whether StopClock was called.
func (s *Scope) ClockStopped() bool { return s.clockStopped }

// Idle reports whether no Async is under way for the scope.
func (s *Scope) Idle() bool { return s.pending.Load() == 0 }

// End ends the scope: what it still has under way is cancelled and its promises
// stay pending for ever. The cause may be nil.
func (s *Scope) End(cause error) { s.cancel(cause) }

func (s *Scope) ended() bool { return s.ctx.Err() != nil }
