// Package timers is setTimeout and setInterval, and the clock of performance.
//
// A [Queue] is the timers of one request. In: the calls of JavaScript, as host functions, and a
// clock. Out: promises of the next timer that is due. Errors: an exception for more timers than a
// request may have. A Queue is safe for concurrent use. The package runs no code of the Worker: a
// timer that is due settles a promise.
package timers

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const maxTimers = 10_000 // pending, of one request

// Queue holds the timers of one request in the order in which they are due. At most one promise at
// a time, the pump, waits for the first of them.
type Queue struct {
	now  func() time.Time
	mu   sync.Mutex
	due  timerHeap
	seq  int64
	pump bool
	wake chan struct{} // tells a waiting pump that the first timer changed
}

// NewQueue returns an empty queue on a clock.
func NewQueue(now func() time.Time) Queue { return Queue{now: now, wake: make(chan struct{}, 1)} }

type timer struct {
	id, seq int64
	at      time.Time
}

type timerHeap []timer

func (t timerHeap) Len() int { return len(t) }
func (t timerHeap) Less(i, j int) bool {
	if t[i].at.Equal(t[j].at) {
		return t[i].seq < t[j].seq
	}
	return t[i].at.Before(t[j].at)
}
func (t timerHeap) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *timerHeap) Push(x any) {
	if x, ok := x.(timer); ok {
		*t = append(*t, x)
	}
}

// Pop implements heap.Interface.
func (t *timerHeap) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// Funcs returns the host functions of timers. queue returns those of the request on whose behalf a
// call is made; an error means that none is served.
func Funcs(queue func(*engine.Call) (*Queue, error)) map[string]engine.Func {
	return map[string]engine.Func{
		// timer_set(id, milliseconds) -> a promise of a timer that is due, if none is waited for yet
		"timer_set": func(c *engine.Call) (any, error) { return setTimer(queue, c, true) },
		// timer_again(id, milliseconds): timer_set of a caller that will call timer_next
		"timer_again": func(c *engine.Call) (any, error) { return setTimer(queue, c, false) },
		// timer_take() -> the id of the first timer that is due, 0 for none: while the turn ran in
		// which it became due, an earlier one may have been set
		"timer_take": func(c *engine.Call) (any, error) {
			q, err := queue(c)
			if err != nil {
				return nil, err
			}
			return q.take(), nil
		},
		// timer_next() -> a promise of the next timer that is due, if there are timers
		"timer_next": func(c *engine.Call) (any, error) {
			q, err := queue(c)
			if err != nil {
				return nil, err
			}
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.pump = len(q.due) > 0; !q.pump {
				return nil, nil
			}
			return engine.Async(q.next), nil
		},
		// timer_clear(id)
		"timer_clear": func(c *engine.Call) (any, error) {
			if q, err := queue(c); err == nil {
				q.mu.Lock()
				defer q.mu.Unlock()
				id := c.Int(0)
				if i := slices.IndexFunc(q.due, func(t timer) bool { return t.id == id }); i >= 0 {
					heap.Remove(&q.due, i)
					q.signal()
				}
			}
			return nil, nil
		},
	}
}

func setTimer(queue func(*engine.Call) (*Queue, error), c *engine.Call, mayWait bool) (any, error) {
	q, err := queue(c)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.due) >= maxTimers {
		return nil, &engine.Error{Name: "QuotaExceededError", Message: "this request has 10000 timers pending; no more can be set"}
	}
	q.seq++
	heap.Push(&q.due, timer{id: c.Int(0), seq: q.seq, at: c.Now().Add(time.Duration(c.Int(1)) * time.Millisecond)})
	if q.pump {
		q.signal()
		return nil, nil
	}
	q.pump = mayWait
	if !mayWait {
		return nil, nil
	}
	return engine.Async(q.next), nil
}

func (t *Queue) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Drop removes all timers and returns their ids.
func (t *Queue) Drop() []any {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := make([]any, 0, len(t.due))
	for _, d := range t.due {
		ids = append(ids, d.id)
	}
	t.due = nil
	t.signal()
	return ids
}

// next waits until the first timer is due, or none is left.
func (t *Queue) next(ctx context.Context) (any, error) {
	for {
		wait := t.untilFirst()
		if wait <= 0 {
			return engine.Undefined, nil
		}
		alarm := time.NewTimer(wait)
		select {
		case <-alarm.C:
		case <-t.wake:
			alarm.Stop()
		case <-ctx.Done():
			alarm.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// untilFirst is the time until the first timer is due; 0 or less if it is due, or none is left.
func (t *Queue) untilFirst() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) == 0 {
		return 0
	}
	return t.due[0].at.Sub(t.now())
}

// take removes the first timer if it is due, and returns its id; else 0.
func (t *Queue) take() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) == 0 || t.due[0].at.After(t.now()) {
		return 0
	}
	first := t.due[0]
	heap.Pop(&t.due)
	return first.id
}

// ClockFuncs returns the host functions of performance, with the time of the call as the origin, in whole milliseconds as in production.
func ClockFuncs(now func() time.Time) map[string]engine.Func {
	origin := now()
	return map[string]engine.Func{
		// clock_now() -> milliseconds since the origin, 0 while the clock stands
		"clock_now": func(c *engine.Call) (any, error) {
			if c.Scope().ClockStopped() {
				return 0.0, nil
			}
			return float64(max(0, c.Now().Sub(origin).Milliseconds())), nil
		},
		// clock_origin() -> milliseconds since 1970
		"clock_origin": func(*engine.Call) (any, error) {
			return float64(origin.UnixMicro()) / 1e3, nil
		},
	}
}
