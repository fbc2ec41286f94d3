package edgerules

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// TestHeaderSecret: a secret that would be published is refused with the route to write, and other headers are not.
func TestHeaderSecret(t *testing.T) {
	const key = "sk_" + "live_51HqLyjWDarjtT1zdp7dcXk2m"
	for line, want := range map[string]string{
		"Basic-Auth: anna:hunter2":                   `"Basic-Auth" protects nothing here: every visitor gets it, with the password`,
		"basic-auth: anna:hunter2 otto:hunter3":      `"basic-auth" protects nothing here`,
		"Authorization: Bearer x":                    `"Authorization" protects nothing here`,
		"Proxy-Authorization: Basic YTpi":            `"Proxy-Authorization" protects nothing here`,
		"Set-Cookie: session=abc; Path=/; HttpOnly":  `"Set-Cookie" gives every visitor the same session`,
		"Set-Cookie: id=9f86d081884c7d659a2feaa0c55": `"Set-Cookie" gives every visitor the same session`,
		"Set-Cookie: connect.sid=s%3A1":              `"Set-Cookie" gives every visitor the same session`,
		"X-Api-Key: " + key:                          `"X-Api-Key" looks like a key, and every visitor gets it`,
		"X-Auth-Token: 9f86d081884c7d659a2feaa0c55":  `"X-Auth-Token" looks like a key`,
		"X-Client-Secret: Zk3nQ8rT1vW7":              `"X-Client-Secret" looks like a key`,
		"X-Anything: " + key:                         `"X-Anything" looks like a key`,
		"X-Anything: Bearer " + key:                  `"X-Anything" looks like a key`,

		"Set-Cookie: lang=de; Path=/":                  "",
		"Set-Cookie: session=; Max-Age=0":              "",
		"X-Api-Key: none":                              "",
		"X-Frame-Options: DENY":                        "",
		"X-Build-Id: 9f86d081884c7d659a2feaa0c55ad015": "",
		"Content-Security-Policy: script-src 'sha256-B2yPHKaXnvFWtRChIbabYmUBFZdVfKKXHbWtWidDVF8='": "",
		"Access-Control-Allow-Headers: Authorization, X-Api-Key":                                    "",
		"WWW-Authenticate: Basic realm=\"club\"":                                                    "",
		"Origin-Trial: A9f86d081884c7d659a2feaa0c55ad015Zz==":                                       "",
		"Strict-Transport-Security: max-age=31536000":                                               "",
		"Link: </a.css>; rel=preload; as=style":                                                     "",
	} {
		t.Run(line, func(t *testing.T) {
			fsys := fstest.MapFS{"public/_headers": {Data: []byte("/*\n  X-A: 1\n/private/*\n  " + line + "\n")}}
			rules, found := Load(fsys, "public")
			var said string
			if len(found) > 0 {
				said = found[0].Message
			}
			if want == "" && said != "" || !strings.HasPrefix(said, want) || len(found) > 1 {
				t.Errorf("%s: %+v", line, found)
			}
			if want == "" {
				return
			}
			d := found[0]
			_, value, _ := strings.Cut(line, ": ")
			if d.Code != diagnostic.CodeEdgeSecret || d.Severity != diagnostic.Error || d.Line != 4 ||
				!strings.Contains(d.Fix, `{"pattern": "/private/*", "access": "members"}`) {
				t.Errorf("%s: %+v", line, d)
			}
			if all := fmt.Sprintf("%+v", d); strings.Contains(all, value) || len(d.Source) != len("  ")+len(line) {
				t.Errorf("%s is shown: %s", line, all)
			}
			for _, change := range rules.Headers("example.com", "/private/a") {
				if change.Name != "X-A" {
					t.Errorf("%s is sent all the same: %+v", line, change)
				}
			}
		})
	}
}

func TestMembersPattern(t *testing.T) {
	for path, want := range map[string]string{
		"/private/*": "/private/*", "/*": "/*", "/a": "/a", "/a/:b/c": "/a/*", "https://example.com/a/*": "/a/*",
		"https://example.com": "/", "/a*": "/*", "/a/b*?c": "/a/*", "/": "/",
	} {
		t.Run(path, func(t *testing.T) {
			if got := membersPattern(path); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		})
	}
}
