package manifest_test

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitepath"
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
		t.Run(c.path, func(t *testing.T) {
			if got := sitepath.FoldPath(c.path); got != c.folded {
				t.Errorf("FoldPath(%q) = %q, want %q", c.path, got, c.folded)
			}
			if again := sitepath.FoldPath(sitepath.FoldPath(c.path)); again != sitepath.FoldPath(c.path) {
				t.Errorf("FoldPath(%q) changes when it is folded again: %q", c.path, again)
			}
		})
	}
}

// TestReach asks for routes whose paths look like the one that a tree is asked with.
func TestReach(t *testing.T) {
	table := manifest.NewRouteTable([]manifest.Route{
		{Pattern: "/a/*"},
		{Pattern: "/a/x"},
		{Pattern: "/a/XX/*", Access: manifest.Members},
		{Pattern: "/a/xxx.html", Access: manifest.Members},
		{Pattern: "/a/xx/b"},
		{Pattern: "/a/xx/*"},
		{Pattern: "/cafe\u0301/*"},
		{Pattern: "/café/*"},
		{Pattern: "/__Pages./*"},
		{Pattern: "/‥"},
		{Pattern: "no"},
	})
	for pattern, want := range map[string]manifest.Reach{
		"/a/*":          {Path: "/a/xxxx"},
		"/a/x":          {Path: "/a/x"},
		"/a/XX/*":       {Path: "/a/XX/xxxx"},
		"/a/xx/b":       {Path: "/a/xx/b"},
		"/a/xx/*":       {Path: "/a/xx/xxxx", Guard: "/a/XX/*"},
		"/cafe\u0301/*": {Path: "/café/xxxx"},
		"/café/*":       {Twin: "/cafe\u0301/*"},
		"/__Pages./*":   {},
		"/‥":            {},
		"no":            {},
	} {
		t.Run(pattern, func(t *testing.T) {
			if got := table.Reach(pattern); got != want {
				t.Errorf("%q: %+v, want %+v", pattern, got, want)
			}
		})
	}
}
