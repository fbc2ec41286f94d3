package urlpattern_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestURLPatternShape(t *testing.T) {
	webtest.Shapes(t, "URLPattern/0: exec/0 hasRegExpGroups hash hostname password pathname port protocol search test/0 username")
}

// Patterns, by the algorithms of the URL Pattern standard.
func TestURLPattern(t *testing.T) {
	const parts = `const parts = (p) => ["protocol", "username", "password", "hostname", "port", "pathname", "search",
		"hash"].map((k) => p[k]).join(" ");`
	const groups = `const groups = (pattern, ...input) => { const r = pattern.exec(...input); return r && r.pathname.groups; };`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		// the parts of a pattern
		{"all wildcards", parts + `return parts(new URLPattern());`, `"* * * * * * * *"`},
		{"a pathname", parts + `return parts(new URLPattern({ pathname: "/a/:b" }));`, `"* * * * * /a/:b * *"`},
		{"a URL", parts + `return parts(new URLPattern("https://example.com/a?b#c"));`, `"https * * example.com  /a b c"`},
		{"credentials", parts + `return parts(new URLPattern("https://u:p@example.com:8080/*"));`, `"https u:p * example.com 8080 /* * *"`},
		{
			"an absolute path with a base",
			parts + `return parts(new URLPattern("/a", "https://example.com/x/y?q"));`,
			`"https * * example.com  /a * *"`,
		},
		{
			"a relative path with a base",
			parts + `return parts(new URLPattern("a", "https://example.com/x/y?q"));`,
			`"https * * example.com  /x/a * *"`,
		},
		{
			"a hash with a base",
			parts + `return parts(new URLPattern("#h", "https://example.com/x(y)?q"));`,
			`"https * * example.com  /x\\(y\\) q h"`,
		},
		{
			"delimiters of parts",
			parts + `return parts(new URLPattern({ protocol: "https:", port: "443", search: "?s", hash: "#h" }));`,
			`"https * * *  * s h"`,
		},
		{
			"optional groups",
			parts + `return parts(new URLPattern("http{s}?://*.example.com/x?\\?y"));`,
			`"http{s}? * * *.example.com  /x \\?y *"`,
		},
		{"an opaque path", parts + `return parts(new URLPattern("data\\:text/*"));`, `"data * *   text/* * *"`},
		{"an IPv6 address", parts + `return parts(new URLPattern("https://[\\:\\:1]:80/"));`, `"https * * [\\:\\:1] 80 / * *"`},
		// how it is written
		{"groups written short", `return new URLPattern({ pathname: "/{:a}/{b}/(.*)/([^\\/]+?)" }).pathname;`, `"/{:a}/b/*/([^\\/]+?)"`},
		{"letters beyond ASCII", `return new URLPattern({ pathname: "/é/{é}?" }).pathname;`, `"/%C3%A9/{%C3%A9}?"`},
		{"braces that are needed", `return new URLPattern({ pathname: "/x{:a}b/{:c}d*" }).pathname;`, `"/x{:a}b/{:c}d*"`},
		{"expressions", `return new URLPattern({ pathname: "/:a(.*)/(\\d+)" }).pathname;`, `"/:a(.*)/(\\d+)"`},
		{"a hostname in lower case", `return new URLPattern({ hostname: "EXAMPLE.{com}?" }).hostname;`, `"example.{com}?"`},
		// its matches
		{
			"names and a wildcard",
			groups + `return groups(new URLPattern({ pathname: "/books/:id/*" }), "https://a.test/books/7/x/y");`,
			`{"id":"7","0":"x/y"}`,
		},
		{"a repeated name", groups + `return groups(new URLPattern({ pathname: "/:all+" }), { pathname: "/a/b/c" });`, `{"all":"a/b/c"}`},
		{"an optional group that is absent", groups + `return groups(new URLPattern({ pathname: "/a/:b?" }), { pathname: "/a" });`, `{}`},
		{
			"an absent group has a name",
			groups + `return "b" in groups(new URLPattern({ pathname: "/a/:b?" }), { pathname: "/a" });`,
			`true`,
		},
		{
			"an expression and a name",
			groups + `return groups(new URLPattern({ pathname: "/:year(\\d{4})-:month" }), { pathname: "/2026-11" });`,
			`{"year":"2026","month":"11"}`,
		},
		{"case in a path", groups + `return groups(new URLPattern({ pathname: "/a" }), { pathname: "/A" });`, `null`},
		{"ignoreCase", groups + `return groups(new URLPattern({ pathname: "/a" }, { ignoreCase: true }), { pathname: "/A" });`, `{}`},
		{
			"ignoreCase with a base",
			groups + `return groups(new URLPattern("/a", "https://x.test", { ignoreCase: true }), "/A", "https://x.test");`,
			`{}`,
		},
		{"a subdomain", `return new URLPattern("https://*.example.com/*").test("https://a.b.example.com/x");`, `true`},
		{"another protocol", `return new URLPattern("https://*.example.com/*").test("http://a.example.com/x");`, `false`},
		{
			"a wildcard in the search",
			`return new URLPattern({ search: "q=*" }).exec("https://a.test/?q=1&r").search;`,
			`{"input":"q=1&r","groups":{"0":"1&r"}}`,
		},
		{"inputs", `return new URLPattern("/x", "https://a.test").exec("x", "https://a.test/y").inputs;`, `["x","https://a.test/y"]`},
		{
			"inputs of an object",
			`return new URLPattern().exec({ pathname: "/x", baseURL: "https://a.test" }).inputs;`,
			`[{"pathname":"/x","baseURL":"https://a.test"}]`,
		},
		{
			"inputs that are not URL",
			`return [new URLPattern().test("no URL"), new URLPattern().test({ port: "x" }), new URLPattern().exec("no URL")];`,
			`[false,false,null]`,
		},
		{
			"default ports",
			`return [new URLPattern({ port: "80" }).test({ protocol: "http", port: "80" }),
				new URLPattern({ port: "80" }).test("http://a:81")];`,
			`[false,false]`,
		},
		{
			"hasRegExpGroups",
			`return [new URLPattern({ pathname: "/:a" }).hasRegExpGroups, new URLPattern({ pathname: "/(\\d)" }).hasRegExpGroups];`,
			`[false,true]`,
		},
		// characters that the engine's own expressions stumble over
		{
			"reserved characters as text",
			`return ["foo-bar", "a::b", "a&&b"].map((x) => new URLPattern({ hash: x.replaceAll(":", "\\:") }).test({ hash: x }));`,
			`[true,true,true]`,
		},
		{
			"reserved characters in expressions",
			`return ["a-b/c", "x,y", "1::2"].map((x) => new URLPattern({
				hash: "([a-z]-b/c|x,{1,2}y|1:(?::)2|(?<n>q)\\k<n>|\\p{L=}--)" .replace("|\\p{L=}--", "") }).test({ hash: x }));`,
			`[true,true,true]`,
		},
		// refusals
		{"a relative pattern", `new URLPattern("/a");`, `/^TypeError: .*relative pattern needs a base URL/`},
		{"a base beside an object", `new URLPattern({}, "https://a.test");`, `/^TypeError: .*baseURL/`},
		{"a malformed base", `new URLPattern({ baseURL: "x" });`, `/^TypeError: Invalid URL/`},
		{"an open brace", `new URLPattern({ pathname: "/{a" });`, `/^TypeError: .*brace is not closed/`},
		{"a stray brace", `new URLPattern({ pathname: "/a}" });`, `/^TypeError: .*unexpected "}" at character 3/`},
		{"an open group", `new URLPattern({ pathname: "/(a" });`, `/^TypeError: .*not closed/`},
		{"a capturing group", `new URLPattern({ pathname: "/((a))" });`, `/^TypeError: .*capturing group/`},
		{"an expression beyond ASCII", `new URLPattern({ pathname: "/(é)" });`, `/^TypeError: .*not ASCII/`},
		{"a name used twice", `new URLPattern({ pathname: "/:a/:a" });`, `/^TypeError: .*"a" is used twice/`},
		{"a malformed expression", `new URLPattern({ pathname: "/([)" });`, `/^TypeError: .*regular expression/`},
		{"a stray backslash", `new URLPattern({ pathname: "\\" });`, `/^TypeError: .*nothing to escape/`},
		{"a malformed hostname", `new URLPattern({ hostname: "a b" });`, `/^TypeError: .*hostname/`},
		{"a malformed port", `new URLPattern({ port: "x" });`, `/^TypeError: .*port/`},
		{"a malformed protocol", `new URLPattern({ protocol: "é" });`, `/^TypeError: .*protocol/`},
		{"a pattern too long", `new URLPattern({ pathname: "x".repeat(70000) });`, `/^TypeError: .*at most 65536/`},
		{"options that are a number", `new URLPattern({}, {}, 3);`, `/^TypeError/`},
		{"a malformed base of an input", `return new URLPattern().test("/a", "no base");`, `false`},
		{"an object and a base as input", `new URLPattern().test({}, "https://a.test");`, `/^TypeError: .*twice/`},
	})
}
