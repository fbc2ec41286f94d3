package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Properties that libraries add to the prototypes of the language do not break the runtime's own
// JavaScript: Sugar and others give all objects a size(), Prototype makes entries() of an
// array a copy of it.
func TestPollutedPrototypes(t *testing.T) {
	const polluted = `Object.prototype.size ??= function () { return "polluted"; };
		Array.prototype.entries = function () { return this.slice(); };
		Array.prototype.first ??= function () { return this[0]; };
		const bytes = (text) => new TextEncoder().encode(text);`
	cases := []webtest.Snippet{
		{
			"tee of a body",
			`const [a, b] = new Response("tee").body.tee(); return [await new Response(a).text(), await new Response(b).text()];`,
			`["tee","tee"]`,
		},
		{
			"an identity stream",
			`const { readable, writable } = new IdentityTransformStream(), w = writable.getWriter(); w.write(bytes("id")); w.close();
				return await new Response(readable).text();`,
			`"id"`,
		},
		{
			"HTMLRewriter",
			`return await new HTMLRewriter().on("p", { element(e) { e.append("!"); } }).transform(new Response("<p>x</p>")).text();`,
			`"<p>x!</p>"`,
		},
		{
			"gzip and back",
			`return await new Response(new Response("zz".repeat(50)).body.pipeThrough(new CompressionStream("gzip")).pipeThrough(
				new DecompressionStream("gzip"))).text() === "zz".repeat(50);`,
			`true`,
		},
		{
			"text streams",
			`return await new Response(new Response("é").body.pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream(
				))).text();`,
			`"é"`,
		},
		{
			"URLPattern",
			`const p = new URLPattern({ pathname: "/a/:id" });
				return [p.exec("https://x.test/a/5").pathname.groups, p.exec({ pathname: "/a/6" }).inputs];`,
			`[{"id":"5"},[{"pathname":"/a/6"}]]`,
		},
		{
			"JSON and forms",
			`return [await request.json(), await new Response(new FormData()).formData().then((f) => [...f].length),
				new URLSearchParams({ a: 1 }).toString()];`,
			`[{"sent":true},0,"a=1"]`,
		},
	}
	for i := range cases {
		cases[i][1] = polluted + cases[i][1]
	}
	webtest.Try(t, web.Options{}, cases)
}
