package engine_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// snapshotted is an isolate that starts over from where code left it.
func snapshotted(t testing.TB, code string, o engine.IsolateOptions) *engine.Isolate {
	t.Helper()
	i := start(t, o)
	if _, err := run(i, scope(t, 0), code); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Snapshot(scope(t, 0)); err != nil {
		t.Fatal(err)
	}
	i.Rewind()
	return i
}

// TestRewind: after any change of the heap by a turn, Rewind restores it for the next one.
func TestRewind(t *testing.T) {
	i := snapshotted(t, `globalThis.list = [1, 2]; globalThis.n = 0; Object.defineProperty(globalThis, "state", {
		get: () => [list.join(), n, typeof extra, Object.keys(Array.prototype).length, [].push.name].join("|") })`, engine.IsolateOptions{})
	want := `"1,2|0|undefined|0|push"`
	for _, c := range []struct{ name, code string }{
		{"a number", `n++`},
		{"a list and a global", `list.push(3); globalThis.extra = {}`},
		{"a prototype", `Array.prototype.push = null; Array.prototype.mine = 1; delete globalThis.list`},
		{"many objects", `for (let k = 0; k < 1e5; k++) list.push({ k })`},
		{"3 MB", `globalThis.extra = new Uint8Array(3 << 20).fill(7)`},
		{"40 MB", `globalThis.extra = []; for (let k = 0; k < 40; k++) extra.push(new Uint8Array(1 << 20).fill(7))`},
		{"an exception", `throw new Error("x")`},
		{"too much memory", `new Uint8Array(1e9)`},
		{"promises", `Promise.reject(new Error("x")); new Promise(() => {})`},
		{"a deep recursion", `(function f() { f() })()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 {
				// Some of these throw: only the memory that they leave counts.
				_, _ = run(i, scope(t, 0), c.code)
				i.Rewind()
				if got, err := run(i, scope(t, 0), `state`); err != nil || got != want {
					t.Fatalf("after %s: %s, %v; want %s", c.code, got, err, want)
				}
				i.Rewind()
			}
		})
	}
}

// TestRewindDropsWhatIsUnderWay: a promise from before Rewind has no reaction after it.
func TestRewindDropsWhatIsUnderWay(t *testing.T) {
	gate, ended := make(chan struct{}), make(chan struct{})
	i := snapshotted(t, `globalThis.seen = 0`, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"wait": func(*engine.Call) (any, error) {
			return engine.Async(func(context.Context) (any, error) {
				defer close(ended)
				<-gate
				return 1, nil
			}), nil
		},
	}})
	if _, err := run(i, scope(t, 0), `host.wait().then(() => seen++); 0`); err != nil {
		t.Fatal(err)
	}
	i.Rewind()
	close(gate)
	<-ended
	for range 2 {
		if got, err := run(i, scope(t, 0), `seen`); err != nil || got != "0" {
			t.Fatalf("got %s, %v", got, err)
		}
	}
}

// TestRewindAfterAKill: an isolate that was killed starts over, and can be put
// back after that.
func TestRewindAfterAKill(t *testing.T) {
	i := snapshotted(t, `globalThis.n = 0`, engine.IsolateOptions{})
	for range 3 {
		if _, err := run(i, scope(t, 5e6), `n = 5; for (;;) {}`); err == nil {
			t.Fatal("it was not ended")
		}
		for range 2 {
			if got, err := run(i, scope(t, 0), `n++`); err != nil || got != "0" {
				t.Fatalf("got %s, %v", got, err)
			}
			i.Rewind()
		}
	}
}

// TestImageHoldsNoGarbage: memory freed before an image does not make it larger.
func TestImageHoldsNoGarbage(t *testing.T) {
	size := func(code string) int {
		i := start(t, engine.IsolateOptions{})
		if _, err := run(i, scope(t, 0), code); err != nil {
			t.Fatal(err)
		}
		image, err := i.Snapshot(scope(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		return image.Size()
	}
	lean := size(`0`)
	littered := size(
		`for (let k = 0; k < 100; k++) { const all = []; for (let n = 0; n < 1000; n++) all.push({ n, text: "x".repeat(n) }) }`,
	)
	if littered > lean+256<<10 {
		t.Errorf("the image takes %s bytes, %s without garbage", strconv.Itoa(littered), strconv.Itoa(lean))
	}
}

// BenchmarkRewind is a turn that changes a little, and starting over.
func BenchmarkRewind(b *testing.B) {
	i := snapshotted(b, `globalThis.list = Array.from({ length: 2e4 }, (_, n) => ({ n }))`, engine.IsolateOptions{})
	s := scope(b, 0)
	for b.Loop() {
		if _, err := run(i, s, `list.push(list.length)`); err != nil {
			b.Fatal(err)
		}
		i.Rewind()
	}
}
