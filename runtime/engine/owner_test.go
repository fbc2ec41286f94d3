package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestOwners: code that awaits a promise continues in the scope that awaits it. Each step is a turn of the scope before its colon; say
// notes the current scope, and load is work in Go that settles a promise for its caller.
func TestOwners(t *testing.T) {
	const pending = `o: globalThis.p = new Promise((y, n) => { globalThis.yes = y; globalThis.no = n })`
	for _, c := range []struct {
		name, want string
		steps      []string
	}{
		{"await", "go:B a:A", []string{pending, `A: (async () => { await p; say("a") })()`, `B: yes(); say("go")`}},
		{"then", "b1:B a1:A", []string{pending, `A: p.then((v) => say("a" + v))`, `B: p.then((v) => say("b" + v)); yes(1)`}},
		{"rejected", "b1:B a1:A", []string{pending, `A: p.catch((v) => say("a" + v))`, `B: p.catch((v) => say("b" + v)); no(1)`}},
		{"rejected, and passed on", "a1:A", []string{pending, `A: p.then(() => say("not")).catch((v) => say("a" + v))`, `B: no(1)`}},
		{"an object with a then", "thenA:A aA:A", []string{
			pending, `A: p.then((v) => v()).then((v) => say("a" + v))`,
			`B: yes(() => ({ then(f) { say("thenA"); f("A") } }))`,
		}},
		{"finally", "a:A", []string{pending, `A: p.finally(() => say("a"))`, `B: yes()`}},
		{"three scopes in their order", "b1:B b2:B a1:A a2:A c1:C", []string{
			pending, `A: p.then(() => say("a1"))`, `C: p.then(() => say("c1"))`, `A: p.then(() => say("a2"))`,
			`B: p.then(() => say("b1")); p.then(() => say("b2")); yes()`,
		}},
		{"from one to the next", "a:A b:B c:A", []string{
			pending, `A: globalThis.q = p.then(() => say("a"))`, `B: globalThis.r = q.then(() => say("b"))`,
			`A: r.then(() => say("c"))`, `C: yes()`,
		}},
		{"all of several", "a1,2:A", []string{
			pending, `o: globalThis.q = new Promise((y) => { globalThis.also = y })`,
			`A: Promise.all([p, q]).then((v) => say("a" + v))`, `B: yes(1)`, `C: also(2)`,
		}},
		{"async iteration", "a1:A a2:A end:A", []string{
			`o: globalThis.take = []; globalThis.next = () => new Promise((y) => take.push(y))`,
			`A: (async () => { for await (const v of { [Symbol.asyncIterator]: () => ({ next }) }) say("a" + v); say("end") })()`,
			`B: take.shift()({ value: 1 })`, `C: take.shift()({ value: 2 })`, `B: take.shift()({ done: true })`,
		}},
		{"settled already", "b1:B", []string{pending, `A: yes(1)`, `B: p.then((v) => say("b" + v))`}},
		{"without an owner", "top:B", []string{pending, `o: p.then(() => say("top"))`, `B: yes()`}},
		{"settled without an owner", "a:o", []string{pending, `A: p.then(() => say("a"))`, `o: yes()`}},
		{"what the first of them began", "aloaded:A bloaded:B b2loaded:B", []string{
			`A: globalThis.shared = load(); shared.then((v) => say("a" + v))`,
			`B: (async () => { say("b" + await shared); say("b2" + await load()) })()`,
		}},
		{"one that has ended", "b:B", []string{pending, `D: p.then(() => say("never"))`, `end D`, `B: p.then(() => say("b")); yes()`}},
		{"after one that has ended", "b2:B", []string{
			pending, `D: globalThis.q = p.then(() => 2)`, `end D`, `A: yes()`,
			`B: Promise.race([q, 2]).then((v) => say("b" + v))`,
		}},
		{"many", "50005000:A", []string{
			pending,
			`A: globalThis.sum = 0; for (let i = 1; i <= 10000; i++) p.then(() => { sum += i; if (i === 10000) say(sum) })`, `B: yes()`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(play(t, c.steps), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestOwnersAreKilledAlone: code that continues for a scope uses the budget of that scope, and the scope that settled its promise is done.
func TestOwnersAreKilledAlone(t *testing.T) {
	resets := make(chan error, 1)
	i := start(t, engine.IsolateOptions{OnReset: func(_ *engine.Scope, cause error) { resets <- cause }})
	slow, quick := scope(t, 20*time.Millisecond), scope(t, 20*time.Millisecond)
	if _, err := run(i, slow, `globalThis.p = new Promise((yes) => { globalThis.yes = yes }); p.then(() => { for (;;); }); 1`); err != nil {
		t.Fatal(err)
	}
	if out, err := run(i, quick, `yes(); "done"`); err != nil || out != `"done"` {
		t.Fatalf("the one that settled it: %s, %v", out, err)
	}
	killed, ok := errors.AsType[*engine.KilledError](<-resets)
	if !ok || killed.Scope != slow {
		t.Errorf("the one that goes on: %v", killed)
	}
	if quick.CPU() >= 20*time.Millisecond {
		t.Errorf("the one that settled it was charged %v", quick.CPU())
	}
}

// TestOwnersAreFreed: no memory remains of jobs that went from scope to scope, nor of those whose scope had ended.
func TestOwnersAreFreed(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for n := range 200 {
		waits, settles := scope(t, 0), scope(t, 0)
		if _, err := run(
			i, waits,
			`globalThis.p = new Promise((yes) => { globalThis.yes = yes }); for (let k = 0; k < 100; k++) p.then((v) => v.length); 1`,
		); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			waits.End(nil)
		}
		if _, err := run(i, settles, `yes(new Array(3e5).fill(1)); 1`); err != nil {
			t.Fatalf("the %dth time: %v", n, err)
		}
		waits.End(nil)
		settles.End(nil)
	}
}

// play runs the steps and returns the calls of say.
func play(t *testing.T, steps []string) (said []string) {
	t.Helper()
	i := start(t, engine.IsolateOptions{
		Funcs: map[string]engine.Func{
			"say": func(c *engine.Call) (any, error) {
				said = append(said, fmt.Sprintf("%s:%v", c.String(0), c.Scope().Value))
				return nil, nil
			},
			"load": func(*engine.Call) (any, error) {
				return engine.Async(func(context.Context) (any, error) { return "loaded", nil }), nil
			},
		},
	})
	scopes := map[string]*engine.Scope{}
	for _, name := range []string{"o", "A", "B", "C", "D"} {
		scopes[name] = engine.NewScope(t.Context(), 0, name)
	}
	scopes["o"].Share()
	for _, step := range steps {
		if step == "end D" {
			scopes["D"].End(nil)
			continue
		}
		name, code, _ := strings.Cut(step, ": ")
		if _, err := run(
			i, scopes[name],
			"const { say, load } = host; globalThis.say = (l) => say(`${l}`); globalThis.load = load; undefined;\n"+code+"; undefined",
		); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	// Running operations end, and so do the turns that follow them. Between turns nothing changes.
	const most = 100_000
	for n, idle := 0, false; !idle; n++ {
		err := i.Do(scopes["o"], func(*engine.VM) error {
			idle = true
			for _, s := range scopes {
				idle = idle && s.Idle()
			}
			return nil
		})
		if err != nil || n == most {
			t.Fatalf("not idle after %d turns: %v", n, err)
		}
	}
	return said
}
