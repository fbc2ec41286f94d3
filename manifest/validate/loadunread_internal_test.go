package validate

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

// counted counts the files that are opened.
type counted struct {
	fstest.MapFS
	opened map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	if f, ok := c.MapFS[name]; ok && f.Mode.IsRegular() {
		c.opened[name]++
	}
	return c.MapFS.Open(name)
}

// TestLoadUnread leaves the files that may be keys to who reads them all.
func TestLoadUnread(t *testing.T) {
	files := counted{fstest.MapFS{
		"pages.deploy.json": {Data: []byte("{\n  \"assets\": \"p\"}")}, "p/old.txt": {Data: []byte("-----BEGIN PRIVATE KEY-----\n")},
		"p/a.html": {Data: []byte("<form method=post action=/__pages/forms/a>")},
	}, map[string]int{}}
	m, _, diags := LoadForBuild(files, nil, manifest.FileName)
	if m == nil || files.opened["p/old.txt"] != 0 || files.opened["p/a.html"] == 0 || len(diags) != 1 ||
		diags[0].Code != diagnostic.CodeFormUndeclared {
		t.Fatalf("%v, opened %v", diags, files.opened)
	}
	_, whole := Load(files, manifest.FileName)
	if !whole.HasErrors() || files.opened["p/old.txt"] != 1 {
		t.Fatalf("%v, opened %v", whole, files.opened)
	}
	text := files.MapFS["p/old.txt"].Data
	if !publicfiles.HoldsKey("p/old.txt", int64(len(text)), text) || publicfiles.HoldsKey("p/old.txt", 64<<10+1, text) ||
		publicfiles.HoldsKey("p/old.html", 9, text) || publicfiles.HoldsKey("p/old.txt", 0, nil) {
		t.Error("a key is not distinguished from other text")
	}
	told := diagnostic.List{m.AssetsFolder().KeyFault("p/old.txt"), {File: "p/x", Path: "/assets"}, {Path: "/nothing"}}
	if !diagnostic.Locate(files.MapFS[manifest.FileName].Data, told) || told[0] != whole[0] || told[1].Line != 0 || told[2].Line != 0 {
		t.Errorf("a build says %+v, a load %+v", told, whole[0])
	}
}
