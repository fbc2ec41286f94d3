package publicfiles_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

func TestAssetNames(t *testing.T) {
	for _, c := range []struct{ path, code string }{
		{"index.html", ""},
		{"a/b/c.txt", ""},
		{"é.html", ""},
		{"日本.html", ""},
		{"a b.html", ""},
		{"[x].html", ""},
		{"100%.html", ""},
		{"ﬁ.txt", ""},
		{"console.html", ""},
		{"com10.txt", ""},
		{"x__pages/y", ""},
		{strings.Repeat("a", 255), ""},
		{strings.Repeat("a", 256), "path_too_long"},
		{strings.Repeat("a/", 30) + "a", ""},
		{strings.Repeat("a/", 31) + "a", "path_too_long"}, // too long together with the assets folder
		{strings.Repeat(strings.Repeat("a", 200)+"/", 6), "path_too_long"},
		{"\xff", "path_not_utf8"},
		{"\xed\xa0\x80", "path_not_utf8"},
		{"a\ufffd", "path_not_utf8"},
		{"a\x00b", "path_nul"},
		{"a\nb", "path_control"},
		{"a\x7f", "path_control"},
		{"a\u200db", "path_control"},
		{"a\u202eb", "path_control"},
		{`a\b`, "path_backslash"},
		{"a%2fb", "path_encoded"},
		{"a?b", "path_windows_char"},
		{"a#b", "path_url_char"},
		{"a:b", "path_windows_char"},
		{"a|b", "path_windows_char"},
		{"CON", "path_windows_name"},
		{"x/nul.txt", "path_windows_name"},
		{"x/nul .txt", "path_windows_name"},
		{"com¹", "path_windows_name"},
		{"a./b", "path_trailing"},
		{"a ", "path_trailing"},
		{" a", "path_trailing"},
		{"__pages/x", "path_reserved"},
		{"__PREVIEW", "path_reserved"},
	} {
		t.Run(c.path, func(t *testing.T) {
			var names publicfiles.Names
			d, refused := names.Check("public/"+c.path, c.path)
			if d.Code != c.code || refused != (c.code != "") {
				t.Errorf("%q: %v, want %q", c.path, d, c.code)
			}
		})
	}
}

// TestCollisionsCanBeTold names colliding files so that a reader sees how they differ.
func TestCollisionsCanBeTold(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"Readme.txt", "README.txt", `"p/Readme.txt" and "p/README.txt" differ`},
		{"caf\u00e9.html", "cafe\u0301.html", `"p/café.html" and "p/cafe\u0301.html" differ`},
		{"cafe\u0301.html", "caf\u00e9.html", `"p/cafe\u0301.html" and "p/café.html" differ`},
		{"a\u0323\u0307", "a\u0307\u0323", `"p/a\u0323\u0307" and "p/a\u0307\u0323" differ`},
		{"CAF\u00c9", "caf\u00e9", `"p/CAFÉ" and "p/café" differ`},
	} {
		t.Run(c.second, func(t *testing.T) {
			var names publicfiles.Names
			if d, refused := names.Check("p/"+c.first, c.first); refused {
				t.Errorf("%q: %s", c.first, d.Message)
			}
			if d, _ := names.Check("p/"+c.second, c.second); !strings.HasPrefix(d.Message, c.want) {
				t.Errorf("%q: got %q, want %s", c.second, d.Message, c.want)
			}
		})
	}
}
