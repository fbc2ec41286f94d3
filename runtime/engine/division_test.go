package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestDivision: a slash after a template or a member divides, and one after the "${" of
// a template or a keyword begins a regular expression, wherever the parser looks ahead.
func TestDivision(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for _, c := range []struct{ name, code, want string }{
		{"braces", "{ const { a = `${n}` / 2 } = {}; return a; }", `4`},
		{"without substitutions", "{ const { a = `8` / 2 } = {}; return a; }", `4`},
		{"brackets", "{ const [a = `${n}` / 2, b = a / 2] = []; return [a, b]; }", `[4,2]`},
		{"an assignment", "{ let a; ({ a = `${n}` / 2 } = {}); return a; }", `4`},
		{"a parameter", "{ return ((a = `${n}` / 2) => a)(); }", `4`},
		{"twice", "{ return ((a = `${n}${n}` / 2 / 4) => a)(); }", `11`},
		{"nested templates", "{ return ((a = `${`${n}` / 2}` / 2) => a)(); }", `2`},
		{"then a regular expression", "{ return ((a = `${n}` /2, b = /[\"]/.test('\"')) => [a, b])(); }", `[4,true]`},
		{"a regular expression within", "{ return ((a = `${/[\"`]/.test('`')}`) => a)(); }", `"true"`},
		{"between two substitutions", "{ return ((a = `${n} ${/[)}\"]/.test(')')} ${n}`) => a)(); }", `"8 true 8"`},
		{"String.raw", "{ return ((a = String.raw`\\${n}` / 2) => a)(); }", `null`},
		{"a member named in", "{ const b = { in: n }; const { a = b.in / 2 } = {}; return a; }", `4`},
		{"a member named of", "{ const b = { of: n }; return ((a = b.of / 2, c = 4 / a) => c)(); }", `1`},
		{"a member named default", "{ const b = { default: n };\n return ((a = b.default / 2) => a)(); }", `4`},
		{"a member named return", "{ const b = { return: n }; let a; [a = b.return /2/ 2] = []; return a; }", `2`},
		{"typeof and void", "{ return ((a = typeof /[)]/, b = void /\"/) => a)(); }", `"object"`},
		{"spread", "{ return ((...a) => a.length)(.../a/.source); }", `1`},
		{"optional call", "{ const f = null; return ((a = f?.(/[)]/)) => a === undefined)(); }", `true`},
		{"optional default", "{ const b = { default: n }; return ((a = b?.default / 2) => a)(); }", `4`},
		{"optional new", "{ const b = { new: n };\n return ((a = b\n?.new / 2 / 2) => a)(); }", `2`},
		{"optional in", "{ const b = { in: n }; const { a = b ?. /* of */ in / 2 } = {}; return a; }", `4`},
		{"optional private name", "{ class B { #x = n; a(c = this?.#x / 2) { return c; } } return new B().a(); }", `4`},
		{"two optional members", "{ const b = null; return ((a = b?.default?.catch / 2, c = /[)]/) => c.test(')'))(); }", `true`},
		{"an optional index", "{ const b = { c: n }; return ((a = b?.[/c/.source] / 2) => a)(); }", `4`},
		{"a condition and a number", "{ const b = true; return ((a = b ?.5 / 2 : /[)]/) => a)(); }", `0.25`},
		{"a condition and a regular expression", "{ const b = true; return ((a = b ? /[)]/ : 1) => a.source)(); }", `"[)]"`},
		{"an optional method", "{ const b = { f: (x) => x.source }; return ((a = b?.f(/[)]/)) => a)(); }", `"[)]"`},
		{"a method body", "{ return { a() { let a = 1; a += `${n}` / 2;\n return a; } }.a(); }", `5`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := run(i, scope(t, time.Minute), "((n) => "+c.code+")(8)"); err != nil || got != c.want {
				t.Errorf("%s: %s, want %s, error %v", c.code, got, c.want, err)
			}
		})
	}
}
