package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// prelude offers run(code), which evaluates and returns a JSON text, and keeps
// the host's functions under the global host.
var prelude = engine.Source{Name: "prelude.js", Code: `
globalThis.host = globalThis.__host; delete globalThis.__host;
const evaluate = eval;
({
  run: (code) => { const v = evaluate(code); return v === undefined ? "undefined" : JSON.stringify(v) },
  backtrace: () => { Error.stackTraceLimit = 64; Error.prepareStackTrace = undefined; return new Error().stack },
  blank: (n, wide) => "".padEnd(n, (wide ? "\u0100" : "-").repeat(4096)),
  sum: (...n) => n.reduce((a, b) => a + b, 0),
  describe: (v) => Object.prototype.toString.call(v) + ":" + (v instanceof Uint8Array ? v.join() : JSON.stringify(v)),
  check: (namespace) => namespace,
})`}

var opened = sync.OnceValues(func() (*engine.Engine, error) {
	return engine.Open(context.Background(), engine.Options{})
})

func open(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func boot(t testing.TB, funcs map[string]engine.Func) *engine.Image {
	t.Helper()
	names := make([]string, 0, len(funcs))
	for name := range funcs {
		names = append(names, name)
	}
	image, err := open(t).Boot(t.Context(), prelude, names)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func start(t testing.TB, o engine.IsolateOptions) *engine.Isolate {
	t.Helper()
	i, err := open(t).NewIsolate(t.Context(), boot(t, o.Funcs), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

func scope(t testing.TB, budget time.Duration) *engine.Scope {
	return engine.NewScope(t.Context(), budget, nil)
}

// run evaluates code in a turn of its own and returns the JSON of its value.
func run(i *engine.Isolate, s *engine.Scope, code string) (out string, err error) {
	err = i.Do(s, func(vm *engine.VM) error {
		v, err := vm.Call("run", code)
		if err != nil {
			return err
		}
		defer vm.Free(v)
		out, err = vm.Text(v)
		return err
	})
	return out, err
}

func TestEvaluates(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for code, want := range map[string]string{
		`1+1`:                      `2`,
		`"é😀".length`:              `3`,
		`[..."a😀"].length`:         `2`,
		`new Date(0).toString()`:   `"Thu Jan 01 1970 00:00:00 GMT+0000"`,
		`Math.random() < 1`:        `true`,
		`typeof globalThis.__host`: `"undefined"`,
		`2n**64n+""`:               `"18446744073709551616"`,
	} {
		t.Run(code, func(t *testing.T) {
			if got, err := run(i, scope(t, 0), code); err != nil || got != want {
				t.Errorf("%s: got %s, %v; want %s", code, got, err, want)
			}
		})
	}
}

func TestGoValuesBecomeJavaScript(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for want, in := range map[string]any{
		`[object Null]:null`:               nil,
		`[object Undefined]:undefined`:     engine.Undefined,
		`[object Boolean]:true`:            true,
		`[object Number]:-7`:               -7,
		`[object Number]:9007199254740991`: int64(1<<53 - 1),
		`[object Number]:0.1`:              0.1,
		`[object Number]:1e+300`:           1e300,
		`[object Number]:null`:             math.NaN(),
		`[object String]:"a\"é😀"`:          `a"é😀`,
		`[object Uint8Array]:1,2,255`:      []byte{1, 2, 255},
		`[object Uint8Array]:`:             []byte{},
		`[object Array]:["a",1,[true]]`:    []any{"a", 1, []any{true}},
		`[object Object]:{"z":1,"a":{"b":null}}`: engine.Object{{Name: "z", Value: 1}, {
			Name: "a", Value: engine.Object{{Name: "b", Value: nil}},
		}},
		`[object Object]:{"x":[1,2.5]}`: json.RawMessage(`{"x":[1,2.5]}`),
	} {
		t.Run(want, func(t *testing.T) {
			var got string
			err := i.Do(scope(t, 0), func(vm *engine.VM) error {
				v, err := vm.Call("describe", in)
				if err != nil {
					return err
				}
				defer vm.Free(v)
				got, err = vm.Text(v)
				return err
			})
			if err != nil || got != want {
				t.Errorf("%#v: got %s, %v; want %s", in, got, err, want)
			}
		})
	}
	err := i.Do(scope(t, 0), func(vm *engine.VM) error {
		_, err := vm.Call("describe", struct{}{})
		return err
	})
	if err == nil {
		t.Error("a struct has no JavaScript form and was accepted")
	}
}

func TestArguments(t *testing.T) {
	var got []any
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"take": func(c *engine.Call) (any, error) {
			for n := range c.Len() {
				got = append(got, c.Value(n))
			}
			return nil, nil
		},
	}})
	_, err := run(i, scope(t, 0), `host.take(undefined, null, true, 1, -1.5, 2**40, -0, "x".repeat(100000).length, "a"+"b",
		new Uint8Array([1,2,3]).subarray(1), new Uint16Array([258]), new DataView(new ArrayBuffer(4), 1, 2), new ArrayBuffer(2),
		[1,["x"]], {}, ()=>1, Symbol("s"), 5n, 2n**70n)`)
	want := []any{
		nil, nil, true, 1.0, -1.5, float64(1 << 40), math.Copysign(0, -1), 100000.0, "ab",
		[]byte{2, 3},
		[]byte{2, 1},
		[]byte{0, 0},
		[]byte{0, 0},
		[]any{1.0, []any{"x"}},
		engine.Unsupported{Type: "object"},
		engine.Unsupported{Type: "function"},
		engine.Unsupported{Type: "symbol"},
		engine.Unsupported{Type: "bigint"},
		engine.Unsupported{Type: "bigint"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v; want %#v", got, err, want)
	}
}

func TestCallAccessors(t *testing.T) {
	check := func(c *engine.Call) (any, error) {
		return fmt.Sprint(
			c.String(0), c.Int(1), c.Int(2), c.Int(3), c.Float(4), c.Bool(5), c.Bool(6), c.Strings(7), c.IsNullish(8),
			c.IsNullish(99), c.Bytes(0) == nil,
		), nil
	}
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{"check": check}})
	got, err := run(i, scope(t, 0), `host.check("s", 7.9, 1e300, "x", "1.5", "", [], ["a", 1], null)`)
	if want := `"s7 9223372036854775807 0 1.5false true [a 1] true true true"`; err != nil ||
		strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestErrorsBothWays(t *testing.T) {
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"fail": func(c *engine.Call) (any, error) {
			switch name := c.String(0); name {
			case "plain":
				return nil, errors.New("plain text")
			case "panic":
				panic("boom")
			default:
				return nil, &engine.Error{Name: name, Message: "m", Props: []engine.Field{{Name: "code", Value: 42}}}
			}
		},
	}})
	for _, c := range []struct{ name, code, want string }{
		{"a plain error", `try { host.fail("plain") } catch (e) { String(e) + (e instanceof Error) }`, `"Error: plain texttrue"`},
		{"TypeError", `try { host.fail("TypeError") } catch (e) { String(e) + (e instanceof TypeError) + e.code }`, `"TypeError: mtrue42"`},
		{
			"AbortError",
			`try { host.fail("AbortError") } catch (e) { e.name + e.message + (e instanceof DOMException) }`,
			`"AbortErrormtrue"`,
		},
		{
			"SyntaxError",
			`try { host.fail("SyntaxError") } catch (e) { [e instanceof SyntaxError, e instanceof DOMException] }`,
			`[true,false]`,
		},
		{
			"QuotaExceededError",
			`try { host.fail("QuotaExceededError") } catch (e) { [e.name, e instanceof DOMException] }`,
			`["QuotaExceededError",true]`,
		},
		{
			"another name",
			`try { host.fail("ImagesError") } catch (e) {
				[e.name, e instanceof DOMException, e.constructor === Error, String(e), e.code] }`,
			`["ImagesError",false,true,"ImagesError: m",42]`,
		},
		{"a name of the host", `try { host.fail("Mine") } catch (e) { [String(e), e.constructor === Error] }`, `["Mine: m",true]`},
		{"InternalError", `try { host.fail("InternalError") } catch (e) { [e.name, e.constructor === Error] }`, `["Error",true]`},
		{"RangeError", `try { host.fail("RangeError") } catch (e) { e.constructor.name }`, `"RangeError"`},
		{"thrown in JavaScript", `try { null.x } catch (e) { e.constructor.name }`, `"TypeError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := run(i, scope(t, 0), c.code); err != nil || got != c.want {
				t.Errorf("%s: got %s, %v; want %s", c.code, got, err, c.want)
			}
		})
	}
	_, err := run(i, scope(t, 0), "function inner() { throw new RangeError('too far', {cause: new Error('why')}) }\ninner()")
	var e *engine.Error
	if !errors.As(err, &e) || e.Name != "RangeError" || e.Message != "too far" || !strings.Contains(e.Stack, "at inner (") {
		t.Fatalf("got %#v", err)
	}
	if cause, ok := e.Props[0].Value.(*engine.Error); !ok || cause.Message != "why" {
		t.Errorf("the cause is lost: %#v", e.Props)
	}
	for code, want := range map[string]string{
		`throw "text"`:                   "Error: text",
		`throw 5`:                        "Error: 5",
		`throw undefined`:                "Error: undefined",
		`throw {toString() { throw 1 }}`: "Error: a value that cannot be shown",
		`throw {get name() { throw 1 }}`: "Error: [object Object]",
		`const a = new Error("ring"); a.cause = a; throw a`: "Error: ring",
	} {
		t.Run(code, func(t *testing.T) {
			if _, err := run(i, scope(t, 0), code); err == nil || err.Error() != want {
				t.Errorf("%s: got %v; want %s", code, err, want)
			}
		})
	}
	if _, err := run(i, scope(t, 0), `host.fail("panic")`); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("a panic in a host function: got %v", err)
	}
	if got, err := run(i, scope(t, 0), `1`); err != nil || got != "1" {
		t.Errorf("after the panic: got %s, %v", got, err)
	}
}

func TestPromises(t *testing.T) {
	said := make(chan string, 16)
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"later": func(c *engine.Call) (any, error) {
			what := c.String(0)
			return engine.Async(func(context.Context) (any, error) {
				if what == "panic" {
					panic("async boom")
				}
				if what == "bad" {
					return nil, &engine.Error{Name: "TypeError", Message: what}
				}
				return []any{what, []byte{1}}, nil
			}), nil
		},
		"say": func(c *engine.Call) (any, error) { said <- c.String(0); return engine.Undefined, nil },
	}})
	for _, c := range []struct{ name, code, want string }{
		{"resolved", `host.later("good").then(v => host.say(v[0] + v[1].length)); 0`, "good1"},
		{"rejected", `host.later("bad").catch(e => host.say(String(e) + (e instanceof TypeError))); 0`, "TypeError: badtrue"},
		{"a panic", `host.later("panic").catch(e => host.say(String(e))); 0`, "Error: host function panicked: async boom"},
		{"fifty in turn", `(async () => { for (let i = 0; i < 50; i++) await host.later("x"); host.say("50") })(); 0`, "50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := run(i, scope(t, 0), c.code); err != nil {
				t.Fatal(err)
			}
			if got := receive(t, said); got != c.want {
				t.Errorf("%s: got %q, want %q", c.code, got, c.want)
			}
		})
	}
}

func receive[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came in 10 s")
	}
	return v
}

func TestScopeEndCancelsItsWork(t *testing.T) {
	cancelled := make(chan error, 1)
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"wait": func(*engine.Call) (any, error) {
			return engine.Async(func(ctx context.Context) (any, error) {
				<-ctx.Done()
				cancelled <- context.Cause(ctx)
				return nil, ctx.Err()
			}), nil
		},
	}})
	s := scope(t, 0)
	if _, err := run(i, s, `host.wait(); 0`); err != nil {
		t.Fatal(err)
	}
	reason := errors.New("client went away")
	s.End(reason)
	if err := receive(t, cancelled); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

func TestRejections(t *testing.T) {
	var got []string
	i := start(t, engine.IsolateOptions{OnRejection: func(_ *engine.Scope, e *engine.Error) { got = append(got, e.Error()) }})
	for _, c := range []struct {
		name, code string
		want       []string
	}{
		{"floating", `Promise.reject(new Error("floating")); 0`, []string{"Error: floating"}},
		{"caught", `Promise.reject(new Error("caught")).catch(() => 0); 0`, nil},
		{"handled later", `const p = Promise.reject(new Error("late")); Promise.resolve().then(() => p.catch(() => 0)); 0`, nil},
		{"in an async function", `(async () => { throw new TypeError("in async") })(); 0`, []string{"TypeError: in async"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got = nil
			if _, err := run(i, scope(t, 0), c.code); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.code, got, c.want)
			}
		})
	}
}

func TestModules(t *testing.T) {
	i := start(t, engine.IsolateOptions{Modules: map[string]string{"cloudflare:workers": "export const env = {a: 1}"}})
	for name, c := range map[string]struct{ code, want, err string }{
		"exports":     {code: `export default {n: 1}; export const b = 2`, want: `{"b":2,"default":{"n":1}}`},
		"host module": {code: `import {env} from "cloudflare:workers"; export default env.a`, want: `{"default":1}`},
		"await":       {code: `const v = await Promise.resolve(3); export default v`, want: `{"default":3}`},
		"dynamic":     {code: `const {env} = await import("cloudflare:workers"); export default env.a`, want: `{"default":1}`},
		"throws":      {code: `throw new RangeError("at load")`, err: "RangeError: at load"},
		"syntax":      {code: "export default {\n  a: ,\n}", err: "SyntaxError: "},
		"missing":     {code: `import "nowhere"`, err: `no such module "nowhere"`},
		"never":       {code: `await new Promise(() => {})`, err: "never settled"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			err := i.Do(scope(t, 0), func(vm *engine.VM) error {
				ns, err := vm.Import(engine.Source{Name: name + ".js", Code: c.code})
				if err != nil {
					return err
				}
				v, err := vm.Call("describe", ns)
				if err != nil {
					return err
				}
				defer vm.Free(v)
				got, err = vm.Text(v)
				return err
			})
			got = strings.TrimPrefix(got, "[object Module]:")
			if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("got %s, %v; want %s%s", got, err, c.want, c.err)
			}
		})
	}
}

func TestSnapshotGoesOn(t *testing.T) {
	e := open(t)
	i := start(t, engine.IsolateOptions{})
	if _, err := run(i, scope(t, 0), `globalThis.seen = new Map([["k", [1,2,3]]]); globalThis.big = "x".repeat(3e6); 0`); err != nil {
		t.Fatal(err)
	}
	image, err := i.Snapshot(scope(t, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(i, scope(t, 0), `seen.set("k", "changed"); 0`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		j, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := run(j, scope(t, 0), `const r = [seen.get("k"), big.length]; seen.set("k", "other"); r`)
		if err != nil || got != "[[1,2,3],3000000]" {
			t.Errorf("got %s, %v", got, err)
		}
		j.Close()
	}
	if err := i.Do(scope(t, 0), func(*engine.VM) error { panic(errors.New("on purpose")) }); err == nil {
		t.Error("a turn that panics has no error")
	}
	if got, err := run(i, scope(t, 0), `seen.get("k")`); err != nil || got != "[1,2,3]" {
		t.Errorf("after a reset: got %s, %v", got, err)
	}
}

func TestClosedIsolate(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	i.Close()
	if _, err := run(i, scope(t, 0), `1`); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestConcurrentTurns(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	var wg sync.WaitGroup
	for n := range 32 {
		wg.Go(func() {
			for range 20 {
				got, err := run(i, scope(t, time.Second), fmt.Sprintf(`%d*2`, n))
				if err != nil || got != fmt.Sprint(n*2) {
					t.Errorf("got %s, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestIdle(t *testing.T) {
	idle := make(chan *engine.Scope, 8)
	release := make(chan struct{})
	i := start(t, engine.IsolateOptions{
		OnIdle: func(s *engine.Scope) { idle <- s },
		Funcs: map[string]engine.Func{"wait": func(*engine.Call) (any, error) {
			return engine.Async(func(context.Context) (any, error) { <-release; return nil, nil }), nil
		}},
	})
	waiting, hung := scope(t, 0), scope(t, 0)
	if _, err := run(i, waiting, `host.wait().then(() => 0); 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := run(i, hung, `new Promise(() => {}); 0`); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, idle); got != hung {
		t.Error("the scope with work under way is called idle")
	}
	close(release)
	if got := receive(t, idle); got != waiting {
		t.Error("the other scope was expected")
	}
}

// cheapest is the shortest of several times of code whose result must be want: other work of the machine can affect any of them.
func cheapest(t *testing.T, i *engine.Isolate, code, want string) time.Duration {
	t.Helper()
	best := time.Duration(1<<63 - 1)
	for range 5 {
		began := time.Now()
		if got, err := run(i, scope(t, time.Minute), code); err != nil || got != want {
			t.Fatalf("%s: %s, error %v; want %s", code, got, err, want)
		}
		best = min(best, time.Since(began))
	}
	return best
}
