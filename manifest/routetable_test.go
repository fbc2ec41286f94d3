package manifest_test

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ path, folded string }{
		{"/", ""},
		{"/a", "/a"},
		{"/a/", "/a"},
		{"/A/B", "/a/b"},
		{"/a;x/b", "/a/b"},
		{"/;x/a", "/a"},
		{"/a./b", "/a/b"},
		{"/a. ./b", "/a/b"},
		{"/a.b", "/a.b"},
		{"/a b", "/a b"},
		{"/a:b", "/a:b"},
		{"/a::$data/b", "/a/b"},
		{"/\u200ba", "/a"},
		{"/ﬁ", "/fi"},
		{"/ＡB", "/ab"},
		{"/ı", "/i"},
		{"/İ", "/i"},
		{"/ſ", "/s"},
		{"/K", "/k"},
		{"/ς", "/σ"},
		{"/é", "/é"},
		{"/É", "/é"},
		{"/a⁄b", "/a/b"},
		{"/...", ""},
	} {
		if got := manifest.FoldPath(c.path); got != c.folded {
			t.Errorf("FoldPath(%q) = %q, want %q", c.path, got, c.folded)
		}
		if again := manifest.FoldPath(manifest.FoldPath(c.path)); again != manifest.FoldPath(c.path) {
			t.Errorf("FoldPath(%q) changes when it is folded again: %q", c.path, again)
		}
	}
}
