package engine_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// contexts is a prelude with the least that AsyncLocalStorage is made of.
const contexts = `(() => {
const { follow, load, say } = globalThis.__host;
let current;
const enter = (next) => { current = next; follow(next !== undefined); };
const run = (next, f, ...args) => {
  const before = current;
  enter(next);
  try { return f(...args); } finally { enter(before); }
};
globalThis.run = run;
globalThis.enter = enter;
globalThis.load = load;
globalThis.say = (label) => say(label + "=" + current);
return {
  follow(f) { const made = current; return function (...args) { return run(made, () => f.apply(this, args)); }; },
  leave() { enter(undefined); },
};
})()`

// TestFollow lists the context of code, job by job.
func TestFollow(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"await of a value", `run(1, async () => { await 0; say("a"); }); say("b")`, "b=undefined a=1"},
		{"await of a promise", `const { promise, resolve } = Promise.withResolvers(); run(1, async () => { await promise; say("a"); });
			run(2, async () => { await promise; say("b"); resolve; }); resolve()`, "a=1 b=2"},
		{"settled by another", `let r; const p = new Promise((x) => { r = x; }); run(1, () => p.then(() => say("a")));
			p.then(() => say("b")); run(3, () => r())`, "a=1 b=undefined"},
		{"rejections", `run(1, () => Promise.reject(0).catch(() => say("a")).finally(() => say("b")))`, "a=1 b=1"},
		{"async iteration", `async function* g() { yield 1; say("in"); yield 2; } run(1, async () => {
			for await (const x of g()) say("x" + x); })`, "x1=1 in=1 x2=1"},
		{"a microtask", `run(1, () => queueMicrotask(() => say("a"))); queueMicrotask(() => say("b"))`, "a=1 b=undefined"},
		{"a foreign thenable", `run(1, async () => { const v = await { then(f) { say("then"); f(7); } }; say("v" + v); })`, "then=1 v7=1"},
		{"entered until the job ends", `enter(1); Promise.resolve().then(() => { say("a"); enter(2); }).then(() => say("b"))`, "a=1 b=1"},
		{"entered in a job", `Promise.resolve().then(() => enter(5)); Promise.resolve().then(() => say("a"))`, "a=undefined"},
		{"nested", `run(1, async () => { await run(2, async () => { await 0; say("in"); }); say("out"); })`, "in=2 out=1"},
		{"dynamic import", `run(1, async () => { const m = await import("pages:a"); say(m.default); })`, "x=1"},
		{"all", `run(1, async () => { await Promise.all([0, Promise.resolve(1)]); say("a"); })`, "a=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(t, c.code); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLoaded loads a provided module in the middle of a job.
func TestLoaded(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"both kinds of export", `const m = load("pages:a"); say(m.default + m.b)`, "x2=undefined"},
		{"once", `say(load("pages:a").made === load("pages:a").made)`, "true=undefined"},
		{"an unknown one", `try { load("pages:none"); } catch (e) { say(e.message); }`, `no such module "pages:none"=undefined`},
		{"one that throws", `try { load("pages:bad"); } catch (e) { say(e.message); }`, "bad=undefined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := said(t, c.code); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// said runs code as a module and returns the arguments of its calls of say.
func said(t *testing.T, code string) (all string) {
	t.Helper()
	e := open(t)
	image, err := e.Boot(t.Context(), engine.Source{Name: "contexts.js", Code: contexts}, []string{"follow", "load", "say"})
	if err != nil {
		t.Fatal(err)
	}
	isolate, err := e.NewIsolate(t.Context(), image, engine.IsolateOptions{
		Funcs: map[string]engine.Func{
			"follow": func(c *engine.Call) (any, error) { c.Follow(c.Bool(0)); return nil, nil },
			"load":   func(c *engine.Call) (any, error) { return engine.Loaded(c.String(0)), nil },
			"say": func(c *engine.Call) (any, error) {
				if all != "" {
					all += " "
				}
				all += c.String(0)
				return nil, nil
			},
		},
		Modules: map[string]string{
			"pages:a":   `export const b = 2, made = {}; export default "x"`,
			"pages:bad": `throw new Error("bad"); export default 1`,
		},
		OnRejection: func(_ *engine.Scope, e *engine.Error) { t.Error(e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(isolate.Close)
	s := engine.NewScope(t.Context(), 0, nil)
	err = isolate.Do(s, func(vm *engine.VM) error {
		v, err := vm.Import(engine.Source{Name: "test.js", Code: code})
		if err == nil {
			vm.Free(v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
