package engine

import (
	"context"
	"sync"
)

// Guest is code outside of this process that uses the bindings of a Worker, such as another JavaScript engine. Its calls have an
// isolate's bounds on Go memory. It is safe for concurrent use. Close it.
type Guest struct {
	cancel  context.CancelFunc
	outlast outlasting
	reads   readQuota
	account *account

	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// NewGuest returns a Guest whose bytes count in m.
func NewGuest(m *HostMemory) *Guest {
	g := &Guest{account: newAccount(m)}
	g.outlast.ctx, g.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // until Close
	return g
}

// Do runs work for one call of the guest. The work's context is for [Reserve], [NewBuffer] and [Outlasting], and ends with ctx or
// Close. Do releases its reserved memory. A panic is an error, and after Close it is ErrClosed.
func (g *Guest) Do(ctx context.Context, work func(ctx context.Context) error) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	g.work.Add(1)
	g.mu.Unlock()
	defer g.work.Done()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(g.outlast.ctx, stop)()
	r := &asyncReservation{outlast: &g.outlast, scope: &Scope{}, reads: &g.reads, account: g.account}
	defer r.release()
	_, err := recoverPanic(context.WithValue(ctx, reservationKey{}, r), func(ctx context.Context) (any, error) {
		return nil, work(ctx)
	})
	return err
}

// Close cancels current calls and waits for them.
func (g *Guest) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	g.work.Wait()
	g.account.close()
}
