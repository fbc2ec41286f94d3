package htmlrewriter_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// A document stays in its encoding, and handlers read and write text.
func TestRewriterEncodings(t *testing.T) {
	const run = `
		const rewrite = async (charset, pieces, put = "") => {
			const seen = [], type = "text/html; charset=" + charset;
			const body = new ReadableStream({ start(c) { for (const piece of pieces) c.enqueue(new Uint8Array(piece)); c.close(); } });
			const bytes = await new HTMLRewriter().on("p", {
				element(e) { seen.push(e.getAttribute("a")); if (put !== "") e.append(put); },
				text(chunk) { seen.push(chunk.text); },
			}).transform(new Response(body, { headers: { "content-type": type } })).bytes();
			return [seen.join(""), [...bytes].slice(3, -4)];
		};
		const p = [60, 112, 62], end = [60, 47, 112, 62];`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"iso-8859-1", run + `return await rewrite("iso-8859-1", [p, [0xe9], end], "ü")`, `["é",[233,252]]`},
		{"windows-1251", run + `return await rewrite("windows-1251", [p, [0xcf, 0xf0], end], "é")`, `["Пр",[207,240,38,35,50,51,51,59]]`},
		{
			"Shift_JIS in pieces",
			run + `return await rewrite("Shift_JIS", [p, [0x93], [0xfa, 0x96], [0x7b], end], "語")`,
			`["日本",[147,250,150,123,140,234]]`,
		},
		{
			"bytes without a character",
			run + `return [await rewrite("iso-8859-1", [p, [0x81, 0x9f, 0xff], end], "\u008d\u0080€"),
				await rewrite("windows-1257", [p, [0x81, 0xa1], end])]`,
			`[["\u0081Ÿÿ",[129,159,255,141,38,35,49,50,56,59,128]],["\u0081\ufffd",[129,38,35,54,53,53,51,51,59]]]`,
		},
		{
			"ill-formed pairs",
			run + `return [await rewrite("euc-jp", [p, [0xa9], [0x83, 0x65], end]), await rewrite("big5", [p, [0x83, 0x41], end])]`,
			`[["\ufffde",[38,35,54,53,53,51,51,59,101]],["\ufffdA",[38,35,54,53,53,51,51,59,65]]]`,
		},
		{
			"a stream put in",
			run + `return await rewrite("euc-kr", [p, [0xb0, 0xa1], end], new Response("나").body)`,
			`["가",[176,161,179,170]]`,
		},
		{"UTF-8 in quotes", run + `return await rewrite("\"UTF-8\"", [p, [0xc3, 0xa9], end], "ü")`, `["é",[195,169,195,188]]`},
		{
			"ill-formed UTF-8",
			run + `return [await rewrite("utf-8", [p, [0xff, 0xe2, 0x82, 0x41], end]),
				[...await new HTMLRewriter().on("p", { element() {}
				}).transform(new Response(new Uint8Array([...p, 0xff, ...end]))).bytes()]]`,
			`[["\ufffd\ufffdA",[239,191,189,239,191,189,65]],[60,112,62,255,60,47,112,62]]`,
		},
		{"a long text", run + `return (await rewrite("gb18030", [p, Array(100000).fill(0x41), end]))[1].length`, `100000`},
		{
			"an unknown encoding",
			run + `await rewrite("nope", [p])`,
			`TypeError: Parser error: Unknown character encoding has been provided.`,
		},
		{
			"UTF-16",
			run + `await rewrite("utf-16", [p])`,
			`TypeError: Parser error: A non-ASCII-compatible character encoding has been provided.`,
		},
	})
}
