package runtime_test

import (
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestMatchesOfRegExp covers the static properties of RegExp after a match. Node 22 gives
// the same.
func TestMatchesOfRegExp(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{
			"numbered groups",
			`/^(\w+)-(\w)?(\d+)/.test("ab-12 rest"); out = [RegExp.$1, RegExp.$2, RegExp.$3, RegExp.$9]`,
			`["ab","1","2",""]`,
		},
		{
			"the match and its context",
			"/(b)(c)?/.exec(\"abd\"); out = [RegExp.lastMatch, RegExp['$`'], RegExp.rightContext, RegExp[\"$+\"], RegExp.$_]",
			`["b","a","d","","abd"]`,
		},
		{
			"taken apart",
			`"x system \"y\"".match(/(\w) (\w+)(\s+"([^"]+)")?/); const { $1: name, $4: id } = RegExp; out = [name, id]`,
			`["x","y"]`,
		},
		{"replace", `"a1b2".replace(/([a-z])(\d)/g, ""); /no/.test("x"); out = [RegExp.$1, RegExp.$2]`, `["b","2"]`},
		{"within a replacer", `"abc".replace(/(b)/, () => { out = RegExp.$1 })`, `"b"`},
		{"matchAll and split", `[..."k=v;l=w".matchAll(/(\w)=(\w)/g)]; "a,b".split(/(,)/); out = [RegExp.$1, RegExp.$2]`, `[",",""]`},
		{"it does not change", `const m = /(q)/.exec("q"); m[1] = "changed"; RegExp.$1 = "set"; out = RegExp.$1`, `"q"`},
		{
			"exec",
			`out = [/a/.exec(undefined), RegExp.prototype.exec.name, Object.keys(RegExp).length, "lastMatch" in RegExp && RegExp.input]`,
			`[null,"exec",0,""]`,
		},
		{"a wrong receiver", `try { RegExp.prototype.exec.call({}, "a"); out = RegExp.$1 } catch (e) { out = e.name }`, `"TypeError"`},
		{"code that does not ask", `out = ["$1" in RegExp, "a".replace(/(a)/, "$1$1")]`, `[false,"aa"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(
				t,
				mustStart(t, `export default { fetch() { let out; `+c.code+`; return Response.json(out) } }`, pagesruntime.WorkerOptions{}),
			)
			if _, got := get(t, s, "/"); strings.TrimSpace(got) != c.want {
				t.Errorf("%s: %s, want %s", c.code, got, c.want)
			}
		})
	}
}
