package htmlrewriter_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// This file tests HTMLRewriter on documents. The expected results are those of the
// platform.

func TestHTMLRewriterShape(t *testing.T) {
	webtest.Shapes(t, "HTMLRewriter/0: on/2 onDocument/1 transform/1")
}

// rewriting are functions for the code of tests: run rewrites a document, el sets a handler of elements, and log notes each event.
const rewriting = `
const run = async (html, f, chunks) => {
  const body = chunks ? new ReadableStream({ start(c) { for (const x of chunks) c.enqueue(typeof x === "string" ? new TextEncoder().encode(
    x) : x); c.close(); } }) : html;
  return await f(new HTMLRewriter()).transform(new Response(body, { headers: { "content-type": "text/html" } })).text();
};
const el = (sel, fn) => (r) => r.on(sel, { element: fn });
const log = (r, sel, L) => r.on(sel, { element(e) { L.push(["E", e.tagName, [...e.attributes]]); }, comments(c) { L.push(["C", c.text]);
	}, text(t) { L.push(["T", t.text, t.lastInTextNode]); } });
const tries = (f) => { try { const v = f(); return v === undefined ? "undefined" : v; } catch (e) { return e.name + ": " + e.message; } };
const marks = (sel) => el(sel, (e) => { e.setAttribute("m", "1"); });
`

func rewrites(t *testing.T, cases []webtest.Snippet) {
	t.Helper()
	for i := range cases {
		cases[i][1] = rewriting + cases[i][1]
	}
	webtest.Try(t, web.Options{}, cases)
}

// Content around, inside and in place of elements.
func TestHTMLRewriterContent(t *testing.T) {
	rewrites(t, []webtest.Snippet{
		{
			"before",
			`return (() => run("<p>x</p>", el("p", (e) => { e.before("A"); e.before("<B>"); e.before("<i>", { html: true }); })))();`,
			`"A&lt;B&gt;<i><p>x</p>"`,
		},
		{
			"after",
			`return (() => run("<p>x</p>", el("p", (e) => { e.after("A"); e.after("<B>"); e.after("<i>", { html: true }); })))();`,
			`"<p>x</p><i>&lt;B&gt;A"`,
		},
		{
			"prepend",
			`return (() => run("<p>x</p>", el("p", (e) => { e.prepend("A"); e.prepend("<&\">"); })))();`,
			`"<p>&lt;&amp;\"&gt;Ax</p>"`,
		},
		{"append", `return (() => run("<p>x</p>", el("p", (e) => { e.append("A"); e.append("B"); })))();`, `"<p>xAB</p>"`},
		{
			"replace",
			`return (() => run("<p>x</p>", el("p", (e) => { e.before("1"); e.replace("A"); e.replace("B"); e.after("2"); e.prepend("3");
				e.append("4"); })))();`,
			`"1B342"`,
		},
		{
			"remove",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.before("1"); e.remove(); e.after("2"); e.prepend("3"); e.append("4");
				})))();`,
			`"1342y"`,
		},
		{
			"removed, before and after",
			`return (() => run("<p>x</p>y", el("p", (e) => { const a = e.removed; e.remove(); e.after(a + "" + e.removed); })))();`,
			`"falsetruey"`,
		},
		{
			"removed by replace",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.replace("q"); e.after(e.removed + ""); })))();`,
			`"qtruey"`,
		},
		{
			"replaced, then removed",
			`return (async () => [await run("<p>x</p>y", el("p", (e) => { e.replace("R"); e.remove();
				})), await run("<p>x</p>y", el("p", (e) => { e.replace("R"); e.removeAndKeepContent();
				})), await run("<p>x</p>", (r) => r.on("p", { text(t) { if (t.text) { t.replace("R"); t.remove();
				} } })), await run("<!--c-->", (r) => r.onDocument({ comments(c) { c.replace("R"); c.remove(); } }))])();`,
			`["Ry", "Ry", "<p>R</p>", "R"]`,
		},
		{
			"text before a tag that is cut off",
			`return (() => run("x<p a='", (r) => r.onDocument({ text(t) { if (t.lastInTextNode) t.after("|"); } })))();`,
			`"x|<p a='"`,
		},
		{
			"removeAndKeepContent",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.removeAndKeepContent(); e.before("1"); e.prepend("2"); e.append("3");
				e.after("4"); })))();`,
			`"12x34y"`,
		},
		{
			"removed by removeAndKeepContent",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.removeAndKeepContent(); e.after(e.removed + ""); })))();`,
			`"xtruey"`,
		},
		{
			"setInnerContent twice",
			`return (() => run("<p>x<b>y</b></p>z", el("p", (e) => { e.prepend("0"); e.append("9"); e.setInnerContent("<q>");
				e.setInnerContent("<i>", { html: true }); e.prepend("1"); e.append("2"); })))();`,
			`"<p>1<i>2</p>z"`,
		},
		{
			"setInnerContent, then prepend and append",
			`return (() => run("<p>x</p>", el("p", (e) => { e.setInnerContent("m"); e.prepend("1"); e.append("2"); })))();`,
			`"<p>1m2</p>"`,
		},
		{
			"void elements",
			`return (() => run("<br>x<img src=a>", el("*", (e) => { e.before("1"); e.prepend("2"); e.append("3"); e.after("4");
				e.setInnerContent("5"); })))();`,
			`"1<br>4x1<img src=a>4"`,
		},
		{"onEndTag of a void element", `return (() => run("<br>x", el("br", (e) => tries(() => e.onEndTag(() => {})))))();`, `"<br>x"`},
		{"replace of a void element", `return (() => run("a<br>x", el("br", (e) => { e.replace("R"); })))();`, `"aRx"`},
		{
			"a slash on an HTML element",
			`return (() => run("<div/>x</div>y", el("div", (e) => { e.append("A"); e.after("F"); })))();`,
			`"<div/>xA</div>Fy"`,
		},
		{
			"a slash on an SVG element",
			`return (() => run("<svg><a/>x<g></g></svg>y", el("*", (e) => { e.append("A"); e.after("F"); })))();`,
			`"<svg><a/>Fx<g>A</g>FA</svg>Fy"`,
		},
		{
			"handlers within a removed element",
			`return (async () => { const L = []; const o = await run("<div><p>x<!--c--></p></div>",
				(r) => r.on("div", { element(e) { e.remove(); } }).on("p", { element(e) { L.push("p" + e.removed); e.before("B");
				e.after("A"); }, text(t) { L.push("t" + t.removed); }, comments() { L.push("c"); } })); return [L, o]; })();`,
			`[["ptrue", "tfalse", "tfalse", "c"], ""]`,
		},
		{
			"handlers within new inner content",
			`return (async () => { const L = []; const o = await run("<div><p>x</p></div>",
				(r) => r.on("div", { element(e) { e.setInnerContent("I"); } }).on("p", { element(e) { L.push("p"); e.before("B"); } }));
				return [L, o]; })();`,
			`[["p"], "<div>I</div>"]`,
		},
		{
			"streams",
			`return (() => run("<p>x</p>", el("p", (e) => { e.append(new Response("<b>").body);
				e.prepend(new Response("<i>"), { html: true }); e.before("z"); e.after(new Response("<u>").body, { html: true }); })))();`,
			`"z<p><i>x&lt;b&gt;</p><u>"`,
		},
		{
			"two handlers of one element",
			`return (() => run("<p>x</p>", (r) => r.on("p", { element(e) { e.setAttribute("a", "1"); e.remove();
				} }).on("p", { element(e) { e.before(e.removed + e.getAttribute("a")); } })))();`,
			`"true1"`,
		},
		{
			"nested elements",
			`return (() => run("<div><div>a</div>b</div>", el("div", (e) => { e.append("!"); })))();`,
			`"<div><div>a!</div>b!</div>"`,
		},
	})
}

// Of names and attributes.
func TestHTMLRewriterAttributes(t *testing.T) {
	rewrites(t, []webtest.Snippet{
		{
			"set and remove",
			`return (() => run("<p A=1 b='2' c=\"3\" d e=a&amp;b>x", el("p", (e) => { e.setAttribute("Z", "q\"<>&'");
				e.setAttribute("b", "x"); e.removeAttribute("C"); })))();`,
			`"<p A=1 b=\"x\" d e=a&amp;b z=\"q&quot;<>&'\">x"`,
		},
		{
			"read",
			`return (async () => { const L = []; await run("<p A=1 b='2' c=\"3\" d e=a&amp;b b=9>x",
				el("p", (e) => { L.push([...e.attributes], e.getAttribute("B"), e.getAttribute("q"), e.hasAttribute("D"),
				e.hasAttribute("q"), e.getAttribute("d"), Object.prototype.toString.call(e.attributes), typeof e.attributes.next); }));
				return L; })();`,
			`[[["a", "1"], ["b", "2"], ["c", "3"], ["d", ""], ["e", "a&amp;b"], ["b", "9"]], "2", null, true, false, "",
				"[object AttributesIterator]", "function"]`,
		},
		{
			"slashes behind attributes",
			`return (() => run("<p a=1 /><br/ ><br a=1/>", el("*", (e) => { e.setAttribute("b", "2"); })))();`,
			`"<p a=1 b=\"2\" /><br b=\"2\"><br a=1/ b=\"2\">"`,
		},
		{
			"names with capitals",
			`return (() => run("<svg viewBox='0 0 1 1' P:Q=1>x", el("svg", (e) => { e.setAttribute("viewBox", "0 0 2 2");
				e.setAttribute("p:q", "2"); e.setAttribute("VIEWBOX", e.getAttribute("viewbox") + "!"); e.setAttribute("New", "3");
				e.setAttribute("NEW", "4"); })))();`,
			`"<svg viewBox=\"0 0 2 2!\" P:Q=\"2\" new=\"4\">x"`,
		},
		{
			"removed and set again",
			`return (() => run("<a B=1 C=2>x", el("a", (e) => { e.removeAttribute("b"); e.setAttribute("b", "3"); e.setAttribute("c", "4");
				})))();`,
			`"<a C=\"4\" b=\"3\">x"`,
		},
		{
			"set to the same value",
			`return (() => run("<p   a=1    b=2  >x", el("p", (e) => { e.setAttribute("a", "1"); })))();`,
			`"<p a=\"1\" b=2>x"`,
		},
		{
			"an absent one removed",
			`return (() => run("<p   a=1    b=2  >x", el("p", (e) => { e.removeAttribute("zz"); })))();`,
			`"<p   a=1    b=2  >x"`,
		},
		{
			"malformed names",
			`return (async () => { const L = []; await run("<p>x",
				el("p", (e) => { for (const n of ["", "a b", "a=b", "a/b", "a>b", "a<b", "\"", "é", "a\0"]) L.push([n,
				typeof tries(() => e.setAttribute(n, "v")) === "string" ? tries(() => e.setAttribute(n, "v")) : "ok"]); })); return L;
				})();`,
			"[[\"\", \"TypeError: Parser error: Attribute name can't be empty.\"], [\"a b\", \"TypeError: Parser error: ` ` character is " +
				"forbidden in the attribute name\"], [\"a=b\", \"TypeError: Parser error: `=` character is forbidden in the attribute " +
				"name\"], [\"a/b\", \"TypeError: Parser error: `/` character is forbidden in the attribute name\"], [\"a>b\", " +
				"\"TypeError: Parser error: `>` character is forbidden in the attribute name\"], [\"a<b\", \"ok\"], [\"\\\"\", \"ok\"], " +
				"[\"é\", \"ok\"], [\"a\\u0000\", \"ok\"]]",
		},
		{
			"names beyond ASCII",
			`return (async () => { const L = []; const o = await run("<p É=1 K=2>x",
				el("p", (e) => { L.push(e.getAttribute("É"), e.getAttribute("é"), e.hasAttribute("k"), e.hasAttribute("\u212a"));
				e.setAttribute("ÉA", "3"); e.removeAttribute("É"); })); return [L, o]; })();`,
			`[["1", null, true, false], "<p K=2 Éa=\"3\">x"]`,
		},
		{
			"changed while iterating",
			`return (async () => { const L = [];
				for (const f of [(e, n) => e.removeAttribute(n), (e, n) => e.setAttribute(n, "9"),
				(e) => e.removeAttribute("none")]) await run(
				"<p a=1 b=2>x", el("p", (e) => { try { for (const [name] of e.attributes) { L.push(name); f(e, name);
				} } catch (error) { L.push(error.name + ": " + error.message.slice(0, 56)); } })); return L; })();`,
			`["a", "Error: The attributes of this element have been modified during", "a",
				"Error: The attributes of this element have been modified during", "a",
				"Error: The attributes of this element have been modified during"]`,
		},
		{
			"changed behind a copy",
			`return (() => run("<p a=1 b=2>x", el("p", (e) => { for (const [name] of [...e.attributes]) e.removeAttribute(name);
				e.setAttribute("left", [...e.attributes].length); })))();`,
			`"<p left=\"0\">x"`,
		},
		{
			"a slash with other edits",
			`return (() => { const on = [(e) => e.append("A"), (e) => e.prepend("P"), (e) => e.setInnerContent(""), (e) => e.before("B"),
				(e) => e.after("F"), (e) => e.onEndTag(() => {})];
				return Promise.all(on.map((f) => run("<p a/>x</p><br a />", el("*", (e) => { try { f(e); } catch {} e.setAttribute("k", "");
				})))); })();`,
			`["<p a k=\"\">xA</p><br a k=\"\" />", "<p a k=\"\">Px</p><br a k=\"\" />", "<p a k=\"\"></p><br a k=\"\" />",
				"B<p a k=\"\" />x</p>B<br a k=\"\" />", "<p a k=\"\" />x</p>F<br a k=\"\" />F", "<p a k=\"\" />x</p><br a k=\"\" />"]`,
		},
		{
			"duplicates removed",
			`return (() => run("<p a=1 b A=2 a>x", el("p", (e) => { e.removeAttribute("A"); e.removeAttribute("none"); })))();`,
			`"<p b>x"`,
		},
		{
			"slashes and a new tag name",
			`return (() => run("<a/><a x/><a x=1 />", el("a", (e) => { e.removeAttribute("x"); e.tagName = "b"; })))();`,
			`"<b/><b/><b/>"`,
		},
		{"a new tag name", `return (() => run("<P a=1>x</P>", el("p", (e) => { e.tagName = "DIV"; })))();`, `"<DIV a=1>x</DIV>"`},
		{
			"tagName and namespaceURI",
			`return (async () => { const L = []; await run("<P>x</P>", el("p", (e) => { L.push(e.tagName, e.namespaceURI); })); return L;
				})();`,
			`["p", "http://www.w3.org/1999/xhtml"]`,
		},
		{
			"malformed tag names",
			`return (async () => { const L = []; await run("<p>x",
				el("p", (e) => { for (const n of ["", "1", "a b", "a/b", "a>b", "é", "a-b", "-a"]) L.push([n, tries(() => { e.tagName = n;
				return "ok"; })]); })); return L; })();`,
			"[[\"\", \"TypeError: Parser error: Tag name can't be empty.\"], [\"1\", \"TypeError: Parser error: The first character of " +
				"the tag name should be an ASCII alphabetical character.\"], [\"a b\", \"TypeError: Parser error: ` ` character is " +
				"forbidden in the tag name\"], [\"a/b\", \"TypeError: Parser error: `/` character is forbidden in the tag name\"], " +
				"[\"a>b\", \"TypeError: Parser error: `>` character is forbidden in the tag name\"], [\"é\", \"TypeError: Parser error: " +
				"The first character of the tag name should be an ASCII alphabetical character.\"], [\"a-b\", \"ok\"], [\"-a\", " +
				"\"TypeError: Parser error: The first character of the tag name should be an ASCII alphabetical character.\"]]",
		},
		{
			"namespaces",
			`return (async () => { const L = [];
				await run("<svg><p2></p2><foreignObject><p></p></foreignObject><title><b></b></title></svg>" +
					"<math><mi><i></i></mi><annotation-xml encoding=text/html><u></u></annotation-xml></math><p></p>",
					el("*", (e) => { L.push(e.tagName + " " + e.namespaceURI); })); return L; })();`,
			`["svg http://www.w3.org/2000/svg", "p2 http://www.w3.org/2000/svg", "foreignobject http://www.w3.org/2000/svg",
				"p http://www.w3.org/1999/xhtml", "title http://www.w3.org/2000/svg", "b http://www.w3.org/1999/xhtml",
				"math http://www.w3.org/1998/Math/MathML", "mi http://www.w3.org/1998/Math/MathML", "i http://www.w3.org/1999/xhtml",
				"annotation-xml http://www.w3.org/1998/Math/MathML", "u http://www.w3.org/1999/xhtml", "p http://www.w3.org/1999/xhtml"]`,
		},
		{
			"odd markup",
			`return (async () => { const L = []; await run("<p a=>y<p =a>y<p a\"b=c>y<p a=b\"c>y<p a = 'x'b=1>y<p/a/b=1/>y<p a=1/>",
				el("p", (e) => { L.push([...e.attributes]); })); return L; })();`,
			`[[["a", ""]], [["=a", ""]], [["a\"b", "c"]], [["a", "b\"c"]], [["a", "x"], ["b", "1"]], [["a", ""], ["b", "1/"]],
				[["a", "1/"]]]`,
		},
	})
}

// End tags, and elements without one.
func TestHTMLRewriterEndTags(t *testing.T) {
	rewrites(t, []webtest.Snippet{
		{
			"end tags that are missing",
			`return (() => run("<div><p>x<b>q</div>y", el("*", (e) => { const n = e.tagName; e.append("[" + n + "]");
				e.after("{" + n + "}"); })))();`,
			`"<div><p>x<b>q[div]</div>{div}y"`,
		},
		{
			"a missing end tag within",
			`return (() => run("<div><p>x<b>q</p></div>y", el("p, b", (e) => { e.append("[" + e.tagName + "]"); })))();`,
			`"<div><p>x<b>q[p]</p></div>y"`,
		},
		{
			"a removed element without an end tag",
			`return (() => run("<div><p>x<b>q</div>y", (r) => r.on("b", { element(e) { e.remove();
				} }).on("div", { element(e) { e.append("D"); } })))();`,
			`"<div><p>xD</div>y"`,
		},
		{
			"a replaced element without an end tag",
			`return (() => run("<div><p>x<b>q</div>y", (r) => r.on("p", { element(e) { e.replace("i");
				} }).on("div", { element(e) { e.after("D"); } })))();`,
			`"<div>i</div>Dy"`,
		},
		{
			"an outer append of nothing",
			`return (() => run("<div><p>x<b>q</div>y", (r) => r.on("b", { element(e) { e.append("B");
				} }).on("p", { element(e) { e.append(""); } })))();`,
			`"<div><p>x<b>q</div>y"`,
		},
		{
			"an outer setInnerContent",
			`return (() => run("<div><p>x<b>q</div>y", (r) => r.on("b", { element(e) { e.append("B");
				} }).on("p", { element(e) { e.append("P"); e.setInnerContent("I"); } })))();`,
			`"<div><p>I</div>y"`,
		},
		{
			"callbacks of two elements",
			`return (async () => { const L = []; const o = await run("<div><p>x<b>q</div>y",
				(r) => r.on("b", { element(e) { e.onEndTag((t) => { L.push("b" + t.name); t.before("(b)"); t.name = "n"; });
				} }).on("div", { element(e) { e.append("D"); e.onEndTag((t) => { L.push("d" + t.name); t.after("d"); }); } }));
				return [L, o]; })();`,
			`[["bdiv", "dn"], "<div><p>x<b>qD</n>dy"]`,
		},
		{
			"an end tag removed within",
			`return (async () => { const L = []; const o = await run("<div><p>x<b>q</div>y", (r) => r.on("b", { element(e) { e.append("B");
				e.onEndTag((t) => { t.remove(); L.push(1); }); } }).on("div", { element(e) { e.after("D"); } })); return [L, o]; })();`,
			`[[1], "<div><p>x<b>q</div>Dy"]`,
		},
		{
			"an outer callback",
			`return (() => run("<div><p>x<b>q</div>y", (r) => r.on("b", { element(e) { e.append("B");
				} }).on("div", { element(e) { e.onEndTag((t) => { t.before("d"); }); } })))();`,
			`"<div><p>x<b>qBd</div>y"`,
		},
		{
			"onEndTag of br",
			`return (async () => { let m; await run("<br>x", el("br", (e) => { m = tries(() => e.onEndTag(() => {})); })); return m; })();`,
			`"TypeError: Parser error: No end tag."`,
		},
		{
			"a renamed end tag with white space",
			`return (() => run("<p>x</P >y", el("p", (e) => { e.onEndTag((t) => { t.before("B" + t.name); t.after("A"); t.name = "q"; });
				})))();`,
			`"<p>xBp</q>Ay"`,
		},
		{
			"a renamed end tag",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.onEndTag((t) => { t.name = "q"; }); })))();`,
			`"<p>x</q>y"`,
		},
		{
			"a removed end tag",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.onEndTag((t) => { t.before("1"); t.remove(); t.after("2"); }); e.append("3");
				e.after("4"); })))();`,
			`"<p>x3124y"`,
		},
		{
			"two callbacks of one handler",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.onEndTag((t) => { t.before("1"); }); e.onEndTag((t) => { t.before("2"); });
				})))();`,
			`"<p>x2</p>y"`,
		},
		{
			"callbacks of two handlers",
			`return (() => run("<p>x</p>y", (r) => r.on("p", { element(e) { e.onEndTag((t) => { t.before("1"); t.after("1"); });
				e.append("a"); } }).on("p", { element(e) { e.onEndTag((t) => { t.before("2"); t.after("2"); }); e.append("b"); } })))();`,
			`"<p>xab2</p>2y"`,
		},
		{
			"a callback at an outer end tag",
			`return (() => run("<div><p>x</div>y", el("p", (e) => { e.onEndTag((t) => { t.before("[" + t.name + "]"); }); e.append("P");
				e.after("F"); })))();`,
			`"<div><p>xP[div]</div>Fy"`,
		},
		{"removed up to an outer end tag", `return (() => run("<div><p>x</div>y", el("p", (e) => { e.remove(); })))();`, `"<div>y"`},
		{
			"kept up to an outer end tag",
			`return (() => run("<div><p>x</div>y", el("p", (e) => { e.removeAndKeepContent(); })))();`,
			`"<div>xy"`,
		},
		{
			"renamed up to an outer end tag",
			`return (() => run("<div><p>x</div>y", el("p", (e) => { e.tagName = "q"; })))();`,
			`"<div><q>x</q>y"`,
		},
		{
			"no end tag at all",
			`return (() => run("<div><p>x", el("p", (e) => { e.onEndTag((t) => { t.before("[" + t.name + "]"); }); e.append("P");
				e.after("F"); })))();`,
			`"<div><p>x"`,
		},
		{"removed to the end", `return (() => run("<div><p>x", el("p", (e) => { e.remove(); })))();`, `"<div>"`},
		{
			"an asynchronous callback",
			`return (() => run("<p>x</p>y", el("p", (e) => { e.onEndTag(async (t) => { await 1; t.before("1"); }); })))();`,
			`"<p>x1</p>y"`,
		},
		{
			"end tags without a start",
			`return (() => run("a</p>b</div><div>c</p></div>", marks("*")))();`,
			`"a</p>b</div><div m=\"1\">c</p></div>"`,
		},
	})
}

// Of texts and comments.
func TestHTMLRewriterText(t *testing.T) {
	rewrites(t, []webtest.Snippet{
		{
			"a comment changed",
			`return (() => run("<p><!--x--></p><!--y-->", (r) => r.on("p", { comments(c) { c.text = c.text + "!"; c.before("<1>");
				c.after("2", { html: true }); } })))();`,
			`"<p>&lt;1&gt;<!--x!-->2</p><!--y-->"`,
		},
		{
			"a comment with its end in it",
			`return (async () => { let m; await run("<p><!--x--></p>", (r) => r.on("p", { comments(c) { m = tries(() => { c.text = "a-->b";
				return "ok"; }); } })); return m; })();`,
			`"TypeError: Parser error: Comment text shouldn't contain a comment-closing sequence."`,
		},
		{
			"comments of all kinds",
			`return (async () => { const L = []; const out = await run(
				"<!--a--!><!-->b<!--->c<!x><?php y?></ z><![CDATA[q]]><!doctype html><!---->",
				(r) => r.onDocument({ comments(c) { L.push(c.text); }, doctype(d) { L.push(["D", d.name, d.publicId, d.systemId]);
				}, text(t) { L.push(["T", t.text, t.lastInTextNode]); } })); return [L, out]; })();`,
			`[["a", "", ["T", "b", false], ["T", "", true], "", ["T", "c", false], ["T", "", true], "x", "?php y?", " z", "[CDATA[q]]",
				["D", "html", null, null], ""], "<!--a--!><!-->b<!--->c<!x><?php y?></ z><![CDATA[q]]><!doctype html><!---->"]`,
		},
		{
			"a comment removed",
			`return (() => run("<p>a<!--x-->b</p>", (r) => r.on("p", { comments(c) { c.remove(); } })))();`,
			`"<p>ab</p>"`,
		},
		{
			"a comment replaced",
			`return (() => run("<p>a<!--x-->b</p>", (r) => r.on("p", { comments(c) { c.replace("<R>"); } })))();`,
			`"<p>a&lt;R&gt;b</p>"`,
		},
		{
			"text nodes",
			`return (async () => { const L = []; await run("<p>Hello <b>W</b>orld</p>z", (r) => log(r, "p", L)); return L; })();`,
			`[["E", "p", []], ["T", "Hello ", false], ["T", "", true], ["T", "W", false], ["T", "", true], ["T", "orld", false],
				["T", "", true]]`,
		},
		{
			"a character in two pieces",
			`return (async () => { const L = []; const b = new TextEncoder().encode("é");
				await run(null, (r) => log(r, "p", L), ["<p>a", b.slice(0, 1), b.slice(1), "</p>"]); return L; })();`,
			`[["E", "p", []], ["T", "a", false], ["T", "é", false], ["T", "", true]]`,
		},
		{
			"ill-formed bytes",
			`return (async () => { const L = []; const o = await run(null, (r) => log(r, "p", L),
				["<p>a", new Uint8Array([255, 254]), "</p>"]); return [L, o]; })();`,
			`[[["E", "p", []], ["T", "a", false], ["T", "��", false], ["T", "", true]], "<p>a��</p>"]`,
		},
		{
			"text replaced",
			`return (() => run("<p>Hello</p>", (r) => r.on("p", { text(t) { if (t.lastInTextNode) t.replace("END");
				else t.replace("<x>", { html: true }); } })))();`,
			`"<p><x>END</p>"`,
		},
		{
			"before and after a text",
			`return (() => run("<p>Hello</p>", (r) => r.on("p", { text(t) { t.before("["); t.after("]"); } })))();`,
			`"<p>[Hello][]</p>"`,
		},
		{
			"text removed",
			`return (() => run("<p>Hello<b>x</b></p>", (r) => r.on("p", { text(t) { t.remove(); } })))();`,
			`"<p><b></b></p>"`,
		},
		{
			"removed of a text",
			`return (async () => { const L = []; await run("<p>H</p>", (r) => r.on("p", { text(t) { L.push(t.removed); t.remove();
				L.push(t.removed); } })); return L; })();`,
			`[false, true, false, true]`,
		},
		{
			"references stay",
			`return (async () => { const L = []; await run("<p>a&amp;b&lt;</p>", (r) => log(r, "p", L)); return L; })();`,
			`[["E", "p", []], ["T", "a&amp;b&lt;", false], ["T", "", true]]`,
		},
		{
			"plaintext",
			`return (async () => { const L = []; await run("<plaintext><b>x</plaintext><i>", (r) => log(r, "*", L)); return L; })();`,
			`[["E", "plaintext", []], ["T", "<b>x</plaintext><i>", false], ["T", "", true]]`,
		},
		{
			"CDATA",
			`return (async () => { const L = []; const o = await run("<svg><![CDATA[<b>x]]></svg><p>", (r) => log(r, "*", L));
				return [L, o]; })();`,
			`[[["E", "svg", []], ["T", "<b>x", false], ["T", "", true], ["E", "p", []]], "<svg><![CDATA[<b>x]]></svg><p>"]`,
		},
	})
}

// Whole documents, with handlers.
func TestHTMLRewriterDocuments(t *testing.T) {
	const invalid = "TypeError: This content token is no longer valid. " +
		"Content tokens are only valid during the execution of the relevant content handler."
	rewrites(t, []webtest.Snippet{
		{
			"a document without handlers",
			`return (() => run("<!doctype html><p CLASS=a>x<BR/></p  ><!-- c --><div a='1' b=2 c>", (r) => r))();`,
			`"<!doctype html><p CLASS=a>x<BR/></p  ><!-- c --><div a='1' b=2 c>"`,
		},
		{
			"doctypes",
			`return (async () => { const L = [];
				for (const d of ["<!DOCTYPE HTML PUBLIC \"-//W3C//DTD\" \"http://x\">", "<!doctype>", "<!doctype html SYSTEM 'a'>",
				"<!DocType   html  >"]) await run(
				d, (r) => r.onDocument({ doctype(t) { L.push([t.name, t.publicId, t.systemId]); } })); return L; })();`,
			`[["html", "-//W3C//DTD", "http://x"], [null, null, null], ["html", null, "a"], ["html", null, null]]`,
		},
		{
			"the end of a document",
			`return (() => run("<p>x", (r) => r.onDocument({ end(e) { e.append("<1>"); e.append("<2>", { html: true }); } })))();`,
			`"<p>x&lt;1&gt;<2>"`,
		},
		{"the end of an empty document", `return (() => run("", (r) => r.onDocument({ end(e) { e.append("E"); } })))();`, `"E"`},
		{
			"the order of handlers",
			`return (async () => { const L = []; await run("<p><!--c-->t</p>", (r) => r.on("p", { element() { L.push("p1");
				}, comments() { L.push("pc1"); }, text() { L.push("pt1"); } }).onDocument({ comments() { L.push("dc");
				}, text() { L.push("dt"); } }).on("*", { element() { L.push("*"); }, comments() { L.push("*c");
				} }).on("p", { element() { L.push("p2"); } })); return L; })();`,
			`["p1", "*", "p2", "pc1", "*c", "dc", "pt1", "dt", "pt1", "dt"]`,
		},
		{
			"an asynchronous handler",
			`return (() => run("<p>x</p><p>y</p>", (r) => r.on("p", { async element(e) { await new Promise((q) => setTimeout(q, 5));
				e.before("A"); } })))();`,
			`"A<p>x</p>A<p>y</p>"`,
		},
		{
			"a handler that throws",
			`return (() => run("<p>x</p>", el("p", () => { throw new RangeError("mine"); })).catch((e) => e.name + ": " + e.message))();`,
			`"RangeError: mine"`,
		},
		{
			"an asynchronous handler that throws",
			`return (() => run("<p>x</p>", el("p", async () => { await 1; throw new RangeError("mine");
				})).catch((e) => e.name + ": " + e.message))();`,
			`"RangeError: mine"`,
		},
		{
			"tokens after their handler",
			`return (async () => { let k; await run("<p>x</p>", el("p", (e) => { k = e; }));
				return [tries(() => k.tagName), tries(() => k.before("x")), tries(() => k.getAttribute("x"))]; })();`,
			`["` + invalid + `", "` + invalid + `", "` + invalid + `"]`,
		},
		{
			"methods return the token",
			`return (async () => { let L = []; await run("<p>x<!--c--></p>",
				(r) => r.on("p", { element(e) { L.push(e.before("") === e, e.setAttribute("a", "b") === e, e.removeAttribute("a") === e,
				e.remove() === e, e.setInnerContent("x") === e, e.removeAndKeepContent() === e, e.onEndTag(() => {}) === undefined);
				}, comments(c) { L.push(c.before("") === c, c.remove() === c, c.replace("") === c);
				}, text(t) { L.push(t.before("") === t, t.remove() === t); } })); return L; })();`,
			`[true, true, true, true, true, true, true, true, true, true, true, true, true, true]`,
		},
		{
			"an object as the handler",
			`return (async () => { class H { x = 7; element(e) { e.before("" + this?.x); } } return run("<p>", (r) => r.on("p", new H()));
				})();`,
			`"7<p>"`,
		},
		{
			"an object as the document's handler",
			`return (async () => { class H { x = 7; end(e) { e.append("" + this?.x); } } return run("<p>", (r) => r.onDocument(new H()));
				})();`,
			`"<p>7"`,
		},
		{
			"handlers that are not objects",
			`const tried = (f) => { try { f(new HTMLRewriter()); return "taken" } catch (e) { return String(e) } };
				return [undefined, null, () => {}, []].every((v) => tried((r) => r.on("p", v)) === "taken" &&
					tried((r) => r.onDocument(v)) === "taken") ? [tried((r) => r.on("p", 5)), tried((r) => r.onDocument("x"))] : "refused"`,
			`["TypeError: Failed to execute 'on' on 'HTMLRewriter': parameter 2 is not of type 'ElementContentHandlers'.",
				"TypeError: Failed to execute 'onDocument' on 'HTMLRewriter': parameter 1 is not of type 'DocumentContentHandlers'."]`,
		},
		{
			"a response without a body",
			`return (() => { const r = new Response(null, { status: 204 }); const o = new HTMLRewriter().transform(r);
				return [o === r, o.status]; })();`,
			`[true, 204]`,
		},
		{
			"a rewriter used twice",
			`return (async () => { const r = new HTMLRewriter().on("p", { element(e) { e.before("1"); } });
				return [await r.transform(new Response("<p>")).text(), await r.transform(new Response("<p>")).text()]; })();`,
			`["1<p>", "1<p>"]`,
		},
		{
			"a thrown object",
			`return (async () => { const r = new HTMLRewriter().on("p", { element() { throw { a: 1 }; } }).transform(new Response("<p>"));
				try { await r.text(); } catch (e) { return JSON.stringify(e); } })();`,
			`"{\"a\":1}"`,
		},
	})
}

// A length that a handler set stays if nothing changes the body.
func TestHTMLRewriterLength(t *testing.T) {
	const length = `const length = async (r, body = "<p>abc</p>") => {
  const headers = { "content-type": "text/html", "content-length": "10" };
  const answer = r.transform(new Response(body, { headers }));
  return [answer.headers.get("content-length"), (await answer.bytes()).join()];
};
`
	rewrites(t, []webtest.Snippet{
		{"without handlers", length + `return await length(new HTMLRewriter())`, `["10","60,112,62,97,98,99,60,47,112,62"]`},
		{
			"without handlers, no UTF-8",
			length + `return await length(new HTMLRewriter(), new Uint8Array([60, 255, 0, 128, 62, 195, 40, 10, 13, 38]))`,
			`["10","60,255,0,128,62,195,40,10,13,38"]`,
		},
		{"with one", length + `return await length(new HTMLRewriter().on("p", {}))`, `[null,"60,112,62,97,98,99,60,47,112,62"]`},
	})
}
