package weburl_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// TestMembersByLength reads all members of URLs on both sides of the lengths from which their positions take more bytes.
func TestMembersByLength(t *testing.T) {
	const script = `
		const lengths = [...Array(160).keys(), ...Array.from({ length: 120 }, (_, i) => (1 << 14) - 110 + i)];
		const wrong = [];
		for (const n of lengths) {
			for (const user of ["", "user:pass@"]) {
				const path = "/" + "p".repeat(n), href = "https://" + user + "a.test:81" + path + "?q#h", u = new URL(href);
				const got = [u.href, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash,
					u.origin];
				const want = [href, "https:", ...(user === "" ? ["", ""] : ["user", "pass"]), "a.test:81", "a.test", "81", path, "?q", "#h",
					"https://a.test:81"];
				if (got.join() !== want.join()) wrong.push(href);
			}
		}
		return [lengths.length, wrong]`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"members", script, `[280, []]`},
		{"dot segments", `return new URL("https://a.test/" + "x".repeat(90) + "/../y?q").pathname`, `"/y"`},
		{"a part of another text", `return new URL(("https://a.test/" + "x".repeat(200) + " y").slice(0, 180)).href.length`, `180`},
		{"characters of Latin-1", `return new URL("https://a.test/\u00e9?\u00e9").href`, `"https://a.test/%C3%A9?%C3%A9"`},
		{"an object", `return new URL({ toString: () => "https://a.test/b" }).pathname`, `"/b"`},
		{"no argument", `new URL()`, `TypeError: Invalid URL: "undefined"`},
	})
}
