package engine

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
)

// DefaultHostMemory is how many bytes a process may hold outside of its isolates for all
// Workers together: pixels, buffers of codecs, results on their way (assumption: the
// platform shows no figure).
const DefaultHostMemory = 256 << 20

// HostMemory is what a process may hold outside of its isolates on behalf of Workers. All
// sites of a process share one. It is safe for concurrent use.
type HostMemory struct {
	total int64
	free  *semaphore.Weighted
	large *semaphore.Weighted // who waits for more than a quarter: one at a time
}

// NewHostMemory returns a HostMemory of so many bytes; 0 means DefaultHostMemory.
func NewHostMemory(total int64) *HostMemory {
	if total <= 0 {
		total = DefaultHostMemory
	}
	return &HostMemory{total: total, free: semaphore.NewWeighted(total), large: semaphore.NewWeighted(1)}
}

// Total is how many bytes there are in all.
func (m *HostMemory) Total() int64 { return m.total }

// Reserve takes n bytes, and waits in the order of arrival until they are free: so a
// caller that holds some may not wait for more, or two could wait for each other. More
// than there is in all is refused at once, by an error for JavaScript that names the
// limit; the end of ctx ends the wait with its error. Who takes more than a quarter waits
// for others that do before it waits for bytes: so many of them do not keep out those who
// take little. release gives the bytes back, and may be called more than once.
func (m *HostMemory) Reserve(ctx context.Context, n int64) (release func(), err error) {
	if n > m.total {
		return nil, &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("this takes %d MB of memory outside of the Worker, and all Workers together have %d MB", n>>20, m.total>>20)}
	}
	if n <= m.total/4 {
		if err := m.free.Acquire(ctx, n); err != nil {
			return nil, err
		}
		return m.releaser(n), nil
	}
	if err := m.large.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := m.free.Acquire(ctx, n); err != nil {
		m.large.Release(1)
		return nil, err
	}
	return sync.OnceFunc(func() { m.free.Release(n); m.large.Release(1) }), nil
}

// TryReserve is Reserve that does not wait: ok is false where n bytes are not free.
func (m *HostMemory) TryReserve(n int64) (release func(), ok bool) {
	if n > m.total || !m.free.TryAcquire(n) {
		return nil, false
	}
	return m.releaser(n), true
}

func (m *HostMemory) releaser(n int64) func() {
	return sync.OnceFunc(func() { m.free.Release(n) })
}
