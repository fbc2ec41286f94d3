package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestArrayMoves does the same by chance to an array and to an object that only looks
// like one, whose elements QuickJS moves one at a time, by ECMA-262's steps: their elements and the results of the methods must be the
// same. Some arrays have holes, some are longer than their elements, some take no more.
func TestArrayMoves(t *testing.T) {
	testmachine.Long(t)
	i := start(t, engine.IsolateOptions{})
	const code = `(() => {
		let seed = SEED;
		const below = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * n); };
		let made = 0;
		const value = () => { made++; return below(3) === 0 ? "t" + made : below(2) ? { made } : made; };
		const values = (n) => Array.from({ length: n }, value);
		const told = (a) => { const out = [a.length]; for (const k of Object.keys(a)) out.push(k, a[k]); return out; };
		const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);
		const wrong = [];
		let slow = 0;
		for (let n = 0; n < COUNT; n++) {
			const first = values(below(4) ? below(12) : below(200)), like = { ...first, length: first.length };
			const array = [...first], steps = [first.length];
			Object.defineProperty(like, "length", { enumerable: false });
			const twice = (name, ...args) => {
				const did = [array, like].map((a) => {
					try { return Array.prototype[name].apply(a, args); } catch (e) { return e.name; }
				});
				steps.push(name + "(" + args.map((a) => Object(a) === a ? "{}" : a) + ")");
				const [x, y] = did.map((d, i) => d === (i ? like : array) ? ["itself"] : Array.isArray(d) ? told(d) : [d]);
				return same(x, y);
			};
			for (let k = 0; k < 12; k++) {
				const at = below(array.length + 2) - 1;
				let ok = true;
				switch (below(12)) {
				case 0: case 1: ok = twice("splice", at, below(5)); break;
				case 2: ok = twice("splice", at, below(3), ...values(below(5))); break;
				case 3: ok = twice("splice", at, 0, ...values(1 + below(array.length + 3))); break;
				case 4: case 5: ok = twice("unshift", ...values(1 + below(3))); break;
				case 6: ok = twice("unshift", ...values(below(array.length + 5))); break;
				case 7: ok = twice("shift"); break;
				case 8: ok = twice("pop"); break;
				case 9: ok = twice("copyWithin", at, below(array.length + 1), below(array.length + 2)); break;
				case 10: ok = twice("push", ...values(below(3))); break;
				case 11:
					if (below(4)) break;
					steps.push("hole"); slow++;
					if (below(2)) { delete array[at]; delete like[at]; } else { array.length += 2; like.length += 2; }
				}
				if (!ok || !same(told(array), told(like))) { wrong.push(steps.join(" ") + ": " + told(array) + ", want " + told(like));
				break; }
			}
		}
		return [slow > 0, wrong.slice(0, 3)];
	})()`
	count := "1200"
	if testing.Short() {
		count = "200"
	}
	for _, seed := range []string{"1", "2", "3"} {
		got, err := run(i, scope(t, time.Minute), strings.NewReplacer("SEED", seed, "COUNT", count).Replace(code))
		if err != nil || got != `[true,[]]` {
			t.Errorf("seed %s: %s, error %v", seed, got, err)
		}
	}
}

// TestArrayMovesFree: elements moved out of an array are freed, and those moved within it are not. If a quarter leaked, memory would run
// out.
func TestArrayMovesFree(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for _, step := range []string{
		`a.splice(n % 60, 1); a.push(big())`, `a.splice(n % 60, 3, big(), big(), big())`,
		`a.splice(n % 60, 0, big(), big()); a.length = 64`,
		`a.unshift(big()); a.pop()`, `a.unshift(big(), big(), big()); a.splice(60)`,
		`a.copyWithin(n % 3, 5); a[n % 64] = big()`, `a.copyWithin(5, n % 3); a[n % 64] = big()`,
		`a.shift(); a.splice(20, 0, big())`,
	} {
		t.Run(step, func(t *testing.T) {
			code := `(() => {
			const big = () => new Uint8Array(1 << 16).fill(7), a = Array.from({ length: 64 }, big);
			for (let n = 0; n < 8000; n++) { ` + step + ` }
			return [a.length >= 60, a.every((b) => b.length === 1 << 16 && b[n(b)] === 7)];
			function n(b) { return b.length - 1; }
		})()`
			if got, err := run(i, scope(t, time.Minute), code); err != nil || got != `[true,true]` {
				t.Errorf("%s: %s, error %v", step, got, err)
			}
		})
	}
}

// TestArrayLimits covers ECMA-262's rules for arrays that take no more elements, and for a
// class of one's own.
func TestArrayLimits(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for _, c := range []struct{ name, code, want string }{
		{
			"unshift, not extensible",
			`[Object.preventExtensions([1,2,3])].map((a) => { try { a.unshift(0) } catch (e) { return [e.name, a] } })`,
			`[["TypeError",[1,2,3]]]`,
		},
		{
			"splice, sealed",
			`[Object.seal([1,2,3])].map((a) => { try { a.splice(0, 1) } catch (e) { return [e.name, a.length] } })`,
			`[["TypeError",3]]`,
		},
		{
			"pop, frozen",
			`[Object.freeze([1,2,3])].map((a) => { try { a.pop() } catch (e) { return [e.name, a] } })`,
			`[["TypeError",[1,2,3]]]`,
		},
		{
			"unshift, fixed length",
			`(() => { const a = [1,2,3]; Object.defineProperty(a, "length", { writable: false }); try { a.unshift(0) } catch (e) {
				return [e.name, a] } })()`,
			`["TypeError",[1,2,3]]`,
		},
		{
			"sort, frozen and in order",
			`[Object.freeze([1,2,3])].map((a) => { try { a.sort() } catch (e) { return [e.name, a] } })`,
			`[["TypeError",[1,2,3]]]`,
		},
		{
			"sort, frozen and empty", `Object.freeze([]).sort()`, `[]`,
		},
		{
			"sort by equals, frozen", `[1].map((a) => { try { Object.freeze([a]).sort(() => 0) } catch (e) { return e.name } })`,
			`["TypeError"]`,
		},
		{
			"sort of a proxy stores all", `(() => { const set = []; const p = new Proxy([3,1,4,,undefined], {
				set(a, k, v) { set.push(k); a[k] = v; return true }, deleteProperty(a, k) { set.push("-" + k); return delete a[k] } });
				p.sort(); return set })()`,
			`["0","1","2","3","-4"]`,
		},
		{
			"splice of a subclass",
			`(() => { class Own extends Array {} const a = Own.from([1,2,3,4]); const out = a.splice(1, 2);
				return [out instanceof Own, out, a] })()`,
			`[true,[2,3],[1,4]]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := run(i, scope(t, time.Minute), c.code); err != nil || got != c.want {
				t.Errorf("%s: %s, error %v; want %s", c.code, got, err, c.want)
			}
		})
	}
}

// TestManyArguments: a call takes the 65,536 bytes that programs cut texts into, and no
// more than the stack has room for. Those of a bound function lie on it once more.
func TestManyArguments(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for _, c := range []struct{ name, code, want string }{
		{"String.fromCharCode", `String.fromCharCode.apply(null, new Uint8Array(1 << 16)).length`, "65536"},
		{"spread", `Math.max(...Array.from({ length: 120000 }, (_, i) => i))`, "119999"},
		{"rest parameters", `((...all) => all.length + all[119999])(...new Array(120000).fill(1))`, "120001"},
		{"arguments", `(function () { return arguments.length + arguments[119999] }).apply(null, new Array(120000).fill(1))`, "120001"},
		{"push", `((a) => { a.push(...new Uint8Array(120000)); return a.length })([1])`, "120001"},
		{"new Array", `new Array(...new Uint8Array(120000)).length`, "120000"},
		{
			"Reflect.construct",
			`Reflect.construct(class { constructor(...all) { this.n = all.length } }, new Uint8Array(120000)).n`,
			"120000",
		},
		{"a generator", `[...(function* () { yield arguments.length })(...new Uint8Array(120000))]`, "[120000]"},
		{
			"a bound function",
			`((f) => [120000, 130000].map((n) => { try { return f.bind(null, 1).apply(null, new Uint8Array(n)) } catch (e) {
				return e.name } }))((...all) => all.length)`,
			`[120001,"RangeError"]`,
		},
		{
			"beyond the limit",
			`(() => { try { return Math.max(...new Uint8Array(1 << 17)) } catch (e) { return e.name } })()`,
			`"RangeError"`,
		},
		{
			"in a deep call",
			`((f) => { const down = (n) => n ? down(n - 1) + 0 : f(); try { return down(100) } catch (e) {
				return e.name } })(() => Math.max(...new Uint8Array(120000)))`,
			"0",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := run(i, scope(t, time.Minute), c.code)
			if err != nil || got != c.want {
				t.Errorf("%s: %s, error %v; want %s", c.code, got, err, c.want)
			}
		})
	}
}

// TestArrayMovesAreShort: moving an element takes a fraction of the time of an interpreter's step, and the array stays as fast as before.
func TestArrayMovesAreShort(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	cost := func(step string) time.Duration {
		return cheapest(
			t, i,
			`(() => { const a = new Array(1 << 14).fill(1); for (let n = 0; n < 64; n++) { `+step+` } return a.length })()`,
			"16384",
		)
	}
	each := cost(`for (let k = 1; k < 1 << 14; k++) a[k] = a[k - 1]`)
	for _, step := range []string{
		`a.splice(1, 1); a.push(1)`, `a.splice(1, 2); a.splice(1, 0, 1, 2)`, `a.unshift(1); a.pop()`,
		`a.unshift(1, 2, 3); a.length -= 3`, `a.copyWithin(1, 0)`, `a.copyWithin(0, 1)`,
	} {
		t.Run(step, func(t *testing.T) {
			if got := cost(step); got*20 > each {
				t.Errorf("%s takes %v, and not a 20th of the %v of a loop that moves the elements", step, got, each)
			}
		})
	}
}
