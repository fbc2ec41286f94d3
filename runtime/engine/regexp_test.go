package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestUnicodeSets covers the characters that the flag v reserves in a class and nowhere else, by
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

// TestManyGroups: expressions have up to 32,767 groups, as V8's, and each is found by its number and by its name. Each text is the result
// of the code in V8.
func TestManyGroups(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for name, c := range map[string]struct{ code, want string }{
		"254": {`new RegExp("(a)?".repeat(254)).exec("a".repeat(300)).length`, `255`},
		"255": {`new RegExp("(a)?".repeat(255)).exec("a".repeat(300)).length`, `256`},
		"an outcome": {
			`{ const m = new RegExp(Array.from({ length: 400 }, (_, i) => "(x" + i + ";)").join("|")).exec("x399;");
			[m.length, m[400], m[399]] }`,
			`[401,"x399;",null]`,
		},
		"repeated": {
			`{ const r = new RegExp("(?:" + Array.from({ length: 3000 }, (_, i) => "(x" + i + ";)").join("|") + ")+");
			const m = r.exec("x2999;x1;x255;x256;x2998;"); [m.length, m[2999], m[2], m[257], m.filter((x) => x !== undefined).length] }`,
			`[3001,"x2998;",null,null,2]`,
		},
		"\\300":        {`new RegExp("(a)".repeat(299) + "(q)\\300").exec("a".repeat(299) + "qq").length`, `301`},
		"\\301 of 300": {`try { new RegExp("(a)".repeat(300) + "\\301", "u") } catch (e) { e.name }`, `"SyntaxError"`},
		"a name": {
			`{ const m = new RegExp("(?:(a)|z)".repeat(300) + "(?<name>q)\\k<name>", "d").exec("z".repeat(299) + "aqq");
			[m.groups.name, m.indices.groups.name, m[300], m.length] }`,
			`["q",[300,301],"a",302]`,
		},
		"a name before it": {
			`new RegExp("\\k<name>" + "(a)".repeat(300) + "(?<name>q)\\k<name>").exec("a".repeat(300) + "qq").length`, `302`,
		},
		"a name twice":  {`new RegExp("(a)?".repeat(300) + "(?:(?<n>x)|(?<n>y))\\k<n>").exec("yy")[302]`, `"y"`},
		"look-behind":   {`new RegExp("(?<=" + "(a)".repeat(300) + "\\300b)c").exec("a".repeat(301) + "bc")[300]`, `"a"`},
		"a replacement": {`"abc".replace(new RegExp("(z)?".repeat(299) + "(b)"), (...all) => all.length + all[300])`, `"a303bc"`},
		"the most":      {`new RegExp("(a)".repeat(32767)).exec("a".repeat(32767)).length`, `32768`},
		"too many":      {`try { new RegExp("(a)".repeat(32768)) } catch (e) { e.name }`, `"SyntaxError"`},
		"quantifiers":   {`new RegExp("(?:".repeat(255) + "a" + ")?".repeat(255)).test("a")`, `true`},
		"resets": {
			`[/((a)|b)*/.exec("ab"), /(?:(a)|b){2}/.exec("ab"), /(z)((a+)?(b+)?(c))*/.exec("zaacbbbcac"), /(?:(a)?){0}b/.exec("b")]`,
			`[["ab","b",null],["ab",null],["zaacbbbcac","z","ac","a",null,"c"],["b",null]]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := run(i, scope(t, 10*time.Second), c.code); err != nil || got != c.want {
				t.Errorf("%s, error %v; want %s", got, err, c.want)
			}
		})
	}
	const hostile = `try { new RegExp("(?:" + "(a?)?".repeat(30000) + ")*b").test("a".repeat(60000)) } catch (e) { e.name }`
	if got, err := run(i, scope(t, time.Second), hostile); err == nil && got != `"InternalError"` && got != "false" {
		t.Errorf("a hostile expression: %s", got)
	}
	if got, err := run(i, scope(t, time.Second), `6 * 7`); err != nil || got != "42" {
		t.Errorf("the next turn: %s, error %v", got, err)
	}
}

// TestSearch compares the match of an expression with a try at each position by the flag y, which has no search: patterns and texts by
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

// TestSearchIsShort: an expression that cannot match is not tried at each position of a text.
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
