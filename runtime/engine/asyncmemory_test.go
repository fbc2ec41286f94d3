package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestOutsideIsBounded: Go holds so much for a request and no more, whether it is many operations, their arguments, or their results.
func TestOutsideIsBounded(t *testing.T) {
	gate := make(chan struct{})
	wait := func(ctx context.Context, value any) (any, error) {
		select {
		case <-gate:
			return value, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"wait": func(c *engine.Call) (any, error) {
			given := c.Bytes(0)
			return engine.Async(func(ctx context.Context) (any, error) { return wait(ctx, len(given)) }), nil
		},
		"find": func(c *engine.Call) (any, error) {
			n := c.Int(0)
			return engine.Async(func(context.Context) (any, error) {
				return engine.Object{{Name: "found", Value: []any{make([]byte, n)}}}, nil
			}), nil
		},
	}})
	for _, c := range []struct{ code, want string }{
		{`for (;;) host.wait(null)`, "10000 pending operations"},
		{`const some = new Uint8Array(1 << 20); for (;;) host.wait(some)`, "hold more than 128 MB"},
	} {
		s := scope(t, 20*time.Second)
		_, err := run(i, s, c.code)
		s.End(nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.code, err, c.want)
		}
	}
	s := scope(t, 20*time.Second)
	if _, err := run(i, s, `globalThis.failed = ""; host.find(2 ** 28).catch((error) => { failed = error.message }); 0`); err != nil {
		t.Fatal(err)
	}
	for got := ""; !strings.Contains(got, "hold more than 128 MB"); {
		var err error
		if got, err = run(i, s, `failed`); err != nil || got != `""` && !strings.Contains(got, "hold") {
			t.Fatalf("a large result: %s, %v", got, err)
		}
	}
	close(gate)
	for n := range 200 { // finished operations hold nothing
		if _, err := run(i, s, `globalThis.done = 0; host.wait(new Uint8Array(1 << 20)).then(() => done++); 0`); err != nil {
			t.Fatalf("after %d MB in turn: %v", n, err)
		}
		for got := ""; got != "1"; {
			var err error
			if got, err = run(i, s, `done`); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestResultTooLarge: a result that the heap cannot take rejects its promise.
func TestResultTooLarge(t *testing.T) {
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"find": func(c *engine.Call) (any, error) {
			n := c.Int(0)
			return engine.Async(func(context.Context) (any, error) { return make([]byte, n), nil }), nil
		},
	}})
	s := scope(t, 0)
	code := `globalThis.failed = ""; globalThis.kept = new Uint8Array(64 << 20); host.find(100 << 20).catch((error) => {
		failed = error.name + ": " + error.message }); 0`
	if _, err := run(i, s, code); err != nil {
		t.Fatal(err)
	}
	for got := `""`; got != `"RangeError: invalid array buffer length"`; {
		var err error
		if got, err = run(i, s, `failed`); err != nil || got != `""` && got != `"RangeError: invalid array buffer length"` {
			t.Fatalf("got %s, %v", got, err)
		}
	}
}

// TestReadsAreHeld: bytes that Asyncs read count before they have them, within a request and
// across the requests of an isolate.
func TestReadsAreHeld(t *testing.T) {
	const size = 40 << 20
	var now, most, missing atomic.Int32   // missing are those that have not asked yet
	var all atomic.Pointer[chan struct{}] // the channel is closed when none is
	expect := func(n int32) {
		asked := make(chan struct{})
		all.Store(&asked)
		missing.Store(n)
	}
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"read": func(*engine.Call) (any, error) {
			return engine.Async(func(ctx context.Context) (any, error) {
				if missing.Add(-1) == 0 {
					close(*all.Load())
				}
				if err := engine.ReserveInTurn(ctx, size); err != nil {
					return nil, err
				}
				n := now.Add(1)
				defer now.Add(-1)
				for old := most.Load(); n > old; old = most.Load() {
					most.CompareAndSwap(old, n)
				}
				select { // as many have their bytes as may
				case <-*all.Load():
				case <-ctx.Done():
				}
				return engine.Undefined, engine.Reserve(ctx, 1)
			}), nil
		},
	}})
	told := func(s *engine.Scope, want string) {
		t.Helper()
		for got := ""; got != want; {
			var err error
			if got, err = run(i, s, `said`); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect(50)
	one := scope(t, 20*time.Second)
	if _, err := run(i, one, `globalThis.said = ""; Promise.all(Array.from({ length: 50 }, () => host.read())).catch((error) => {
		said = error.message.slice(0, 50) }); 0`); err != nil {
		t.Fatal(err)
	}
	told(one, `"the pending operations of this request hold more t"`)
	one.End(nil)
	for end := time.Now().Add(20 * time.Second); now.Load() > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d reads go on after their request", now.Load())
		}
	}
	expect(20)
	if _, err := run(i, scope(t, 20*time.Second), `globalThis.said = 0; globalThis.failed = ""; 0`); err != nil {
		t.Fatal(err)
	}
	var last *engine.Scope
	for range 20 { // each within its own bound
		last = scope(t, 20*time.Second)
		if _, err := run(i, last, `host.read().then(() => said++, (error) => { said = error.message }); 0`); err != nil {
			t.Fatal(err)
		}
	}
	told(last, "20")
	if n := most.Load(); n > engine.MaxOutside/size {
		t.Errorf("%d reads of %d MB had their bytes at the same time", n, size>>20)
	}
}
