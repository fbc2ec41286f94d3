package bundler

import (
	"encoding/json"
	"errors"
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
	want := "assets.json bundle.json migrations/1.sql pages.deploy.json worker.js worker.js.map " + sum(
		[]byte(emptyWasm),
	)[:16] + "-add.wasm"
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

// TestWriteDirAgain: a person's file beside an earlier output stops a new output, and both stay. Files of a desktop, such as .DS_Store,
// do not stop it.
func TestWriteDirAgain(t *testing.T) {
	dir := site(t, "db/1.sql", "SELECT 1;")
	m := manifest.Manifest{Bindings: manifest.Bindings{Database: &manifest.Database{Migrations: "db"}}}
	bundle := build(t, builder(t, dir, Options{}), m)
	out := filepath.Join(folder(t), "dist")
	write := func(name string) {
		t.Helper()
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(filepath.Join(out, name)), 0o755),
			os.WriteFile(filepath.Join(out, name), []byte("mine"), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteDir(bundle, out); err != nil {
		t.Fatal(err)
	}
	for _, litter := range []string{".DS_Store", "migrations/._1.sql", "Thumbs.db"} {
		write(litter)
	}
	if err := WriteDir(bundle, out); err != nil {
		t.Fatal(err)
	}
	kept := tree(t, out)
	if want := []string{
		".DS_Store", "Thumbs.db", "assets.json", "bundle.json", "migrations/._1.sql", "migrations/1.sql",
		"pages.deploy.json",
	}; !slices.Equal(kept, want) {
		t.Errorf("there are %q, want %q", kept, want)
	}
	for _, own := range []string{"thesis.docx", "migrations/2.sql", "photos/a.jpg", ".env"} {
		write(own)
		err := WriteDir(bundle, out)
		if err == nil || !strings.Contains(err.Error(), "that pages did not write, such as") {
			t.Errorf("%s: %v", own, err)
		}
		if text, err := os.ReadFile(filepath.Join(out, own)); err != nil || string(text) != "mine" {
			t.Errorf("%s: %q, %v", own, text, err)
		}
		if err := os.Remove(filepath.Join(out, own)); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(out, filepath.Dir(own)))
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
