package hostcall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// TestCancelledTurn: a call that is cancelled while it waits lets no later call overtake the earlier ones.
func TestCancelledTurn(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(q *Queue) *Turn
	}{
		{"a read", (*Queue).Read},
		{"a write", (*Queue).Write},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := &Queue{}
			first := q.Write()
			cancelled, later := q.Write(), c.take(q)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := cancelled.Wait(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancelled.End()
			if later.isNext() {
				t.Fatal("it passes the first write")
			}
			first.End()
			if err := later.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			later.End()
			if q.Read().isNext() == q.Writes() {
				t.Error("the queue does not end")
			}
		})
	}
}

// TestKeysForget: a key without calls takes no memory.
func TestKeysForget(t *testing.T) {
	var k Keys
	first, second := k.Write("a", "b", "a"), k.Read("b", "c")
	if second.isNext() || len(k.queues) != 3 {
		t.Errorf("%d queues", len(k.queues))
	}
	first.End()
	first.End() // once more has no effect
	if !second.isNext() || len(k.queues) != 2 {
		t.Errorf("%d queues", len(k.queues))
	}
	second.End()
	many := make([]string, maxKeys+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	k.Write(many...)
	if len(k.queues) != 0 {
		t.Errorf("%d queues are left", len(k.queues))
	}
}

// TestListTurn: a list comes after the writes before it of the keys that it reads, and before those after it.
func TestListTurn(t *testing.T) {
	var k Keys
	first, elsewhere := k.Write("a/1"), k.Write("b")
	list := k.List("a/")
	later, free := k.Write("a/2", "c"), k.Write("c/a/")
	read := k.Read("a/3")
	if list.isNext() || later.isNext() || !free.isNext() || !read.isNext() {
		t.Errorf("list %t, later write %t, write elsewhere %t, read %t", list.isNext(), later.isNext(), free.isNext(), read.isNext())
	}
	first.End()
	if !list.isNext() || later.isNext() {
		t.Error("the list does not follow the write, or the next write passes the list")
	}
	list.End()
	list.End() // once more has no effect
	if !later.isNext() {
		t.Error("the write does not follow the list")
	}
	for _, turn := range []*Turn{elsewhere, later, free, read} {
		turn.End()
	}
	if len(k.queues) != 0 || len(k.lists) != 0 {
		t.Errorf("%d queues and %d lists are left", len(k.queues), len(k.lists))
	}
}

// TestQueueOrder: of many calls at once, some of which are cancelled, each sees the writes before it and none after it.
func TestQueueOrder(t *testing.T) {
	var (
		k       Keys
		all     sync.WaitGroup
		mu      sync.Mutex
		written = map[string]int{}
	)
	names := []string{"a", "b", "c"}
	issued := map[string]int{}
	for range 3000 {
		some := names[rand.IntN(2) : 2+rand.IntN(2)] //nolint:gosec // a choice
		write := rand.IntN(2) == 0                   //nolint:gosec // a choice
		place := k.Read
		if write {
			place = k.Write
		}
		turn, before := place(some...), map[string]int{}
		ctx, cancel := context.WithCancel(t.Context())
		if rand.IntN(10) == 0 { //nolint:gosec // a choice
			cancel()
			write = false
		}
		for _, name := range some {
			before[name] = issued[name]
			if write {
				issued[name]++
			}
		}
		all.Go(func() {
			defer cancel()
			defer turn.End()
			if turn.Wait(ctx) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for name, n := range before {
				if written[name] != n {
					t.Errorf("%s: %d writes are seen, want %d", name, written[name], n)
				}
				if write {
					written[name]++
				}
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	if len(k.queues) != 0 || fmt.Sprint(written) != fmt.Sprint(issued) {
		t.Errorf("%d queues are left, %v of %v", len(k.queues), written, issued)
	}
}
