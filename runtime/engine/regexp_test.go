package engine_test

import (
	"testing"
	"time"

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
		`--`: `["--"]`, `&&|\|\|`: `["&&","||"]`, `!!|==|<<|,,`: `["!!","==","<<",",,"]`, `::|;;|##|%%|@@|~~`: `["::",";;","##","%%","@@","~~"]`,
		`(?<!-)a|(-)é|⛵-`: `["a","⛵-"]`, `-+`: `["-","--","-","-"]`, `x?/`: `["/"]`, `[\w--[b-z]]-`: `["a-","4-"]`, `[[a-z]&&[ab]]-?`: `["a-","b"]`,
		`[\-]{2}`: `["--"]`, `[\q{⛵-|--}]`: "SyntaxError", `[\q{⛵|\&\&}]`: `["&&","⛵"]`, `\p{RGI_Emoji}`: `["⛵"]`,
		`[&&]`: "SyntaxError", `[a!!b]`: "SyntaxError", `[-a]`: "SyntaxError", `[a-]`: "SyntaxError", `[/]`: "SyntaxError", `[(]`: "SyntaxError", `[|]`: "SyntaxError",
		`)`: "SyntaxError", `{`: "SyntaxError", `]`: "SyntaxError",
	} {
		for _, made := range []string{`new RegExp(PATTERN, "gv")`, `new RegExp(PATTERN, "giv")`} {
			code := `(() => { const PATTERN = String.raw` + "`" + pattern + "`" + `; try { return "` + subject + `".match(` + made + `) } catch (e) { return e.name } })()`
			got, err := run(i, scope(t, time.Minute), code)
			if err != nil || got != want && got != `"`+want+`"` {
				t.Errorf("%s of /%s/: %s, error %v; want %s", made, pattern, got, err, want)
			}
		}
	}
	if got, err := run(i, scope(t, time.Minute), `[/a-b&&/v.test("a-b&&"), /a-b&&/v.source]`); err != nil || got != `[true,"a-b&&"]` {
		t.Errorf("a literal: %s, error %v", got, err)
	}
}
