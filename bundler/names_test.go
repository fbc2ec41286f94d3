package bundler

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/manifest"
)

// named has functions of all kinds that take a name from where they stand, and in
// between what a reader of tokens may stumble over.
var named = []string{
	"export const f = () => 1, g = async (a) => a, h = function () {}, i = async function* () {};",
	"export let j; j = (x) => x; j = function () { return j };",
	"export function k() { function inner() { return 1 } return inner }\nexport async function* l() { yield /re/ }",
	"export const o = { a: () => 1, 'b-c': function () {}, d() {}, get e() { return () => {} }, 1: () => 2, __proto__: () => 3, [f()]: () => 4 };\nfunction f() {}",
	"export class C { a = () => 1; static b = () => 2; #c = () => 3; d = this.#c; static { this.e = () => 4 } }",
	"export default () => 1;",
	"export const { p = () => 1, q: { r = function () {} } } = {}; export const [s = () => 2] = []; export function t(u = () => 3) { return u }",
	"export const v = (() => 1), w = (0, () => 2), x = function own() {}, y = class {}, z = class Own {};",
	"export var é = () => 1, $ = () => 2, _ = () => 3, ünï = { \"ö\": () => 4 };",
	"export const a = () => `}, \"a\")${() => { const b = () => `\n}, \"b\")`; return b }}`;",
	"export const a = () => { if (1) /}, \"a\")/.test(''); return 4 / 2 / 1 };\n/[/\"'`{]/g.test('x'); export const b = (c) => (c) / 2 + [1] / c;",
	"export const a = function () { return this.return / 2 / this.if(1) / 3 }; for (const x of [/a/]) x; while (0) /b/.test(''); do /c/.test(''); while (0)\n{ }\n/d/.test('')",
	"export const a = (b) => b++ / 2 / 3, c = (d) => typeof /x/ + void /y/ + (d ? /z/ : () => 1), e = {} / 1;",
	"export const a = () => { const __name = (x, y) => y; return __name(() => 1, 'a') }; export const b = 1 ? () => 1 : () => 2; switch (b) { case a: function in_() {} }",
	"export const a = /* c, \"a\") */ () => /* ( */ 1 // ) }\n, b = () => 2; /* @__PURE__ */ a(); label: function g() {}",
	"export const a = function b() {}, c = async function* d() {}, e = class f {}, g = function () {}; e.h = function h() {}; e.i = function () {}; e['j'] = class {}",
	"a ||= () => 1; b ??= function () {}; c.d = () => 2; c?.e(f = () => 3); var a, b, c, f; export { a, b, c, f }",
	"export const a = async () => { for await (const b of c) /re/.test(b); await /x/; return b => b }; const c = []; if (c) { } else /y/.test(''); export { c }",
	"export const a = () => {\n}, b = { c: () => 1 ? { d: () => 2 } : () => 3 }; import.meta.url; export const e = new.target;",
	"export const a = () => '\\'', b = () => \"\\\\\", c = () => '\\\n', d = () => `\\``, e = () => /\\//, f = () => /[\\]/]/;",
}

// printed is what esbuild makes of code; nil for what is no JavaScript.
func printed(code string, o api.TransformOptions) []byte {
	o.Target, o.Charset, o.Format, o.LogLevel = api.ES2024, api.CharsetUTF8, api.FormatESModule, api.LogLevelSilent
	result := api.Transform(code, o)
	if len(result.Errors) > 0 {
		return nil
	}
	return result.Code
}

// helper is the declaration of esbuild's helper.
var helper = regexp.MustCompile(`(?m)^var (__defProp = Object\.defineProperty|__name = .*);\n`)

// checkNameCalls says what withoutNameCalls may do: put spaces for something, so
// that code remains, and when no call of the helper is left it is the code without
// any.
func checkNameCalls(t *testing.T, source string) (left string) {
	t.Helper()
	code := printed(source, api.TransformOptions{KeepNames: true})
	if code == nil {
		return ""
	}
	out := withoutNameCalls(code)
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
	normal := printed(helper.ReplaceAllString(string(out), ""), api.TransformOptions{MinifyWhitespace: true})
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

func TestNameCalls(t *testing.T) {
	for _, source := range named {
		checkNameCalls(t, source)
	}
	checkNameCalls(t, strings.Join(named[:3], "\n"))
}

func FuzzNameCalls(f *testing.F) {
	for _, source := range named {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) { checkNameCalls(t, source) })
}

// TestNameCallsThatCount: what esbuild renames gets its name back by a call, and
// what has it does not.
func TestNameCallsThatCount(t *testing.T) {
	dir := site(t, "w.js", `import { f as other, C as D, g as h } from "./o.js";
const f = () => { const inner = () => 1; function deep() {} return [inner, deep, { f: function f() {} }, { g: function g() {} }] };
class C { field = () => 1 }
export function g() {}
export default { fetch: () => [f, other, C, D, g, h] };`,
		"o.js", `export const f = () => 2; export class C {} export function g() {}`)
	code := string(build(t, builder(t, dir, Options{}), manifest.Manifest{Entry: "w.js"}).Worker.Code)
	for _, want := range []string{`f2 = /* @__PURE__ */ __name(() => {`, `}, "f")`, `__name(function f3() {`, `__name(g2, "g")`, `__name(this, "C")`} {
		if !strings.Contains(code, want) {
			t.Errorf("%q is missing in\n%s", want, code)
		}
	}
	for _, none := range []string{`"inner"`, `"deep"`, `"field"`, `"fetch"`, `__name(g, `} {
		if strings.Contains(code, none) {
			t.Errorf("%q is left in\n%s", none, code)
		}
	}
	if map1 := string(build(t, builder(t, dir, Options{}), manifest.Manifest{Entry: "w.js"}).Worker.Map); !strings.Contains(map1, "mappings") {
		t.Errorf("no source map: %s", map1)
	}
	if code := string(build(t, builder(t, dir, Options{Minify: true}), manifest.Manifest{Entry: "w.js"}).Worker.Code); !strings.Contains(code, `,"inner")`) {
		t.Errorf("minified code keeps its names by calls:\n%s", code)
	}
}

func BenchmarkNameCalls(b *testing.B) {
	code := printed(strings.Repeat("{"+strings.ReplaceAll(strings.Join(named[:3], "\n"), "export ", "")+"}\n", 2000), api.TransformOptions{KeepNames: true})
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		withoutNameCalls(code)
	}
}
