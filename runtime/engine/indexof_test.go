package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestIndexOf compares indexOf with a loop over the units: texts
// by chance, of few characters, of one byte and of two, whole, cut and joined, around
// the lengths that are compared at once.
func TestIndexOf(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	const code = `(() => {
		let seed = SEED;
		const below = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * n); };
		const one = (all) => all[below(all.length)];
		const narrow = ["a", "b", "a", "\u00ff", "\0"], wide = ["a", "b", "⛵", "\u2661", "\ud83d", "\udea3", "\uffff", "\u0161"];
		// the last is "a" in its lower byte
		const text = (length, units) => Array.from({ length }, () => one(units)).join("");
		const units = (t) => Array.from({ length: t.length }, (_, i) => t.charCodeAt(i));
		const at = (t, o, i) => { for (let k = 0; k < o.length; k++) if (t[i + k] !== o[k]) return false; return true; };
		const first = (t, o, from) => { for (let i = Math.max(from, 0); i + o.length <= t.length; i++) if (at(t, o, i)) return i;
		return -1; };
		const last = (t, o, from) => { for (let i = Math.min(from, t.length - o.length); i >= 0; i--) if (at(t, o, i)) return i;
		return -1; };
		const all = (t, o) => {
		const out = []; for (let i = first(t, o, 0); i >= 0; i = first(t, o, i + Math.max(o.length, 1))) out.push(i); return out; };
		let found = 0;
		const wrong = [];
		for (let n = 0; n < COUNT; n++) {
			const kind = below(3), of = kind === 0 ? wide : narrow;
			const filler = text(1, of).repeat(n % 60 === 0 ? 9000 : one([0, 0, 5, 15, 16, 17, 31, 33, 200]));
			let t = text(below(20), of) + filler + text(below(20), of);
			if (below(3) === 0 || t.length > 9000) t = t.slice(below(4), t.length - below(20));
			// a long one shares the memory of its source
			if (below(3) === 0) t = JSON.parse(JSON.stringify(t)); // not joined any more
			const o = below(3) ? t.substr(below(t.length + 1), one([0, 1, 1, 2, 3, 20])) : text(below(4), below(2) ? wide : narrow),
			from = below(t.length + 3) - 1;
			const T = units(t), O = units(o);
			const start = Math.min(Math.max(from, 0), t.length), want = [
				o.length === 0 ? start : first(T, O, start), o.length === 0 ? start : last(T, O, start),
				first(T, O, start) >= 0 || o.length === 0,
				at(T, O, start) && start + o.length <= t.length, o.length <= start && at(T, O, start - o.length),
			];
			const got = [t.indexOf(o, from), t.lastIndexOf(o, from), t.includes(o, from), t.startsWith(o, from), t.endsWith(o, from)];
			if (o.length > 0) {
				const places = all(T, O);
				want.push(places.length + 1, t.length + places.length);
				got.push(t.split(o).length, t.replaceAll(o, o + "-").length);
				want.push(places[0] ?? -1);
				got.push(t.search(new RegExp(RegExp.escape(o))));
				const parts = t.split(o);
				want.push(t);
				got.push(parts.join(o));
			}
			if (got[0] >= 0) found++;
			if (JSON.stringify(got) !== JSON.stringify(want)) wrong.push(JSON.stringify([t, o,
			from]) + ": " + JSON.stringify(got) + ", want " + JSON.stringify(want));
		}
		return [found > COUNT / 8 && found < COUNT, wrong.slice(0, 3)];
	})()`
	count := "3000"
	if testing.Short() {
		count = "600"
	}
	for _, seed := range []string{"1", "2", "3"} {
		got, err := run(i, scope(t, time.Minute), strings.NewReplacer("SEED", seed, "COUNT", count).Replace(code))
		if err != nil || got != `[true,[]]` {
			t.Errorf("seed %s: %s, error %v", seed, got, err)
		}
	}
}

// TestIndexOfIsShort: a text is looked through many units at once.
func TestIndexOfIsShort(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	cost := func(expression string) time.Duration {
		return cheapest(
			t, i,
			`(() => { globalThis.narrow ??= "ab".repeat(1 << 19).slice(1); globalThis.wide ??= "a⛵".repeat(1 << 18); let n = 0;
				for (let i = 0; i < 4; i++) n += Number(`+expression+`); return n })()`,
			"0",
		)
	}
	each := cost(`narrow.lastIndexOf("c") + 1`)
	for expression, times := range map[string]time.Duration{
		`narrow.indexOf("c") + 1`: 10, `narrow.includes("cab")`: 10, `narrow.split("c").length - 1`: 10,
		`narrow.replaceAll("c", "").length - narrow.length`: 5,
	} {
		t.Run(expression, func(t *testing.T) {
			if got := cost(expression); got*times > each {
				t.Errorf("%s takes %v, and not a %dth of the %v of a loop", expression, got, times, each)
			}
		})
	}
	if got := cost(`wide.indexOf("c") + 1`); got*5 > each {
		t.Errorf("two bytes a unit take %v, and not a 5th of the %v of a loop over twice the units", got, each)
	}
}
