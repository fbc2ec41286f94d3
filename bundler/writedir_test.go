package bundler

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

func TestWriteDir(t *testing.T) {
	dir := site(t, "index.js", "import w from './a.wasm'; export default { w }", "a.wasm", emptyWasm,
		"public/index.html", "<p>", "db/1.sql", "SELECT 1;")
	m := manifest.Manifest{Entry: "index.js", Assets: "public", Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "db"}}}
	b := builder(t, dir, Options{})
	out := filepath.Join(folder(t), "new", "dist")
	for _, m := range []manifest.Manifest{m, {Assets: "public"}, m} {
		bundle := build(t, b, m)
		if err := WriteDir(bundle, out); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(out, "bundle.json"))
		if err != nil {
			t.Fatal(err)
		}
		var list index
		if err := json.Unmarshal(text, &list); err != nil || list.Digest != bundle.Digest || (list.Worker == nil) != (m.Entry == "") {
			t.Errorf("%v: %s", err, text)
		}
	}
	want := "assets.json bundle.json migrations/1.sql pages.deploy.json worker.js worker.js.map " + sum([]byte(emptyWasm))[:16] + "-add.wasm"
	want = strings.Replace(want, "-add.wasm", "-a.wasm", 1)
	got := tree(t, out)
	wanted := strings.Fields(want)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Errorf("wrote %q, want %q", got, wanted)
	}
	if beside := tree(t, filepath.Dir(out)); len(beside) != len(got) {
		t.Errorf("something is left beside it: %q", beside)
	}
}

// TestWriteDirElsewhere leaves a folder of other files as it is.
func TestWriteDirElsewhere(t *testing.T) {
	bundle := build(t, builder(t, site(t), Options{}), manifest.Manifest{})
	dir := site(t, "precious.txt", "x")
	if err := WriteDir(bundle, dir); err == nil || !strings.Contains(err.Error(), "choose an empty folder") {
		t.Errorf("got %v", err)
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"precious.txt"}) {
		t.Errorf("the folder has %q", got)
	}
	if err := WriteDir(bundle, filepath.Join(dir, "precious.txt")); err == nil {
		t.Error("a file was taken for a folder")
	}
	if err := WriteDir(bundle, folder(t)); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
}

func tree(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, file)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}
