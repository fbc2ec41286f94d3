package wire

import (
	"container/list"
	"context"
	"sync"
	"time"
)

const (
	// patience bounds the delay between the head of a request and the bytes of a small put or the queries of a call. After it, the
	// call loses its place, since its bytes may depend on later calls.
	patience = 100 * time.Millisecond
	// headPatience bounds a call's wait for earlier heads, which depend on nothing.
	headPatience = 2 * time.Second
	// silentPatience bounds its wait for connections without data.
	silentPatience = 250 * time.Millisecond
)

// arrivals keeps calls in the order in which they arrived, until each has its place in the order of calls.
type arrivals struct {
	mu      sync.Mutex
	waiting list.List // of *arrival, those without a place yet
}

type arrival struct {
	in     *arrivals
	at     *list.Element // nil once it has its place, or has lost it
	turn   chan struct{} // closed when it is the first; nil unless it waits
	silent func() bool   // reports whether it has sent nothing yet; nil after it has
}

func (a *arrivals) add(silent func() bool) *arrival {
	one := &arrival{in: a, silent: silent}
	a.mu.Lock()
	defer a.mu.Unlock()
	one.at = a.waiting.PushBack(one)
	return one
}

// wait waits for earlier calls. Silent ones lose their places after [silentPatience].
func (a *arrival) wait(ctx context.Context) {
	a.in.mu.Lock()
	if a.at == nil || a.at.Prev() == nil {
		a.in.mu.Unlock()
		return
	}
	a.turn = make(chan struct{})
	turn := a.turn
	a.in.mu.Unlock()
	short, long := time.NewTimer(silentPatience), time.NewTimer(headPatience)
	defer short.Stop()
	defer long.Stop()
	for {
		select {
		case <-turn:
			return
		case <-short.C:
			a.passSilent()
		case <-long.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// passSilent passes earlier calls that have sent nothing.
func (a *arrival) passSilent() {
	a.in.mu.Lock()
	defer a.in.mu.Unlock()
	for at := a.at; at != nil; {
		at = at.Prev()
		if before := arrivalOf(at); before != nil && before.silent != nil && before.silent() {
			next := at.Next()
			before.leaveLocked()
			at = next
		}
	}
}

func arrivalOf(at *list.Element) *arrival {
	if at == nil {
		return nil
	}
	one, _ := at.Value.(*arrival)
	return one
}

// done releases later calls. A second call has no effect.
func (a *arrival) done() {
	if a == nil {
		return
	}
	a.in.mu.Lock()
	defer a.in.mu.Unlock()
	a.leaveLocked()
}

func (a *arrival) leaveLocked() {
	if a.at == nil {
		return
	}
	a.in.waiting.Remove(a.at)
	a.at = nil
	if first := arrivalOf(a.in.waiting.Front()); first != nil && first.turn != nil {
		close(first.turn)
		first.turn = nil
	}
}
