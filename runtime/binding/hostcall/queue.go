package hostcall

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// Queue keeps the calls on one object, such as a database, in the order in which they were issued: a write waits for all
// earlier calls, a read for earlier writes. The zero value is empty. A Queue is safe for concurrent use.
//
// Assumption: production handles the calls on a database in the order of their arrival, like D1 in a local workerd. For keys
// of KV and R2 it promises no order; this is stricter.
type Queue struct {
	mu     sync.Mutex
	write  chan struct{} // closed at the end of the last write; nil without one
	reads  *readGroup    // issued since the last write; nil without any
	writes atomic.Int32  // under way
}

// readGroup is the reads between two writes.
type readGroup struct {
	open  int
	ended chan struct{} // closed when all of them have ended; nil until a write waits for them
}

// Turn is the place of one call in a queue. Call End at least once.
type Turn struct {
	before []<-chan struct{} // closed when the earlier turns have ended
	write  bool
	end    func(t *Turn)
	once   sync.Once
}

// Read takes the next place in the queue for a call that changes nothing.
func (q *Queue) Read() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &Turn{}
	if q.write != nil {
		t.before = []<-chan struct{}{q.write}
	}
	if q.reads == nil {
		q.reads = &readGroup{}
	}
	group := q.reads
	group.open++
	t.end = func(*Turn) { q.endRead(group) }
	return t
}

func (q *Queue) endRead(group *readGroup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if group.open--; group.open > 0 {
		return
	}
	if group.ended != nil {
		close(group.ended)
	} else {
		q.reads = nil
	}
}

// Write takes the next place in the queue for a call that may change something.
func (q *Queue) Write() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &Turn{write: true}
	if q.write != nil {
		t.before = append(t.before, q.write)
	}
	if q.reads != nil {
		q.reads.ended = make(chan struct{})
		t.before = append(t.before, q.reads.ended)
		q.reads = nil
	}
	ended := make(chan struct{})
	q.write = ended
	q.writes.Add(1)
	t.end = func(t *Turn) {
		if t.isNext() {
			q.endWrite(ended)
			return
		}
		// Cancelled before its turn: later turns still wait for earlier ones.
		go func() {
			for _, earlier := range t.before {
				<-earlier
			}
			q.endWrite(ended)
		}()
	}
	return t
}

func (q *Queue) endWrite(ended chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(ended)
	q.writes.Add(-1)
	if q.write == ended {
		q.write = nil
	}
}

// lastWrite is closed at the end of the last write; nil without one.
func (q *Queue) lastWrite() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.write
}

// Writes reports whether a write is running.
func (q *Queue) Writes() bool { return q.writes.Load() > 0 }

// isNext reports whether all earlier calls have ended.
func (t *Turn) isNext() bool {
	for _, ended := range t.before {
		select {
		case <-ended:
		default:
			return false
		}
	}
	return true
}

// Wait waits until all earlier calls have ended, or ctx.
func (t *Turn) Wait(ctx context.Context) error {
	for _, ended := range t.before {
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// End releases the calls that wait for this one.
func (t *Turn) End() { t.once.Do(func() { t.end(t) }) }

// Keys are the queues of the keys of one store. The zero value is ready to use. It is safe for concurrent use.
type Keys struct {
	mu     sync.Mutex
	queues map[string]*keyQueue
	lists  map[*list]struct{} // under way
}

// list is a call that reads all keys that begin with prefix.
type list struct {
	prefix string
	ended  chan struct{}
}

type keyQueue struct {
	Queue

	users int
}

// Read takes the next place of a call that reads some keys.
func (k *Keys) Read(keys ...string) *Turn { return k.take((*Queue).Read, keys, false) }

// Write takes the next place of a call that may change some keys.
func (k *Keys) Write(keys ...string) *Turn { return k.take((*Queue).Write, keys, true) }

// List takes the next place of a call that reads all keys that begin with prefix.
func (k *Keys) List(prefix string) *Turn {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, one := &Turn{}, &list{prefix, make(chan struct{})}
	for key, q := range k.queues {
		if write := q.lastWrite(); write != nil && strings.HasPrefix(key, prefix) {
			t.before = append(t.before, write)
		}
	}
	if k.lists == nil {
		k.lists = map[*list]struct{}{}
	}
	k.lists[one] = struct{}{}
	t.end = func(*Turn) {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.lists, one)
		close(one.ended)
	}
	return t
}

// maxKeys bounds the keys of one call. Bindings refuse a call with more in any case.
const maxKeys = 1000

// listsOf returns the current lists that read one of keys.
func (k *Keys) listsOf(keys []string) (ended []<-chan struct{}) {
	for one := range k.lists {
		if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, one.prefix) }) {
			ended = append(ended, one.ended)
		}
	}
	return ended
}

// take takes a place in the queue of each key, atomically: two calls on the same keys have the same order in each.
func (k *Keys) take(place func(*Queue) *Turn, keys []string, write bool) *Turn {
	if len(keys) > maxKeys {
		keys = nil
	}
	if len(keys) > 1 {
		keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all := &Turn{write: write}
	if write {
		all.before = k.listsOf(keys)
	}
	parts := make([]*Turn, len(keys))
	for i, key := range keys {
		parts[i] = place(k.use(key))
		all.before = append(all.before, parts[i].before...)
	}
	all.end = func(*Turn) {
		k.mu.Lock()
		defer k.mu.Unlock()
		for i, key := range keys {
			parts[i].End()
			if q := k.queues[key]; q.users > 1 {
				q.users--
			} else {
				delete(k.queues, key)
			}
		}
	}
	return all
}

// use returns the queue of a key for one more user.
func (k *Keys) use(key string) *Queue {
	q := k.queues[key]
	if q == nil {
		q = &keyQueue{}
		if k.queues == nil {
			k.queues = map[string]*keyQueue{}
		}
		k.queues[key] = q
	}
	q.users++
	return &q.Queue
}

// InOrder is work that waits for its turn; take takes the turn when the call is issued. The work may end its turn early. A write runs
// even if its request has ended: an issued call takes effect, whether or not the Worker waits for the result.
func InOrder(take func() *Turn, work func(ctx context.Context, t *Turn) (any, error)) engine.AsyncInOrder {
	return func() engine.Async {
		t := take()
		return func(ctx context.Context) (any, error) { return Run(ctx, t, work) }
	}
}

// Run does work in a turn that was already taken, and ends the turn.
func Run[T any](ctx context.Context, t *Turn, work func(ctx context.Context, t *Turn) (T, error)) (result T, err error) {
	defer t.End()
	if t.write {
		outlasting, done := engine.Outlasting(ctx)
		defer done()
		ctx = trace.With(outlasting, trace.From(ctx))
	}
	if err := t.Wait(ctx); err != nil {
		return result, err
	}
	return work(ctx, t)
}
