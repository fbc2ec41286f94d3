package textcodec_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// TestBase64 is the forgiving decode of the Infra standard, in short and long text.
func TestBase64(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"short text",
			`return ["", "YQ==", "YQ", " Y\tQ\n=\f=\r", "YR", "YWI=", "YWJj", "/+8=",
				"AA AA"].map((s) => [...atob(s)].map((c) => c.charCodeAt(0)).join())`,
			`["","97","97","97","97","97,98","97,98,99","255,239","0,0,0"]`,
		},
		{
			"malformed text",
			`return ["a", "YQ=", "Y===", "=", "==", "YQ==YQ==", "YW=J", "a-_b", "é", "漢", "YQ\v==", "YQ==="].map((s) => {
				try { return atob(s) } catch (e) { return e.name + e.code } })`,
			`["InvalidCharacterError5","InvalidCharacterError5","InvalidCharacterError5","InvalidCharacterError5","InvalidCharacterError5",
				"InvalidCharacterError5","InvalidCharacterError5","InvalidCharacterError5","InvalidCharacterError5",
				"InvalidCharacterError5","InvalidCharacterError5","InvalidCharacterError5"]`,
		},
		{
			"long text",
			`const s = "\0\xff\x80é".repeat(2e5); return [atob(btoa(s)) === s, atob(btoa(s).replace(/.{76}/g, "$&\r\n")) === s,
				btoa(s).length]`,
			`[true,true,1066668]`,
		},
		{"long malformed text", `return [atob("AAAA".repeat(1e5) + "A="), 1]`, `/InvalidCharacterError/`},
		{
			"padding within long text",
			`return ["YQ==".repeat(1e5), "AAAA".repeat(65535) + "AA==" + "AAAA"].map((s) => {
				try { return atob(s).length } catch (e) { return e.name } })`,
			`["InvalidCharacterError","InvalidCharacterError"]`,
		},
		{
			"other types",
			`return [btoa(undefined), btoa(null), btoa(12), atob(null).length, btoa({ toString: () => "hi" })]`,
			`["dW5kZWZpbmVk","bnVsbA==","MTI=",3,"aGk="]`,
		},
		{"a character beyond Latin-1", `return btoa("漢")`, `/InvalidCharacterError/`},
		{"a long text beyond Latin-1", `return btoa("x".repeat(9999) + "漢")`, `/InvalidCharacterError/`},
		{"btoa without an argument", `return btoa()`, `/TypeError/`},
		{"names and lengths", `return [atob.length, btoa.length, atob.name, btoa.name]`, `[1,1,"atob","btoa"]`},
	})
}
