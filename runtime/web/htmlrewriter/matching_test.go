package htmlrewriter_test

import (
	"cmp"
	"strconv"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Selectors match against the open elements.
func TestHTMLRewriterMatching(t *testing.T) {
	rewrites(t, []webtest.Snippet{
		{"children without end tags", `return (() => run("<ul><li>a<li>b</ul>", marks("ul > li")))();`, `"<ul><li m=\"1\">a<li>b</ul>"`},
		{"descendants without end tags", `return (() => run("<ul><li>a<li>b</ul>", marks("li li")))();`, `"<ul><li>a<li m=\"1\">b</ul>"`},
		{
			"tables without end tags",
			`return (() => run("<table><tr><td>1<td>2<tr><td>3</table>", marks("tr > td")))();`,
			`"<table><tr><td m=\"1\">1<td>2<tr><td m=\"1\">3</table>"`,
		},
		{"end tags that close more", `return (() => run("<a><b></a><c></b></c>", marks("b c, a c")))();`, `"<a><b></a><c></b></c>"`},
		{
			"values without regard to case",
			`return (async () => { const L = []; await run("<input type=TEXT><input foo=TEXT>",
				(r) => r.on("[type=text]", { element() { L.push("type"); } }).on("[foo=text]", { element() { L.push("foo"); } })); return L;
				})();`,
			`["type"]`,
		},
		{
			"a list that matches twice",
			`return (() => run("<p>x</p>", (r) => r.on("p, p, *", { element(e) { e.before("1"); } })))();`,
			`"1<p>x</p>"`,
		},
		{
			"a handler registered twice",
			`return (() => run("<p>x</p>", (r) => { const h = { element(e) { e.before("1"); } }; return r.on("p", h).on("p", h); }))();`,
			`"11<p>x</p>"`,
		},
		{
			"a renamed parent",
			`return (() => run("<p><b>x</b></p>", (r) => r.on("p", { element(e) { e.tagName = "div";
				} }).on("p b", { element(e) { e.before("P"); } }).on("div b", { element(e) { e.before("D"); } })))();`,
			`"<div>P<b>x</b></div>"`,
		},
		{
			"an attribute set meanwhile",
			`return (() => run("<p><b>x</b></p>", (r) => r.on("p", { element(e) { e.setAttribute("k", "v");
				} }).on("[k] b", { element(e) { e.before("K"); } })))();`,
			`"<p k=\"v\"><b>x</b></p>"`,
		},
		{
			"options",
			`return (() => run("<select><option>a<option>b</select><p>", marks("option, p")))();`,
			`"<select><option m=\"1\">a<option m=\"1\">b</select><p m=\"1\">"`,
		},
		{
			"head and body",
			`return (() => run("<html><head><title>x</title></head><body><p>y</p></body></html>",
				marks("head > title, body > p, html > body")))();`,
			`"<html><head><title m=\"1\">x</title></head><body m=\"1\"><p m=\"1\">y</p></body></html>"`,
		},
		{
			"foreign elements that break out",
			`return (async () => [await run("<svg></p><title><b></title></svg><b>", marks("b")),
				await run("<math></br><style><b></style><b>", marks("b")), await run("<svg></b><title><b></title></svg>", marks("b"))])();`,
			`["<svg></p><title><b></title></svg><b m=\"1\">", "<math></br><style><b></style><b m=\"1\">",
				"<svg></b><title><b m=\"1\"></title></svg>"]`,
		},
		{"letters beyond ASCII", `return (() => run("<p c=É><p c=AÉ>", marks("p[c='é' i], p[c='aÉ' i]")))();`, `"<p c=É><p c=AÉ m=\"1\">"`},
		{
			"a template",
			`return (() => run("<template><p>x</p></template>", marks("template p")))();`,
			`"<template><p m=\"1\">x</p></template>"`,
		},
	})
}

// The elements of a document that selectors find.
func TestHTMLRewriterSelectors(t *testing.T) {
	const find = rewriting + `
const html = '<div id=A class="x y"><p lang=en-US data-v="Abc def">1</p><p class=X>2</p><span>3</span><p title>4</p>' +
	'<section><p id=z>5</p><i></i><p href="http://a/b.png">6</p></section></div>';
const find = async (selector) => { const found = []; await run(html, el(selector, (e) => { found.push(e.getAttribute("id") ?? e.tagName);
		})); return found.join(" "); };
`
	var cases []webtest.Snippet
	for _, c := range []struct{ selector, want string }{
		{`*`, `A p p span p section z i p`},
		{`p`, `p p p z p`},
		{`P`, `p p p z p`},
		{`div p`, `p p p z p`},
		{`div > p`, `p p p`},
		{`section > p`, `z p`},
		{`div section p`, `z p`},
		{`div>section>p`, `z p`},
		{`#A`, `A`},
		{`#a`, ``},
		{`.x`, `A`},
		{`.X`, `p`},
		{`.x.y`, `A`},
		{`div.x`, `A`},
		{`[id]`, `A z`},
		{`[ID]`, `A z`},
		{`[title='']`, `p`},
		{`[lang|=en]`, `p`},
		{`[lang|=EN i]`, `p`},
		{`[data-v~=def]`, `p`},
		{`[data-v^=Ab]`, `p`},
		{`[data-v^=ab]`, ``},
		{`[data-v^=ab i]`, `p`},
		{`[data-v$=ef]`, `p`},
		{`[data-v*='c d']`, `p`},
		{`[href$='.png']`, `p`},
		{`p:nth-child(1)`, `p z`},
		{`p:nth-child(2n+1)`, `p z p`},
		{`p:nth-child(odd)`, `p z p`},
		{`p:nth-child(even)`, `p p`},
		{`p:nth-child(-n+2)`, `p p z`},
		{`p:nth-of-type(2)`, `p p`},
		{`p:first-child`, `p z`},
		{`p:first-of-type`, `p z`},
		{`:first-of-type`, `A p span section z i`},
		{`p:not(.X)`, `p p z p`},
		{`p:not([id])`, `p p p p`},
		{`*:not(p)`, `A span section i`},
		{`:not(div)`, `p p span p section z i p`},
		{`p:not(:first-child)`, `p p p`},
		{`section p:nth-of-type(2n)`, `p`},
		{`p, span`, `p p span p z p`},
		{`div > *`, `p p span p section`},
		{`body p`, ``},
		{`[class]`, `A p`},
		{`[class=x]`, ``},
		{`[class='x y']`, `A`},
		{`[lang='EN-us']`, `p`},
		{`[lang='EN-us' i]`, `p`},
		{`[a^='']`, ``},
		{`[data-v*='']`, ``},
		{`[title^='']`, ``},
		{`:not(p, span)`, `A section i`},
		{`p:nth-child(n+3)`, `p p`},
		{`:not(.x.y)`, `p p span p section z i p`},
		{`DIV P`, `p p p z p`},
		{`[type=a]`, ``},
	} {
		cases = append(cases, webtest.Snippet{c.selector, find + `return find("` + c.selector + `");`, `"` + c.want + `"`})
	}
	webtest.Try(t, web.Options{}, cases)
}

// Errors for selectors that a stream cannot match, and for invalid ones.
func TestHTMLRewriterSelectorErrors(t *testing.T) {
	var cases []webtest.Snippet
	for _, c := range []struct{ selector, want string }{
		{``, `The selector is empty.`},
		{`p:`, `Unexpected end of selector.`},
		{`p::before`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`p:hover`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`p + q`, "Unsupported combinator `+` in selector."},
		{`p ~ q`, "Unsupported combinator `~` in selector."},
		{`p >`, `Dangling combinator in selector.`},
		{`> p`, `The selector is empty.`},
		{`[`, `Unexpected end of selector.`},
		{`[a`, `ok`},
		{`[=x]`, `Missing attribute name in attribute selector.`},
		{`[a=]`, `Unexpected end of selector.`},
		{`a|b`, `Selectors with explicit namespaces are not supported.`},
		{`.`, `Unexpected end of selector.`},
		{`#`, `The selector is empty.`},
		{`.1`, `The selector is empty.`},
		{`p,`, `The selector is empty.`},
		{`:not(p q)`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:not(:not(p))`, `ok`},
		{`:not()`, `The selector is empty.`},
		{`:nth-child()`, `Unexpected end of selector.`},
		{`:nth-child(x)`, `Unexpected token in selector.`},
		{`:has(p)`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:is(p)`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`p||q`, `Selectors with explicit namespaces are not supported.`},
		{`*|*`, `ok`},
		{`a:first-letter`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:root`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:empty`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:last-child`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:only-child`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`[a=b x]`, `Unexpected token in selector.`},
		{`p..q`, `Invalid or unescaped class name in selector.`},
		{`@`, `The selector is empty.`},
		{`p{`, `Unexpected token in selector.`},
		{`p /* c */ q`, `ok`},
		{`é`, `ok`},
		{`[a^='']`, `ok`},
		{`:nth-child(2 of p)`, `Unexpected token in selector.`},
		{`:not(p, q)`, `ok`},
		{`:not(.a.b)`, `ok`},
		{`:first-child`, `ok`},
		{`:where(p)`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`p q::after`, `Unsupported pseudo-class or pseudo-element in selector.`},
		{`:FIRST-CHILD`, `ok`},
		{`:nth-of-type(2N+1)`, `ok`},
		{`svg|p`, `Selectors with explicit namespaces are not supported.`},
		{`[foo|a]`, `Selectors with explicit namespaces are not supported.`},
		{`[a='b' I]`, `ok`},
		{`[a='b'i]`, `ok`},
		{`p>q`, `ok`},
		{"p\t>\nq", `ok`},
		{`p q , r`, `ok`},
	} {
		want := "TypeError: Parser error: " + c.want
		if c.want == "ok" {
			want = "undefined"
		}
		code := `new HTMLRewriter().on(` + strconv.Quote(c.selector) + `, {});`
		cases = append(cases, webtest.Snippet{cmp.Or(c.selector, "an empty selector"), code, want})
	}
	webtest.Try(t, web.Options{}, cases)
}

// Ambiguous text and markup, as on the platform.
func TestHTMLRewriterAmbiguity(t *testing.T) {
	var cases []webtest.Snippet
	for document, refused := range map[string]string{
		"<select><title>x</title></select>": "title", "<SELECT/><STYLE>": "style", "<select><option><svg><title>": "title",
		"<select><option>x</option><noscript>":            "noscript",
		"<select><template><template></template><script>": "script", "<select><template></template></template><iframe>": "iframe",
		"<frameset><textarea>": "textarea", "<frameset></frameset><xmp>": "xmp",
		"<select></select><style></style>": "", "<select><script></script></select>": "", "<select><textarea></textarea><title>": "",
		"<select><input><title>":  "",
		"<select><select><title>": "", "<frameset><noframes></noframes><template></template>": "", "<select><!-- <style> --><p>": "",
	} {
		want := strconv.Quote(document)
		if refused != "" {
			want = "/TypeError: Parser error: The parser has encountered a text content tag .`<" + refused + ">`/"
		}
		cases = append(cases, webtest.Snippet{document, `return await run(` + strconv.Quote(document) + `, marks("none"));`, want})
	}
	rewrites(t, cases)
}
