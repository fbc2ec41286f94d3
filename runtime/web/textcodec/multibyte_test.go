package textcodec_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Ill-formed input decodes as the Encoding standard says, wherever it is cut.
func TestMultiByteDecoding(t *testing.T) {
	const decode = `const of = Uint8Array.fromHex.bind(Uint8Array);
// The text of bytes at once, in single bytes, and in pairs: the same, or all three.
const text = (label, hex) => {
	const ways = [1000, 1, 2].map((size) => {
		const decoder = new TextDecoder(label), bytes = of(hex); let out = "";
		for (let at = 0; at < bytes.length; at += size) out += decoder.decode(bytes.subarray(at, at + size), { stream: true });
		return out + decoder.decode();
	});
	ways.push(new TextDecoder(label).decode(of(hex)));
	return new Set(ways).size === 1 ? ways[0] : ways;
};
const fails = (label, hex) => { try { new TextDecoder(label, { fatal: true }).decode(of(hex)); return false; } catch (e) { return e.name;
		} };
`
	snippets := []webtest.Snippet{
		{
			"gb18030 and gbk",
			`return [text("gb18030", "8140"), text("gbk", "80"), text("gb18030", "817f"), text("gb18030", "81ff41"),
				text("gb18030", "8130"), text("gb18030", "8130fe29"), text("gb18030", "8130ff"), text("gbk", "81308130"),
				text("gb18030", "90308130"), text("gb18030", "e3329a35"),
			text("gb18030", "8135f437"), text("gb18030", "a6d9a8bcfe59"), text("gb18030", "aaa1f8a1a140"), text("gb18030", "8431a437")]`,
			`["丂","€","` + "\ufffd\x7f" + `","�A","�","�0�)","�0�","` + "\u0080" + `","𐀀","` + "\U0010FFFF" + `","` + "\ue7c7" + `","︐ḿ龴",
				"` + "\ue000\ue234\ue4c6" + `","�"]`,
		},
		{
			"big5",
			`return [text("big5", "a440"), text("big5", "8862886488a388a5"), text("big5", "8140"), text("big5", "8181"),
				text("big5", "878740"), text("big5", "a4"), text("big5", "ff41")]`,
			`["一","Ê̄Ê̌ê̄ê̌","�@","�","�@","�","�A"]`,
		},
		{
			"euc-kr",
			`return [text("euc-kr", "b0a1"), text("euc-kr", "8141"), text("euc-kr", "b020"), text("euc-kr", "feff"),
				text("euc-kr", "c9a1")]`,
			`["가","갂","� ","�","�"]`,
		},
		{
			"shift_jis",
			`return [text("shift_jis", "82a0"), text("shift_jis", "b1"), text("shift_jis", "80"), text("shift_jis", "f040f9fc"),
				text("shift_jis", "8120"), text("shift_jis", "fd41"), text("shift_jis", "5c7e")]`,
			`["あ","ｱ","` + "\u0080" + `","` + "\ue000\ue757" + `","� ","�A","\\~"]`,
		},
		{
			"euc-jp",
			`return [text("euc-jp", "a4a2"), text("euc-jp", "8eb1"), text("euc-jp", "8fb0a1"), text("euc-jp", "8f41"),
				text("euc-jp", "8fa1a1"), text("euc-jp", "8fa141"), text("euc-jp", "a441"), text("euc-jp", "8fb0"), text("euc-jp", "ff")]`,
			`["あ","ｱ","丂","�A","�","�A","�A","�","�"]`,
		},
		{
			"iso-2022-jp",
			`return [text("iso-2022-jp", "1b2442242241"), text("iso-2022-jp", "1b24422422"), text("iso-2022-jp", "1b284a5c7e1b28425c"),
				text("iso-2022-jp", "1b284950"), text("iso-2022-jp", "1b28421b284250"), text("iso-2022-jp", "1b2450"),
				text("iso-2022-jp", "0e41"), text("iso-2022-jp", "1b244224221b2842411b244224221b284242"),
			text("iso-2022-jp", "1b"), text("iso-2022-jp", "1b28"), text("iso-2022-jp", "1b244224"),
				text("iso-2022-jp", "1b2442241b2842")]`,
			`["あ�","あ","¥‾\\","ﾐ","�P","�$P","�A","あAあB","�","�(","�","�"]`,
		},
		// An encoded U+FFFD is not a failure.
		{
			"fatal",
			`return [fails("gb18030", "8431a437"), fails("gb18030", "8130"), fails("big5", "8140"), fails("iso-2022-jp", "0e"),
				fails("shift_jis", "82a0"), fails("euc-jp", "a441"), fails("windows-1253", "aa")]`,
			`[false,"TypeError","TypeError","TypeError",false,"TypeError","TypeError"]`,
		},
		{
			"labels",
			`return ["\u212Aoi8-r", "euc-\u212Ar", "nothing"].map((label) => { try { return new TextDecoder(label).encoding;
				} catch (e) { return e.name; } }).concat(new TextDecoder(" KOI8-R\n").encoding)`,
			`["RangeError","RangeError","RangeError","koi8-r"]`,
		},
	}
	for i := range snippets {
		snippets[i][1] = decode + snippets[i][1]
	}
	webtest.Try(t, web.Options{}, snippets)
}

// Long text is converted another way than short text, with the same result.
func TestLongText(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{{"long text", `const encoder = new TextEncoder(),
		decoder = new TextDecoder("utf-8", { ignoreBOM: true }), bad = [];
	for (const part of ["漢字€äb", "a\u{1F600}é", "\ud800x漢", "x漢\udc00", "漢\ud83d", "\udbff\udbff\udfff漢", "é", "plain"]) {
		const text = part.repeat(5000), well = text.toWellFormed(), want = [];
		for (const character of well) want.push(...encoder.encode(character));
		const bytes = encoder.encode(text);
		if (bytes.length !== want.length || bytes.some((b, i) => b !== want[i])) bad.push(["encode", part]);
		if (decoder.decode(bytes) !== well) bad.push(["decode", part]);
		const whole = decoder.decode(bytes.subarray(0, 3), { stream: true }) + decoder.decode(bytes.subarray(3));
		if (whole !== well) bad.push(["pieces", part]);
	}
	return bad`, `[]`}})
}
