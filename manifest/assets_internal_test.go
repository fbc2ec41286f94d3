package manifest

import (
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestPlainNames holds the quick look at a name to the rules: what it lets pass, none of them refuses.
func TestPlainNames(t *testing.T) {
	testmachine.Unraced(t)
	atoms := []string{
		"a", "B7", "con", "CON", "nul", "aux", "com1", "lpt9", "LPT²", "conin$", "context", "prn", "-", "_", "__", ".", "..", "pages", "__pages", "__preview", "well-known", "html", "/", "/", "/", ".",
		" ", "%41", "#", "?", ":", `\`, "\x00", "\n", "\u00e9", "e\u0301", "\xff", "\u200b", strings.Repeat("x", 120), strings.Repeat("/a", 20),
	}
	random := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 200_000 {
		var name strings.Builder
		for range 1 + random.IntN(6) {
			name.WriteString(atoms[random.IntN(len(atoms))])
		}
		p := strings.TrimPrefix(strings.TrimSuffix(name.String(), "/"), "/")
		for segment := range strings.SplitSeq(p, "/") {
			if WindowsDevice(segment) != windowsName.MatchString(segment) {
				t.Fatalf("%q: the quick look says otherwise", segment)
			}
		}
		if !plainName(p) {
			continue
		}
		plain++
		if code, reason := slowNameFault(p); code != "" {
			t.Fatalf("%q passes, and %s", p, reason)
		}
	}
	if plain < 1000 {
		t.Errorf("%d names were plain", plain)
	}
	for _, p := range []string{"index.html", "assets/app-3f9a.js", ".well-known/acme", "d001/f00001.txt", "_redirects.txt"[1:]} {
		if !plainName(p) {
			t.Errorf("%q is not plain", p)
		}
	}
}

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
		"pages.deploy.json": {Data: []byte("{\n  \"assets\": \"p\"}")}, "p/old.txt": {Data: []byte("-----BEGIN PRIVATE KEY-----\n")}, "p/a.html": {Data: []byte("<form method=post action=/__pages/forms/a>")},
	}, map[string]int{}}
	m, diags := LoadUnread(files, FileName)
	if m == nil || files.opened["p/old.txt"] != 0 || files.opened["p/a.html"] == 0 || len(diags) != 1 || diags[0].Code != codeFormUndeclared {
		t.Fatalf("%v, opened %v", diags, files.opened)
	}
	_, whole := Load(files, FileName)
	if !whole.HasErrors() || files.opened["p/old.txt"] != 1 {
		t.Fatalf("%v, opened %v", whole, files.opened)
	}
	text := files.MapFS["p/old.txt"].Data
	if !HoldsKey("p/old.txt", int64(len(text)), text) || HoldsKey("p/old.txt", maxKeyBytes+1, text) || HoldsKey("p/old.html", 9, text) || HoldsKey("p/old.txt", 0, nil) {
		t.Error("a key is not told from what is none")
	}
	told := Diagnostics{m.AssetsFolder().KeyFault("p/old.txt"), {File: "p/x", Path: "/assets"}, {Path: "/nothing"}}
	if !Locate(files.MapFS[FileName].Data, told) || told[0] != whole[0] || told[1].Line != 0 || told[2].Line != 0 {
		t.Errorf("a build says %+v, a load %+v", told, whole[0])
	}
}
