package wire

import (
	"context"
	"sync"
	"time"
)

const (
	// patience is how long the bytes of a small put, or the queries of a call, may follow the head of their request before the call
	// loses its place. What comes later may depend on calls that arrive meanwhile.
	patience = 100 * time.Millisecond
	// headPatience is how long a call waits for those before it: a head depends on nothing.
	headPatience = 2 * time.Second
)

// arrivals keeps calls in the order in which they arrived, until each has its place in the order of calls.
type arrivals struct {
	mu   sync.Mutex
	last <-chan struct{}
}

type arrival struct {
	before <-chan struct{} // closed when the one before has its place; nil for the first
	placed chan struct{}
	once   sync.Once
}

func (a *arrivals) add() *arrival {
	one := &arrival{placed: make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	one.before, a.last = a.last, one.placed
	return one
}

// wait waits for those before.
func (a *arrival) wait(ctx context.Context) {
	if a.before == nil {
		return
	}
	select {
	case <-a.before:
		return
	default:
	}
	patient := time.NewTimer(headPatience)
	defer patient.Stop()
	select {
	case <-a.before:
	case <-patient.C:
	case <-ctx.Done():
	}
}

// done lets those go on that arrived later. Once more has no effect.
func (a *arrival) done() {
	if a != nil {
		a.once.Do(func() { close(a.placed) })
	}
}
