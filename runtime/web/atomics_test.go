package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// ECMA-262, 25.4.
func TestAtomics(t *testing.T) {
	cases := []struct{ name, expression, want string }{
		{
			"operations of an Int32Array",
			`(() => { const a = new Int32Array(2); return [Atomics.add(a, 0, 5), Atomics.sub(a, 0, 2), Atomics.or(a, 0, 8),
				Atomics.and(a, 0, 9), Atomics.xor(a, 0, 1), a[0]] })()`,
			"0,5,3,11,9,8",
		},
		{
			"store, exchange and load",
			`(() => { const a = new Uint8Array(new SharedArrayBuffer(4));
				return [Atomics.store(a, 1, 300.9), a[1], Atomics.exchange(a, 1, -1), Atomics.load(a, 1)] })()`,
			"300,44,44,255",
		},
		{
			"compareExchange",
			`(() => { const a = new Int8Array([-1]); return [Atomics.compareExchange(a, 0, 255, 7), Atomics.compareExchange(a, 0, 8, 9),
				a[0]] })()`,
			"-1,7,7",
		},
		{
			"an unsigned BigInt",
			`(() => { const a = new BigUint64Array(1); return [Atomics.sub(a, 0, 1n), a[0], Atomics.add(a, 0, 2n), a[0]] })()`,
			"0,18446744073709551615,18446744073709551615,1",
		},
		{
			"values that wrap",
			`(() => { const a = new Int32Array(1); Atomics.add(a, 0, 2 ** 32 + 3);
				return [a[0], Object.is(Atomics.store(a, 0, -0), 0), Atomics.store(a, 0, Infinity), a[0]] })()`,
			"3,true,Infinity,0",
		},
		{
			"a SharedArrayBuffer that grows",
			`(() => { const s = new SharedArrayBuffer(8, { maxByteLength: 2000 }), v = new Uint8Array(s), w = new Int32Array(s, 4);
				v[7] = 1; s.grow(1996); v[1990] = 7; Atomics.add(w, 400, 3);
				try { s.grow(8) } catch (e) {
				return [s.growable, s.maxByteLength, v.length, w.length, w[0], v[1990], w[400], e.name] } })()`,
			"true,2000,1996,498,16777216,7,3,RangeError",
		},
		{"a SharedArrayBuffer as long as it may be", `new SharedArrayBuffer(8, { maxByteLength: 8 }).growable`, "true"},
		{"isLockFree", `[1, 2, 3, 4, 8, 16].map(Atomics.isLockFree)`, "true,true,false,true,true,false"},
		{"a Float64Array", `Atomics.add(new Float64Array(1), 0, 1)`, "throws TypeError"},
		{"a Uint8ClampedArray", `Atomics.add(new Uint8ClampedArray(1), 0, 1)`, "throws TypeError"},
		{"an array", `Atomics.load([1], 0)`, "throws TypeError"},
		{"an index too large", `Atomics.load(new Int32Array(1), 1)`, "throws RangeError"},
		{"a negative index", `Atomics.load(new Int32Array(1), -1)`, "throws RangeError"},
		{"a number for a BigInt", `Atomics.store(new BigInt64Array(1), 0, 1)`, "throws TypeError"},
		{
			"a buffer that goes meanwhile",
			`(() => { const b = new ArrayBuffer(8), a = new Int32Array(b);
				Atomics.add(a, 0, { valueOf() { b.transfer(); return 1 } }) })()`,
			"throws TypeError",
		},
		{"wait on shared memory", `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0)`, "throws TypeError"},
		{"wait on an array of its own", `Atomics.wait(new Int32Array(1), 0, 0)`, "throws TypeError"},
		{"notify without a waiter", `Atomics.notify(new Int32Array(1), 0)`, "0"},
		{"notify of an Int16Array", `Atomics.notify(new Int16Array(1), 0)`, "throws TypeError"},
		{
			"waitAsync for another value",
			`JSON.stringify(Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 1))`,
			`{"async":false,"value":"not-equal"}`,
		},
		{
			"waitAsync without time",
			`JSON.stringify(Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0))`,
			`{"async":false,"value":"timed-out"}`,
		},
		{
			"the shape of Atomics",
			`Object.prototype.toString.call(Atomics) + Atomics.add.length + Object.keys(Atomics).length`,
			"[object Atomics]30",
		},
	}
	var expressions []string
	for _, c := range cases {
		expressions = append(expressions, c.expression)
	}
	for i, got := range evaluate(t, expressions) {
		c := cases[i]
		t.Run(c.name, func(t *testing.T) {
			if got != c.want {
				t.Errorf("%s: %s, want %s", c.expression, got, c.want)
			}
		})
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
