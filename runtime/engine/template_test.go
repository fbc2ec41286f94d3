package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestDividedTemplate: a slash behind a template divides, and one behind the "${" of a
// template begins a regular expression, wherever the parser looks ahead.
func TestDividedTemplate(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	for code, want := range map[string]string{
		"{ const { a = `${n}` / 2 } = {}; return a; }":                        `4`,
		"{ const { a = `8` / 2 } = {}; return a; }":                           `4`,
		"{ const [a = `${n}` / 2, b = a / 2] = []; return [a, b]; }":          `[4,2]`,
		"{ let a; ({ a = `${n}` / 2 } = {}); return a; }":                     `4`,
		"{ return ((a = `${n}` / 2) => a)(); }":                               `4`,
		"{ return ((a = `${n}${n}` / 2 / 4) => a)(); }":                       `11`,
		"{ return ((a = `${`${n}` / 2}` / 2) => a)(); }":                      `2`,
		"{ return ((a = `${n}` /2, b = /[\"]/.test('\"')) => [a, b])(); }":    `[4,true]`,
		"{ return ((a = `${/[\"`]/.test('`')}`) => a)(); }":                   `"true"`,
		"{ return ((a = `${n} ${/[)}\"]/.test(')')} ${n}`) => a)(); }":        `"8 true 8"`,
		"{ return ((a = String.raw`\\${n}` / 2) => a)(); }":                   `null`,
		"{ return { a() { let a = 1; a += `${n}` / 2;\n return a; } }.a(); }": `5`,
	} {
		if got, err := run(i, scope(t, time.Minute), "((n) => "+code+")(8)"); err != nil || got != want {
			t.Errorf("%s: %s, want %s, error %v", code, got, want, err)
		}
	}
}
