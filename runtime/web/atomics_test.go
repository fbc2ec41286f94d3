package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// ECMA-262, 25.4.
func TestAtomics(t *testing.T) {
	cases := [][2]string{
		{
			`(() => { const a = new Int32Array(2); return [Atomics.add(a, 0, 5), Atomics.sub(a, 0, 2), Atomics.or(a, 0, 8),
				Atomics.and(a, 0, 9), Atomics.xor(a, 0, 1), a[0]] })()`,
			"0,5,3,11,9,8",
		},
		{
			`(() => { const a = new Uint8Array(new SharedArrayBuffer(4));
				return [Atomics.store(a, 1, 300.9), a[1], Atomics.exchange(a, 1, -1), Atomics.load(a, 1)] })()`,
			"300,44,44,255",
		},
		{
			`(() => { const a = new Int8Array([-1]); return [Atomics.compareExchange(a, 0, 255, 7), Atomics.compareExchange(a, 0, 8, 9),
				a[0]] })()`,
			"-1,7,7",
		},
		{
			`(() => { const a = new BigUint64Array(1); return [Atomics.sub(a, 0, 1n), a[0], Atomics.add(a, 0, 2n), a[0]] })()`,
			"0,18446744073709551615,18446744073709551615,1",
		},
		{
			`(() => { const a = new Int32Array(1); Atomics.add(a, 0, 2 ** 32 + 3);
				return [a[0], Object.is(Atomics.store(a, 0, -0), 0), Atomics.store(a, 0, Infinity), a[0]] })()`,
			"3,true,Infinity,0",
		},
		{`[1, 2, 3, 4, 8, 16].map(Atomics.isLockFree)`, "true,true,false,true,true,false"},
		{`Atomics.add(new Float64Array(1), 0, 1)`, "throws TypeError"},
		{`Atomics.add(new Uint8ClampedArray(1), 0, 1)`, "throws TypeError"},
		{`Atomics.load([1], 0)`, "throws TypeError"},
		{`Atomics.load(new Int32Array(1), 1)`, "throws RangeError"},
		{`Atomics.load(new Int32Array(1), -1)`, "throws RangeError"},
		{`Atomics.store(new BigInt64Array(1), 0, 1)`, "throws TypeError"},
		{
			`(() => { const b = new ArrayBuffer(8), a = new Int32Array(b);
				Atomics.add(a, 0, { valueOf() { b.transfer(); return 1 } }) })()`,
			"throws TypeError",
		},
		{`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0)`, "throws TypeError"},
		{`Atomics.wait(new Int32Array(1), 0, 0)`, "throws TypeError"},
		{`Atomics.notify(new Int32Array(1), 0)`, "0"},
		{`Atomics.notify(new Int16Array(1), 0)`, "throws TypeError"},
		{`JSON.stringify(Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 1))`, `{"async":false,"value":"not-equal"}`},
		{`JSON.stringify(Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0))`, `{"async":false,"value":"timed-out"}`},
		{`Object.prototype.toString.call(Atomics) + Atomics.add.length + Object.keys(Atomics).length`, "[object Atomics]30"},
	}
	var expressions []string
	for _, c := range cases {
		expressions = append(expressions, c[0])
	}
	for i, got := range evaluate(t, expressions) {
		if got != cases[i][1] {
			t.Errorf("%s: %s, want %s", cases[i][0], got, cases[i][1])
		}
	}
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"waiting and waking",
			`const a = new Int32Array(new SharedArrayBuffer(8)), first = Atomics.waitAsync(a, 0, 0), second = Atomics.waitAsync(a, 1, 0),
				timed = Atomics.waitAsync(a, 1, 0, 5);
		const woken = [Atomics.notify(a, 0), Atomics.notify(a, 0), Atomics.notify(a, 1, 1)];
		return [first.async, await first.value, await second.value, await timed.value, ...woken]`,
			`[true,"ok","ok","timed-out",1,0,1]`,
		},
	})
}

// ECMA-262, 9.10: what a WeakRef was made of lives until the job ends, and no longer.
func TestWeakRef(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a target within its job",
			`const ref = new WeakRef({ x: 1 }); const now = ref.deref()?.x; await null; return [now, typeof ref.deref()]`,
			`[1,"undefined"]`,
		},
		{"a target after its job", `const ref = (() => new WeakRef({ x: 1 }))(); await null; return typeof ref.deref()`, `"undefined"`},
		{
			"a target that is kept",
			`let kept = { x: 1 }; const ref = new WeakRef(kept); await null; const first = ref.deref().x; kept = null;
				const second = ref.deref().x; await null; return [first, second, typeof ref.deref()]`,
			`[1,1,"undefined"]`,
		},
		{
			"the shape of the class",
			`class Ref extends WeakRef {} return [new Ref({}) instanceof Ref, WeakRef.name, WeakRef.length,
				WeakRef.prototype.constructor === WeakRef, Object.prototype.toString.call(new WeakRef([]))]`,
			`[true,"WeakRef",1,true,"[object WeakRef]"]`,
		},
		{
			"wrong receivers and targets",
			`const out = []; for (const f of [() => WeakRef({}), () => new WeakRef(1), () => WeakRef.prototype.deref.call({})]) {
				try { f() } catch (e) { out.push(e.name) } } return out`,
			`["TypeError","TypeError","TypeError"]`,
		},
		{
			"a registry",
			`const seen = []; const registry = new FinalizationRegistry((held) => seen.push(held)); (() => registry.register({}, "gone"))();
				const during = seen.length; await null; await null; return [during, seen]`,
			`[0,["gone"]]`,
		},
	})
}
