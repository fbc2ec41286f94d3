package weburl_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// Domains by the URL standard (3.3, 3.5) and UTS #46 since Unicode 15.1. Each address has its host; none means an error.
func TestDomains(t *testing.T) {
	const none = "TypeError"
	long := strings.Repeat("b", 63)
	cases := []struct{ address, host string }{
		{`https://Example.COM/`, `example.com`},
		{`https://BÜCHER.example:8080/`, `xn--bcher-kva.example:8080`},
		{`https://b%C3%BCcher.example/`, `xn--bcher-kva.example`},
		{`https://faß.de/`, `xn--fa-hia.de`},
		{`https://FAẞ.de/`, `xn--fa-hia.de`},
		{`https://Ⴀ.example/`, `xn--rkj.example`},
		{`https://Ӏ.com/`, `xn--s5a.com`},
		{`https://a≠b/`, `xn--ab-miv`},
		{`https://=\u0338/`, `xn--1ch`},
		{`https://=\u00ad\u0338/`, `xn--1ch`},
		{`https://xn--1ch/`, `xn--1ch`},
		{`https://look\u180eout.net/`, `lookout.net`},
		{`https://look\u206bout.net/`, `lookout.net`},
		{`https://\u{2f868}.com/`, `xn--snl.com`},
		{`https://⑷.four/`, `(4).four`},
		{`https://a_b.example/`, `a_b.example`},
		{`https://-a-.example/`, `-a-.example`},
		{`https://ab--cd.example/`, `ab--cd.example`},
		{`https://a..b/`, `a..b`},
		{`https://ÿ..b/`, `xn--wda..b`},
		{`https://日本語。ＪＰ/`, `xn--wgv71a119e.jp`},
		{`https://` + long + `b.` + long + `.` + long + `.` + long + `/`, long + `b.` + long + `.` + long + `.` + long},
		{`https://123456789012345678901234567890b/`, `123456789012345678901234567890b`},
		{`https://１２７.1/`, `127.0.0.1`},
		{`https://127.0.0.1./`, `127.0.0.1`},
		{`https://0xFF/`, `0.0.0.255`},
		{`https://a.0x/`, none},
		{`https://a.09/`, none},
		{`https://a.1.2.3.4/`, none},
		{`https://a.0xg/`, `a.0xg`},
		{`https://\u00ad/`, none},
		{`https://a%25b/`, none},
		{`https://a%FFb/`, none},
		{`https://a％41/`, none},
		{`https://a b/`, none},
		{`https://a\u3000b/`, none},
		{`https://xn--/`, none},
		{`https://xn--a/`, none},
		{`https://127.0.0.1.xn--/`, none},
		{`https://.xn--/`, none},
		{`https://a.xn--.b/`, none},
		{`https://ｘN\u00ad－-。b/`, none},
		{`https://xn--.é/`, none},
		{`https://a.\u00ad.é/`, `a..xn--9ca`},
		{`https://é./`, `xn--9ca.`},
		{`https://xn--a-/`, none},
		{`https://xn--ASCII-/`, none},
		{`https://xn--xn---epa/`, none},
		{`https://a\u200db/`, none},
		{`https://א1a/`, none},
		{`https://[::1]/`, `[::1]`},
		{`https://[::1/`, none},
		{`file://BÜCHER/x`, `xn--bcher-kva`},
		{`other://BÜCHER%2f/`, `B%C3%9CCHER%2f`},
		{`other://xn--a/`, `xn--a`},
		{`other://a^b/`, none},
	}
	snippets := make([]webtest.Snippet, 0, len(cases))
	for _, c := range cases {
		want := `"` + c.host + `"`
		if c.host == none {
			want = `"` + none + `"`
		}
		snippets = append(snippets, webtest.Snippet{c.address, `try { return new URL("` + c.address + `").host } catch (e) {
			return e.name }`, want})
	}
	webtest.Try(t, web.Options{}, append(snippets, []webtest.Snippet{
		{
			"setters",
			`const u = new URL("https://a/"); u.hostname = "FAẞ.de"; const one = u.href; u.hostname = "xn--a"; u.host = "≮:81";
				return [one, u.href]`,
			`["https://xn--fa-hia.de/", "https://xn--gdh:81/"]`,
		},
		{
			"origins of blob: URLs",
			`return [new URL("blob:https://FAẞ.de/x").origin, new URL("blob:https://xn--.b/x").origin]`,
			`["https://xn--fa-hia.de", "null"]`,
		},
		{
			"an empty base",
			`return [URL.canParse("https://a/", ""), URL.parse("https://a/", ""),
				new URLPattern({ hostname: "a" }).test("https://a/", "")]`,
			`[false, null, false]`,
		},
		{"URL with an empty base", `new URL("https://a/", "")`, `TypeError: Invalid base URL: ""`},
		{"a malformed base", `new URL("https://a/", "https://")`, `TypeError: Invalid base URL: "https://"`},
		{"a malformed URL", `new URL("https://", "https://a/")`, `TypeError: Invalid URL: "https://"`},
		{"URLPattern", `return new URLPattern({ hostname: "ẞ.example" }).hostname`, `"xn--zca.example"`},
	}...))
}
