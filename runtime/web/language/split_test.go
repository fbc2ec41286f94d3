package language_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// TestSplit holds a split by an expression to the engine's own steps, which a class
// of its own makes RegExp take (ECMA-262, 22.2.6.14): by chance, of few characters,
// in short texts and in long ones with short and long parts.
func TestSplit(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"expressions by chance",
			`
			let seed = 7;
			const below = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor(seed / 2 ** 32 * n); };
			const one = (all) => all[below(all.length)];
			class Own extends RegExp {}
			const atoms = ["a", "b", "\\s", "[ab]", ".", "(a)", "(b)?", "(?=b)", "(?<=a)", "(?<!^)", "^", "$", "\\b", "🚣", "\\udea3", "a*",
				"b+", "|", "|", "(?:)"];
			const wrong = [];
			let parts = 0;
			for (let n = 0; n < 3000; n++) {
				const source = Array.from({ length: 1 + below(3) }, () => one(atoms)).join(""),
					flags = one(["", "", "g", "y", "i", "u", "v", "m", "gy", "d"]);
				const filler = "x".repeat(one([0, 0, 30, 60])),
					text = Array.from({ length: below(12) }, () => filler + one(["a", "b", " ", "A", "\n", "🚣", "\ud83d"])).join("") +
					"-".repeat(one([0, 300]));
				const limit = one([undefined, undefined, undefined, 0, 1, 2, 3, -1, 2 ** 32, 2 ** 32 + 1, "2", NaN]);
				let fast, slow;
				try { fast = new RegExp(source, flags); slow = new Own(source, flags); } catch { continue; }
				fast.lastIndex = slow.lastIndex = 1;
				const got = JSON.stringify([text.split(fast, limit), fast.lastIndex]),
					want = JSON.stringify([text.split(slow, limit), slow.lastIndex]);
				parts += text.split(fast).length;
				if (got !== want) wrong.push([String(fast), text, limit, got, want]);
			}
			return [parts > 3000, wrong.slice(0, 3)]`,
			`[true,[]]`,
		},
		{
			"examples of the standard",
			`return ["A<B>bold</B>and<CODE>coded</CODE>".split(/<(\/)?([^<>]+)>/), "".split(/a?/), "".split(/a/), "ab".split(/(?:)/),
				"a1b2".split(/(\d)/, 3)]`,
			`[["A",null,"B","bold","/","B","and",null,"CODE","coded","/","CODE",""],[],[""],["a","b"],["a","1","b"]]`,
		},
		// The program's own methods are called as the standard says.
		{
			"a subclass",
			`const text = "a,".repeat(200), seen = []; class R extends RegExp { exec(s) { seen.push(this.lastIndex); return super.exec(s);
				} } return [text.split(new R(",")).length, seen.length]`,
			`[201,400]`,
		},
		{
			"an exec of its own",
			`const text = ("a".repeat(50) + ",").repeat(9); const r = /,/; r.exec = () => null; return text.split(r).length`,
			`10`,
		},
		{
			"flags with a getter",
			`const text = ("a".repeat(50) + ",").repeat(9); const r = /,/; let n = 0;
				Object.defineProperty(r, "flags", { get() { n++; return ""; } }); return [text.split(r).length, n]`,
			`[10,1]`,
		},
		{
			"exec of the prototype",
			`const text = ("a".repeat(50) + ",").repeat(9), { exec } = RegExp.prototype; let n = 0;
				RegExp.prototype.exec = function (s) { n++; return exec.call(this, s); };
				try { return [text.split(/,/).length, n > 9] } finally { RegExp.prototype.exec = exec }`,
			`[10,true]`,
		},
		{
			"the shape of the method",
			`const f = RegExp.prototype[Symbol.split]; return [f.name, f.length, Object.keys(RegExp.prototype),
				"a, b".split(/, /, { valueOf() { return 1 } })]`,
			`["[Symbol.split]",2,[],["a"]]`,
		},
	})
}

// TestSplitIsShort: the lines of a long text cost by the line.
func TestSplitIsShort(t *testing.T) {
	w := webtest.Serve(t, webtest.Works(map[string]string{
		"ours": `text.split(/\n/)`, "steps": `text.split(new Own("\\n"))`,
	})+`
		class Own extends RegExp {}
		const text = ("a".repeat(200) + "\r\n").repeat(500);
	`, web.Options{})
	w.Cheaper("ours", "steps", 2)
}
