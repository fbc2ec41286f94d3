package engine

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestStackEnd: code that goes as deep as it can within the trace of a call that was too deep, and there calls all kinds of
// functions, leaves the last 8 KB of the C stack untouched. The stack lies at the start of linear memory, which is zero in a
// new isolate.
func TestStackEnd(t *testing.T) {
	const (
		kept    = 8 << 10
		prelude = `const works = [
			() => Math.max(1),
			() => /^((a|b)*c|(?<year>\d{4})-(?=\d)|[^\p{L}]){1,5}$/u.exec("2026-1abcabc"),
			() => new RegExp("((((((((a|b)+)?)*)|c){2,3}))))".slice(0, -1), "iv"),
			() => (0, eval)("(async ({ a: [b = 1, ...c] }, ...d) => { for await (const x of a?.b) class A { #x = 1 } })"),
			() => new Date(Date.parse("Tue, 24 Nov 2026 10:00:00 GMT")).toLocaleString() + new Date(2026, 1, 2).toString(),
			() => (1e300 / 7).toString(7) + (1 / 3).toFixed(100) + 5e-324.toPrecision(100),
			() => Array.from({ length: 50 }, (_, i) => (i * 37) % 51).sort((a, b) => a - b),
			() => JSON.parse(JSON.stringify({ a: [1, { b: { get c() { return [2] } } }] }, null, 2), (k, v) => v),
			() => "\u1E9B\u0323".normalize("NFKD").toLocaleUpperCase().localeCompare("b"),
			() => (2n ** 2000n / 3n ** 500n).toString(),
			() => new AggregateError([new Error("x")], "y", { cause: new Error("z") }),
			() => Reflect.apply(Math.min, null, { length: 300 }),
			() => Promise.all([1, (async () => { await 1; throw 1 })()]).catch(() => 1),
			() => Object.keys(new Proxy({ a: 1 }, { ownKeys: (t) => Reflect.ownKeys(t), get: () => 1 })),
			() => new Set([1]).union(new Set(Iterator.from([3]).map((x) => x))).size,
		];
		let calls = 0, tracing = 0, within = 0;
		function descend(n, count) {
			count();
			try { descend(n + 1, count) } catch {}
			for (const work of works) try { work() } catch {}
		}
		Error.prepareStackTrace = () => {
			if (!tracing++) descend(0, () => within++);
			return "";
		};
		function deep() { calls++; deep() }
		({ run: () => { try { deep() } catch {} return String(calls > 3000 && within > 50 && within < 500) } })`
	)
	e, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	image, err := e.Boot(t.Context(), Source{"prelude.js", prelude}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i, err := e.NewIsolate(t.Context(), image, IsolateOptions{OnReset: func(_ *Scope, cause error) { t.Errorf("it ended: %v", cause) }})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	err = i.Do(NewScope(t.Context(), time.Minute, nil), func(vm *VM) error {
		v, err := vm.Call("run")
		if err != nil {
			return err
		}
		defer vm.Free(v)
		if got, err := vm.Text(v); err != nil || got != "true" {
			t.Errorf("got %s, %v", got, err)
		}
		last := slices.IndexFunc(vm.memory(), func(b byte) bool { return b != 0 })
		if t.Logf("%d bytes of the stack are left", last); last < kept {
			t.Errorf("%d bytes of the stack are left, want %d", last, kept)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestBelowEntryPoint: a trace taken by the entry point begins with the code that ran.
func TestBelowEntryPoint(t *testing.T) {
	const ran = "    at fetch (worker.js:3:20)\n    at dispatch (pages:prelude:17:76042)\n"
	for taken, want := range map[string]string{
		"    at lastTrace (pages:prelude:10:197)\n    at backtrace (pages:prelude:17:79156)\n" + ran: ran,
		"    at backtrace (prelude.js:7:3)\n" + ran:                                                  ran,
		"    at backtrace (prelude.js:7:3)":                                                          "",
		ran:                                                                                          ran,
		"":                                                                                           "",
	} {
		if got := belowEntryPoint(taken); got != want {
			t.Errorf("%q: %q", taken, got)
		}
	}
}
