package web

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// maxTimers is the most timers one request may have pending.
const maxTimers = 10_000

// timers are what one request waits for, in the order in which they are due. At
// most one promise at a time, the pump, waits for the first of them.
type timers struct {
	now  func() time.Time
	mu   sync.Mutex
	due  timerHeap
	seq  int64
	pump bool
	wake chan struct{} // tells a waiting pump that the first timer changed
}

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

func (h *Host) timerFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// timer_set(id, milliseconds) -> a promise of the first id that is due, if
		// nobody waits for it yet
		"timer_set": func(c *engine.Call) (any, error) { return h.setTimer(c, true) },
		// timer_again(id, milliseconds): timer_set by who will call timer_next
		"timer_again": func(c *engine.Call) (any, error) { return h.setTimer(c, false) },
		// timer_next() -> a promise of the next id that is due, if there are timers
		"timer_next": func(c *engine.Call) (any, error) {
			x, err := current(c)
			if err != nil {
				return nil, err
			}
			if !x.timers.any() {
				return nil, nil
			}
			return engine.Async(x.timers.next), nil
		},
		// timer_clear(id)
		"timer_clear": func(c *engine.Call) (any, error) {
			if x, err := current(c); err == nil {
				x.timers.clear(c.Int(0))
			}
			return nil, nil
		},
	}
}

func (h *Host) setTimer(c *engine.Call, mayWait bool) (any, error) {
	x, err := current(c)
	if err != nil {
		return nil, err
	}
	wait, err := x.timers.set(c.Int(0), time.Duration(c.Int(1))*time.Millisecond, mayWait)
	if err != nil || !wait {
		return nil, err
	}
	return engine.Async(x.timers.next), nil
}

// set adds a timer; wait reports that the caller must call next.
func (t *timers) set(id int64, delay time.Duration, mayWait bool) (wait bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) >= maxTimers {
		return false, &engine.Error{Name: "QuotaExceededError", Message: "this request has 10000 timers pending; no more can be set"}
	}
	t.seq++
	heap.Push(&t.due, timer{id: id, seq: t.seq, at: t.now().Add(delay)})
	if t.pump {
		t.signal()
		return false, nil
	}
	t.pump = mayWait
	return mayWait, nil
}

func (t *timers) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// any reports whether a timer is pending; if not, the pump stops.
func (t *timers) any() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pump = len(t.due) > 0
	return t.pump
}

func (t *timers) clear(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.due {
		if t.due[i].id == id {
			heap.Remove(&t.due, i)
			t.signal()
			return
		}
	}
}

// drop removes all timers and returns their ids.
func (t *timers) drop() []any {
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

// next waits for the first timer and returns its id; 0 when none is left.
func (t *timers) next(ctx context.Context) (any, error) {
	for {
		id, wait := t.take()
		if wait <= 0 {
			return id, nil
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

// take removes the first timer if it is due, else returns how long until then.
func (t *timers) take() (id int64, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) == 0 {
		t.pump = false
		return 0, 0
	}
	first := t.due[0]
	if wait := first.at.Sub(t.now()); wait > 0 {
		return 0, wait
	}
	heap.Pop(&t.due)
	return first.id, 0
}
