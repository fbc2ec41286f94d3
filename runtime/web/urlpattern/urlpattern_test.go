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
	const parts = `const parts = (p) => ["protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"].map((k) => p[k]).join(" ");`
	const groups = `const groups = (pattern, ...input) => { const r = pattern.exec(...input); return r && r.pathname.groups; };`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		// what a pattern is read as
		{"", parts + `return parts(new URLPattern());`, `"* * * * * * * *"`},
		{"", parts + `return parts(new URLPattern({ pathname: "/a/:b" }));`, `"* * * * * /a/:b * *"`},
		{"", parts + `return parts(new URLPattern("https://example.com/a?b#c"));`, `"https * * example.com  /a b c"`},
		{"", parts + `return parts(new URLPattern("https://u:p@example.com:8080/*"));`, `"https u:p * example.com 8080 /* * *"`},
		{"", parts + `return parts(new URLPattern("/a", "https://example.com/x/y?q"));`, `"https * * example.com  /a * *"`},
		{"", parts + `return parts(new URLPattern("a", "https://example.com/x/y?q"));`, `"https * * example.com  /x/a * *"`},
		{"", parts + `return parts(new URLPattern("#h", "https://example.com/x(y)?q"));`, `"https * * example.com  /x\\(y\\) q h"`},
		{"", parts + `return parts(new URLPattern({ protocol: "https:", port: "443", search: "?s", hash: "#h" }));`, `"https * * *  * s h"`},
		{"", parts + `return parts(new URLPattern("http{s}?://*.example.com/x?\\?y"));`, `"http{s}? * * *.example.com  /x \\?y *"`},
		{"", parts + `return parts(new URLPattern("data\\:text/*"));`, `"data * *   text/* * *"`},
		{"", parts + `return parts(new URLPattern("https://[\\:\\:1]:80/"));`, `"https * * [\\:\\:1] 80 / * *"`},
		// how it is written
		{"", `return new URLPattern({ pathname: "/{:a}/{b}/(.*)/([^\\/]+?)" }).pathname;`, `"/{:a}/b/*/([^\\/]+?)"`},
		{"", `return new URLPattern({ pathname: "/é/{é}?" }).pathname;`, `"/%C3%A9/{%C3%A9}?"`},
		{"", `return new URLPattern({ pathname: "/x{:a}b/{:c}d*" }).pathname;`, `"/x{:a}b/{:c}d*"`},
		{"", `return new URLPattern({ pathname: "/:a(.*)/(\\d+)" }).pathname;`, `"/:a(.*)/(\\d+)"`},
		{"", `return new URLPattern({ hostname: "EXAMPLE.{com}?" }).hostname;`, `"example.{com}?"`},
		// what it matches
		{"", groups + `return groups(new URLPattern({ pathname: "/books/:id/*" }), "https://a.test/books/7/x/y");`, `{"id":"7","0":"x/y"}`},
		{"", groups + `return groups(new URLPattern({ pathname: "/:all+" }), { pathname: "/a/b/c" });`, `{"all":"a/b/c"}`},
		{"", groups + `return groups(new URLPattern({ pathname: "/a/:b?" }), { pathname: "/a" });`, `{}`},
		{"", groups + `return "b" in groups(new URLPattern({ pathname: "/a/:b?" }), { pathname: "/a" });`, `true`},
		{"", groups + `return groups(new URLPattern({ pathname: "/:year(\\d{4})-:month" }), { pathname: "/2026-11" });`, `{"year":"2026","month":"11"}`},
		{"", groups + `return groups(new URLPattern({ pathname: "/a" }), { pathname: "/A" });`, `null`},
		{"", groups + `return groups(new URLPattern({ pathname: "/a" }, { ignoreCase: true }), { pathname: "/A" });`, `{}`},
		{"", groups + `return groups(new URLPattern("/a", "https://x.test", { ignoreCase: true }), "/A", "https://x.test");`, `{}`},
		{"", `return new URLPattern("https://*.example.com/*").test("https://a.b.example.com/x");`, `true`},
		{"", `return new URLPattern("https://*.example.com/*").test("http://a.example.com/x");`, `false`},
		{"", `return new URLPattern({ search: "q=*" }).exec("https://a.test/?q=1&r").search;`, `{"input":"q=1&r","groups":{"0":"1&r"}}`},
		{"", `return new URLPattern("/x", "https://a.test").exec("x", "https://a.test/y").inputs;`, `["x","https://a.test/y"]`},
		{"", `return new URLPattern().exec({ pathname: "/x", baseURL: "https://a.test" }).inputs;`, `[{"pathname":"/x","baseURL":"https://a.test"}]`},
		{"", `return [new URLPattern().test("no URL"), new URLPattern().test({ port: "x" }), new URLPattern().exec("no URL")];`, `[false,false,null]`},
		{"", `return [new URLPattern({ port: "80" }).test({ protocol: "http", port: "80" }), new URLPattern({ port: "80" }).test("http://a:81")];`, `[false,false]`},
		{"", `return [new URLPattern({ pathname: "/:a" }).hasRegExpGroups, new URLPattern({ pathname: "/(\\d)" }).hasRegExpGroups];`, `[false,true]`},
		// characters that the engine's own expressions stumble over
		{"", `return ["foo-bar", "a::b", "a&&b"].map((x) => new URLPattern({ hash: x.replaceAll(":", "\\:") }).test({ hash: x }));`, `[true,true,true]`},
		{"", `return ["a-b/c", "x,y", "1::2"].map((x) => new URLPattern({ hash: "([a-z]-b/c|x,{1,2}y|1:(?::)2|(?<n>q)\\k<n>|\\p{L=}--)" .replace("|\\p{L=}--", "") }).test({ hash: x }));`, `[true,true,true]`},
		// refusals
		{"", `new URLPattern("/a");`, `/^TypeError: .*relative pattern needs a base URL/`},
		{"", `new URLPattern({}, "https://a.test");`, `/^TypeError: .*baseURL/`},
		{"", `new URLPattern({ baseURL: "x" });`, `/^TypeError: Invalid URL/`},
		{"", `new URLPattern({ pathname: "/{a" });`, `/^TypeError: .*brace is not closed/`},
		{"", `new URLPattern({ pathname: "/a}" });`, `/^TypeError: .*unexpected "}" at character 3/`},
		{"", `new URLPattern({ pathname: "/(a" });`, `/^TypeError: .*not closed/`},
		{"", `new URLPattern({ pathname: "/((a))" });`, `/^TypeError: .*capturing group/`},
		{"", `new URLPattern({ pathname: "/(é)" });`, `/^TypeError: .*not ASCII/`},
		{"", `new URLPattern({ pathname: "/:a/:a" });`, `/^TypeError: .*"a" is used twice/`},
		{"", `new URLPattern({ pathname: "/([)" });`, `/^TypeError: .*regular expression/`},
		{"", `new URLPattern({ pathname: "\\" });`, `/^TypeError: .*nothing to escape/`},
		{"", `new URLPattern({ hostname: "a b" });`, `/^TypeError: .*hostname/`},
		{"", `new URLPattern({ port: "x" });`, `/^TypeError: .*port/`},
		{"", `new URLPattern({ protocol: "é" });`, `/^TypeError: .*protocol/`},
		{"", `new URLPattern({ pathname: "x".repeat(70000) });`, `/^TypeError: .*at most 65536/`},
		{"", `new URLPattern({}, {}, 3);`, `/^TypeError/`},
		{"", `return new URLPattern().test("/a", "no base");`, `false`},
		{"", `new URLPattern().test({}, "https://a.test");`, `/^TypeError: .*twice/`},
	})
}
