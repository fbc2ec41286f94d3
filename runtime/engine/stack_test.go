package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// deep calls work from every depth of the stack, the deepest first: a call that does not fit must throw an exception that code can catch.
const deep = `
	let calls = 0;
	const overflow = (e) => { if (!(e instanceof RangeError) && e.message !== "stack overflow") throw e };
	(function descend() {
		try { descend() } catch (e) { overflow(e) }
		try { calls++; work() } catch (e) { overflow(e) }
	})();
	calls > 3000`

// TestStack: at any depth of the stack the engine's own functions work or throw a RangeError; none runs off its end,
// which would be the end of the isolate.
func TestStack(t *testing.T) {
	i := bombIsolate(t, func(cause error) { t.Errorf("the isolate ended: %v", cause) })
	for name, work := range map[string]string{
		"a call":       `() => Math.max(1)`,
		"numbers":      `() => (1e300 / 7).toString(7) + (1 / 3).toFixed(100) + 5e-324.toPrecision(100) + 1e21.toExponential(100)`,
		"parsing":      `() => parseFloat("1." + "234567".repeat(100)) + Number("0x" + "f".repeat(100))`,
		"bigints":      `() => (2n ** 2000n / 3n ** 500n).toString() + BigInt("9".repeat(500)) * 7n`,
		"dates":        `() => new Date(Date.parse("Tue, 24 Nov 2026 10:00:00 GMT")).toString() + new Date(0).toISOString()`,
		"JSON":         `() => JSON.parse(JSON.stringify({ a: [1, { b: [2, { c: "x" }] }] }, null, 2))`,
		"expressions":  `() => /^((a|b)*c|(?<year>\d{4})-(?=\d)|[^\p{L}]){1,5}$/u.exec("2026-1abcabc")`,
		"compiling":    `() => new RegExp("((((((((a|b)+)?)*)|c){2,3}))))".slice(0, -1))`,
		"replacing":    `() => "a-b-c".replace(/(\w)-/g, (m, c) => c.toUpperCase()).split("-").join("+")`,
		"sorting":      `() => Array.from({ length: 100 }, (_, i) => (i * 37) % 101).sort((a, b) => a - b).toSorted()`,
		"text":         `() => "\u1E9B\u0323".normalize("NFKD").toLocaleUpperCase().localeCompare("b")`,
		"many":         `() => Math.max(...new Array(3000).fill(1))`,
		"apply":        `() => Reflect.apply(Math.min, null, { length: 3000 })`,
		"flattening":   `() => [[[[[[1]]]]]].flat(Infinity).concat([2], [3])`,
		"generators":   `() => [...(function* () { yield* [1, 2, 3] })()].map((x) => x)`,
		"classes":      `() => { class A { #x = 1; get x() { return this.#x } } class B extends A {} return new B().x }`,
		"proxies":      `() => new Proxy({}, { get: (t, k) => Reflect.get(t, k) }).x`,
		"errors":       `() => new Error("x", { cause: new Error("y") }).stack`,
		"destructured": `() => { const { a: [b, ...c], ...d } = { a: [1, 2, 3], e: 4 }; return { b, c, ...d } }`,
		"promises":     `() => Promise.all([1, Promise.resolve(2)]).then((x) => x)`,
		"collections":  `() => new Set([1, 2]).union(new Set(new Map([[3, 4]]).keys())).size`,
		"bytes":        `() => new DataView(new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).slice().buffer).getFloat64(0)`,
		"the host":     `() => globalThis.structuredClone?.([1]) ?? performance.now()`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := run(i, scope(t, 20*time.Second), "const work = "+work+";"+deep); err != nil || got != "true" {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

// TestDepth: recursion through built-in functions has this depth at least, and ends in a RangeError.
func TestDepth(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for name, c := range map[string]struct {
		least string
		code  string // counts its depth in n
	}{
		"functions":    {"3800", `const f = () => { n++; f() }; f()`},
		"constructors": {"3800", `class A { constructor() { n++; new A() } } new A()`},
		"bound":        {"3800", `const f = () => { n++; f.bind(1)() }; f()`},
		"async":        {"3500", `const f = async () => { n++; await f() }; f().catch(() => 1)`},
		"getters":      {"3400", `const o = { get x() { n++; return o.x } }; o.x`},
		"apply":        {"2800", `const f = () => { n++; f.apply(null, []) }; f()`},
		"map":          {"1550", `const f = () => { n++; [1].map(() => f()) }; f()`},
		"a visitor":    {"1500", `const v = { visit(x) { n++; return x.map((y) => this.visit(y)) } }; const a = []; a[0] = a; v.visit(a)`},
		"reduce":       {"1500", `const f = () => { n++; [1, 2].reduce(() => f()) }; f()`},
		"sort":         {"750", `const f = () => { n++; [1, 2].sort(() => f()) }; f()`},
		"replace":      {"850", `const f = () => { n++; "a".replace(/a/, () => f()) }; f()`},
	} {
		t.Run(name, func(t *testing.T) {
			code := `(() => { let n = 0; try { ` + c.code + ` } catch (e) { if (!(e instanceof RangeError)) throw e }
				return n >= ` + c.least + ` || n })()`
			if got, err := run(i, scope(t, 20*time.Second), code); err != nil || got != "true" {
				t.Errorf("%s deep, error %v; want %s", got, err, c.least)
			}
		})
	}
}
