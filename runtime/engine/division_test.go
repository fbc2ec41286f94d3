package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestDivision: a slash behind a template or a member divides, and one behind the "${" of
// a template or a keyword begins a regular expression, wherever the parser looks ahead.
func TestDivision(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for code, want := range map[string]string{
		"{ const { a = `${n}` / 2 } = {}; return a; }":                                          `4`,
		"{ const { a = `8` / 2 } = {}; return a; }":                                             `4`,
		"{ const [a = `${n}` / 2, b = a / 2] = []; return [a, b]; }":                            `[4,2]`,
		"{ let a; ({ a = `${n}` / 2 } = {}); return a; }":                                       `4`,
		"{ return ((a = `${n}` / 2) => a)(); }":                                                 `4`,
		"{ return ((a = `${n}${n}` / 2 / 4) => a)(); }":                                         `11`,
		"{ return ((a = `${`${n}` / 2}` / 2) => a)(); }":                                        `2`,
		"{ return ((a = `${n}` /2, b = /[\"]/.test('\"')) => [a, b])(); }":                      `[4,true]`,
		"{ return ((a = `${/[\"`]/.test('`')}`) => a)(); }":                                     `"true"`,
		"{ return ((a = `${n} ${/[)}\"]/.test(')')} ${n}`) => a)(); }":                          `"8 true 8"`,
		"{ return ((a = String.raw`\\${n}` / 2) => a)(); }":                                     `null`,
		"{ const b = { in: n }; const { a = b.in / 2 } = {}; return a; }":                       `4`,
		"{ const b = { of: n }; return ((a = b.of / 2, c = 4 / a) => c)(); }":                   `1`,
		"{ const b = { default: n };\n return ((a = b.default / 2) => a)(); }":                  `4`,
		"{ const b = { return: n }; let a; [a = b.return /2/ 2] = []; return a; }":              `2`,
		"{ return ((a = typeof /[)]/, b = void /\"/) => a)(); }":                                `"object"`,
		"{ return ((...a) => a.length)(.../a/.source); }":                                       `1`,
		"{ const f = null; return ((a = f?.(/[)]/)) => a === undefined)(); }":                   `true`,
		"{ const b = { default: n }; return ((a = b?.default / 2) => a)(); }":                   `4`,
		"{ const b = { new: n };\n return ((a = b\n?.new / 2 / 2) => a)(); }":                   `2`,
		"{ const b = { in: n }; const { a = b ?. /* of */ in / 2 } = {}; return a; }":           `4`,
		"{ class B { #x = n; a(c = this?.#x / 2) { return c; } } return new B().a(); }":         `4`,
		"{ const b = null; return ((a = b?.default?.catch / 2, c = /[)]/) => c.test(')'))(); }": `true`,
		"{ const b = { c: n }; return ((a = b?.[/c/.source] / 2) => a)(); }":                    `4`,
		"{ const b = true; return ((a = b ?.5 / 2 : /[)]/) => a)(); }":                          `0.25`,
		"{ const b = true; return ((a = b ? /[)]/ : 1) => a.source)(); }":                       `"[)]"`,
		"{ const b = { f: (x) => x.source }; return ((a = b?.f(/[)]/)) => a)(); }":              `"[)]"`,
		"{ return { a() { let a = 1; a += `${n}` / 2;\n return a; } }.a(); }":                   `5`,
	} {
		if got, err := run(i, scope(t, time.Minute), "((n) => "+code+")(8)"); err != nil || got != want {
			t.Errorf("%s: %s, want %s, error %v", code, got, want, err)
		}
	}
}
