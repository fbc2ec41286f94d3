package names

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// named has functions of all kinds that take a name from where they stand, and in between syntax that confuses a tokenizer.
var named = []string{
	"export const f = () => 1, g = async (a) => a, h = function () {}, i = async function* () {};",
	"export let j; j = (x) => x; j = function () { return j };",
	"export function k() { function inner() { return 1 } return inner }\nexport async function* l() { yield /re/ }",
	"export const o = { a: () => 1, 'b-c': function () {}, d() {}, get e() { return () => {} }, 1: () => 2, " +
		"__proto__: () => 3, [f()]: () => 4 };\nfunction f() {}",
	"export class C { a = () => 1; static b = () => 2; #c = () => 3; d = this.#c; static { this.e = () => 4 } }",
	"export default () => 1;",
	"export const { p = () => 1, q: { r = function () {} } } = {}; export const [s = () => 2] = []; export function " +
		"t(u = () => 3) { return u }",
	"export const v = (() => 1), w = (0, () => 2), x = function own() {}, y = class {}, z = class Own {};",
	"export var é = () => 1, $ = () => 2, _ = () => 3, ünï = { \"ö\": () => 4 };",
	"export const a = () => `}, \"a\")${() => { const b = () => `\n}, \"b\")`; return b }}`;",
	"export const a = () => { if (1) /}, \"a\")/.test(''); return 4 / 2 / 1 };\n/[/\"'`{]/g.test('x'); export const b " +
		"= (c) => (c) / 2 + [1] / c;",
	"export const a = function () { return this.return / 2 / this.if(1) / 3 }; for (const x of [/a/]) x; while (0) " +
		"/b/.test(''); do /c/.test(''); while (0)\n{ }\n/d/.test('')",
	"export const a = (b) => b++ / 2 / 3, c = (d) => typeof /x/ + void /y/ + (d ? /z/ : () => 1), e = {} / 1;",
	"export const a = () => { const __name = (x, y) => y; return __name(() => 1, 'a') }; export const b = 1 ? () => 1 " +
		": () => 2; switch (b) { case a: function in_() {} }",
	"export const a = /* c, \"a\") */ () => /* ( */ 1 // ) }\n, b = () => 2; /* @__PURE__ */ a(); label: function g() {}",
	"export const a = function b() {}, c = async function* d() {}, e = class f {}, g = function () {}; e.h = function " +
		"h() {}; e.i = function () {}; e['j'] = class {}",
	"a ||= () => 1; b ??= function () {}; c.d = () => 2; c?.e(f = () => 3); var a, b, c, f; export { a, b, c, f }",
	"export const a = async () => { for await (const b of c) /re/.test(b); await /x/; return b => b }; const c = []; " +
		"if (c) { } else /y/.test(''); export { c }",
	"export const a = () => {\n}, b = { c: () => 1 ? { d: () => 2 } : () => 3 }; import.meta.url; export const e = new.target;",
	"export var target = () => { const value = () => 1; return value };",
	"export class A { a() { return 1 } }\nexport const B = class { b() {} }, C = class Inner { static x = 1; static { this.y = 2 } };\n" +
		"export default class extends A { z() {} }\nexport class E extends mixin({ e: class { f() {} } }) { static name = 'own' }\n" +
		"function mixin(o) { class A { static g = class { h() {} } } return A }\nexport const o = { class: 1, k: class extends A {} };\n" +
		"export class F extends class extends A { i() {} } { static static() {} static { class G {} } }",
	"export const a = { class: { static: 1 } }, b = a.class; class static_ { static { { let c = 1 } } }; export { static_ };",
	"export const a = () => '\\'', b = () => \"\\\\\", c = () => '\\\n', d = () => `\\``, e = () => /\\//, f = () => /[\\]/]/;",
}

// printed returns esbuild's output for code; nil where code is not JavaScript.
func printed(code string, o api.TransformOptions) []byte {
	o.Target, o.Charset, o.Format, o.LogLevel = api.ES2024, api.CharsetUTF8, api.FormatESModule, api.LogLevelSilent
	result := api.Transform(code, o)
	if len(result.Errors) > 0 {
		return nil
	}
	return result.Code
}

// declared is the declaration of esbuild's helper.
var declared = regexp.MustCompile(`(?m)^var (__defProp = Object\.defineProperty|__name = .*);\n`)

// check holds WithoutCalls to its promise: it puts spaces in place of text, so
// that code remains, and when no call of the helper is left it is the code without
// any.
func check(t *testing.T, source string) (left string) {
	t.Helper()
	code := printed(source, api.TransformOptions{KeepNames: true})
	if code == nil {
		return ""
	}
	out := WithoutCalls(code)
	if len(out) != len(code) {
		t.Fatalf("%d bytes became %d", len(code), len(out))
	}
	for i, c := range out {
		if c != code[i] && c != ' ' {
			t.Fatalf("byte %d became %q", i, c)
		}
	}
	if bytes.Contains(code, []byte("@__NO_SIDE_EFFECTS__")) {
		return string(out)
	}
	normal := printed(declared.ReplaceAllString(string(out), ""), api.TransformOptions{MinifyWhitespace: true})
	if normal == nil {
		t.Fatalf("no JavaScript is left:\n%s\nof\n%s", out, code)
	}
	plain := printed(source, api.TransformOptions{})
	want := printed(string(plain), api.TransformOptions{MinifyWhitespace: true})
	if !bytes.Contains(normal, []byte("__name(")) && !bytes.Equal(normal, want) {
		t.Fatalf("left is\n%s\nwant\n%s", normal, want)
	}
	return string(out)
}

func TestWithoutCalls(t *testing.T) {
	for _, source := range named {
		check(t, source)
	}
	check(t, strings.Join(named[:3], "\n"))
}

// TestWithoutCallsOfAny: the helper is recognized with any parameter names, and no other function is mistaken for it.
func TestWithoutCallsOfAny(t *testing.T) {
	for source, want := range map[string]string{
		"export var target = () => { const value = () => 1; return value };":                                "",
		"const __name = (a, b) => b; export const f = () => __name(() => 1, 'f'), g = __name(() => 2, 'g')": `__name2(() => 2, "g")`,
	} {
		t.Run(source, func(t *testing.T) {
			if got := check(t, source); strings.Contains(got, `__name(()`) || !strings.Contains(got, want) {
				t.Errorf("%s became\n%s", source, got)
			}
		})
	}
}

// TestWithoutStaticBlocks: a class whose name is right has its author's members alone.
func TestWithoutStaticBlocks(t *testing.T) {
	out := check(t, "export class A { a() {} }\nexport const B = class extends A { b() {} };\nexport default class { c() {} }")
	if n := strings.Count(out, "static {"); n != 1 || !strings.Contains(out, `__name(this, "default")`) {
		t.Errorf("%d static blocks are left\n%s", n, out)
	}
}

func FuzzWithoutCalls(f *testing.F) {
	for _, source := range named {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) { check(t, source) })
}

func BenchmarkWithoutCalls(b *testing.B) {
	code := printed(
		strings.Repeat("{"+strings.ReplaceAll(strings.Join(named[:3], "\n"), "export ", "")+"}\n", 2000),
		api.TransformOptions{KeepNames: true},
	)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		WithoutCalls(code)
	}
}
