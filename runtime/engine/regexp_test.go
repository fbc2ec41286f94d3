package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestUnicodeSets is what the flag v reserves in a class and nowhere else, by
// ECMA-262 (22.2.1, ClassSetSyntaxCharacter, ClassSetReservedDoublePunctuator).
// Each text is the pattern's matches in the subject, or "SyntaxError".
func TestUnicodeSets(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	const subject = `a-b / c && || !! == << ,, :: ;; ## %% @@ ~~ -- 2024-02 ⛵-é`
	for pattern, want := range map[string]string{
		`-`: `["-","-","-","-","-"]`, `a-b`: `["a-b"]`, `\d{4}-\d{2}`: `["2024-02"]`, `/`: `["/"]`, `c(?= &)|a(?!/)`: `["a","c"]`,
		`--`: `["--"]`, `&&|\|\|`: `["&&","||"]`, `!!|==|<<|,,`: `["!!","==","<<",",,"]`,
		`::|;;|##|%%|@@|~~`: `["::",";;","##","%%","@@","~~"]`,
		`(?<!-)a|(-)é|⛵-`:   `["a","⛵-"]`, `-+`: `["-","--","-","-"]`, `x?/`: `["/"]`, `[\w--[b-z]]-`: `["a-","4-"]`,
		`[[a-z]&&[ab]]-?`: `["a-","b"]`,
		`[\-]{2}`:         `["--"]`, `[\q{⛵-|--}]`: "SyntaxError", `[\q{⛵|\&\&}]`: `["&&","⛵"]`, `\p{RGI_Emoji}`: `["⛵"]`,
		`[&&]`: "SyntaxError", `[a!!b]`: "SyntaxError", `[-a]`: "SyntaxError", `[a-]`: "SyntaxError",
		`[/]`: "SyntaxError", `[(]`: "SyntaxError", `[|]`: "SyntaxError",
		`)`: "SyntaxError", `{`: "SyntaxError", `]`: "SyntaxError",
	} {
		t.Run(pattern, func(t *testing.T) {
			for _, made := range []string{`new RegExp(PATTERN, "gv")`, `new RegExp(PATTERN, "giv")`} {
				code := `(() => { const PATTERN = String.raw` + "`" + pattern + "`" + `; try { return "` + subject + `".match(` + made +
					`) } catch (e) { return e.name } })()`
				got, err := run(i, scope(t, time.Minute), code)
				if err != nil || got != want && got != `"`+want+`"` {
					t.Errorf("%s of /%s/: %s, error %v; want %s", made, pattern, got, err, want)
				}
			}
		})
	}
	if got, err := run(i, scope(t, time.Minute), `[/a-b&&/v.test("a-b&&"), /a-b&&/v.source]`); err != nil || got != `[true,"a-b&&"]` {
		t.Errorf("a literal: %s, error %v", got, err)
	}
}

// TestSearch holds what an expression finds to what it finds when it is tried at
// each position by the flag y, which nothing looks ahead for: patterns and texts by
// chance, of few characters, so that many nearly match.
func TestSearch(t *testing.T) {
	testmachine.Long(t)
	i := start(t, engine.IsolateOptions{})
	const code = `(() => {
		let seed = SEED;
		const below = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * n); };
		const one = (all) => all[below(all.length)];
		const atoms = ["a", "b", "-", "é", "⛵", "🚣", "\\ud83d", "\\udea3", ".", "\\s", "\\w", "\\b", "[ab]", "[^a]", "[a-c-]", "[]",
		"[^]", "[é-⛵]", "[\\uffff]", "[^\\0-\\udfff]", "[\\ue000-\\uffff]", "[🚣a]", "[a-bd-ef-gi-jl-mo-pr-su-vx-y]"];
		const part = (deep) => {
			const text = () => Array.from({ length: below(4) }, () => part(deep - 1)).join("");
			const atom = deep > 0 && below(3) === 0
				? one([() => "(" + text() + ")", () => "(?:" + text() + "|" + text() + ")", () => "(?=" + text() + ")",
				() => "(?!" + text() + ")", () => "(?<=" + text() + ")", () => "(?i:" + text() + ")", () => "(?m:^" + text() + ")"])()
				: one(atoms);
			return atom + (atom.includes("(?=") || atom.includes("(?!") || atom.includes("(?<") || atom === "\\b" ? "" : one(["", "",
			"", "", "*", "+", "?", "{0}", "{2}", "{0,2}?"]));
		};
		const made = () => {
			const head = one(["", "", "^", "^", "^ab", "^a-", "$", "|^"]);
			const body = Array.from({ length: 1 + below(3) }, () => part(2)).join("");
			return one([(p) => p, (p) => p, (p) => "(?:" + p + ")" + one(["", "?", "{0}", "{2}"]), (p) => p + "|" + part(1)])(head + body);
		};
		let tried = 0, matched = 0;
		const wrong = [];
		for (let n = 0; n < COUNT; n++) {
			const source = made(), flags = one(["", "", "i", "m", "s", "u", "v", "iu", "mu", "g"]);
			let found, sticky;
			try { found = new RegExp(source, flags); sticky = new RegExp(source, flags + "y"); } catch { continue; }
			for (let k = 0; k < 4; k++) {
				const wide = below(2), text = Array.from({
				length: below(9) }, () => one(wide ? ["a", "b", "-", "A", "é", "\n", "⛵", "🚣", "\ud83d", "\udea3", "\uffff"] : ["a",
				"b", "-", "A", "é", "\n", "y"])).join("");
				const from = flags === "g" ? below(text.length + 1) : 0;
				found.lastIndex = from;
				const got = found.exec(text);
				let want = null;
				for (let at = from; at <= text.length && !want; at++) {
					if (/[uv]/.test(flags) && at > from && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1,
					at + 1))) continue; // within a character
					sticky.lastIndex = at;
					want = sticky.exec(text);
				}
				tried++;
				if (want) matched++;
				const told = (m) => m && JSON.stringify([m.index, ...m]);
				if (told(got) !== told(want)) wrong.push(String(found) + " in " + JSON.stringify(text) + " from " + from + ": " +
					told(got) + ", want " + told(want));
			}
		}
		return [tried > COUNT && matched > tried / 8 && matched < tried, wrong.slice(0, 5)];
	})()`
	count := "8000"
	if testing.Short() {
		count = "2000"
	}
	for _, seed := range []string{"1", "2", "3"} {
		got, err := run(i, scope(t, time.Minute), strings.NewReplacer("SEED", seed, "COUNT", count).Replace(code))
		if err != nil || got != `[true,[]]` {
			t.Errorf("seed %s: %s, error %v", seed, got, err)
		}
	}
}

// TestSearchIsShort: what cannot match is not tried at each position of a text.
func TestSearchIsShort(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	cost := func(expression string) time.Duration {
		return cheapest(
			t, i,
			`(() => { globalThis.text ??= "a".repeat(1 << 20); let n = 0; for (let i = 0; i < 4; i++) n += `+expression+
				`.test(text); return n })()`,
			"0",
		)
	}
	each := cost(`/(?=b)/`)
	for expression, times := range map[string]time.Duration{
		`/^b/`: 100, `/^[bc]/`: 100, `/^(?:b|c)/`: 100, `/b/`: 3, `/[bc]/`: 2, `/[bc]d/g`: 2,
	} {
		t.Run(expression, func(t *testing.T) {
			if got := cost(expression); got*times > each {
				t.Errorf("%s takes %v, and not a %dth of the %v of one that is tried everywhere", expression, got, times, each)
			}
		})
	}
}
