package manifest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// checkoutFS is a site that another branch is checked out of: what removed names is gone as
// soon as the folder above it was read.
type checkoutFS struct {
	fs.FS

	dir     string
	removed []string
}

// ReadDir implements fs.ReadDirFS.
func (c checkoutFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(c.FS, name)
	for _, r := range c.removed {
		if filepath.ToSlash(filepath.Dir(r)) == name {
			if err := os.RemoveAll(filepath.Join(c.dir, r)); err != nil {
				return nil, err
			}
		}
	}
	return list, err
}

// TestCheckout: files and folders that go while the site is read are no faults of it.
func TestCheckout(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		manifest.FileName: `{"assets":"public"}`, "public/index.html": "<h1>home</h1>", "public/gone.html": "<form></form>",
		"public/docs/a.html": "a", "public/docs/b/c.html": "c", "public/key.txt": "x",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fsys := checkoutFS{os.DirFS(dir), dir, []string{"public/gone.html", "public/key.txt", "public/docs/b", "public/docs"}}
	if m, diags := manifest.Load(fsys, manifest.FileName); len(diags) != 0 {
		t.Errorf("%v: %v", m, diags)
	}
	if _, err := os.Stat(filepath.Join(dir, "public/docs")); err == nil {
		t.Error("nothing was removed")
	}
	// The folder itself is another matter.
	if err := os.RemoveAll(filepath.Join(dir, "public")); err != nil {
		t.Fatal(err)
	}
	if _, diags := manifest.Load(os.DirFS(dir), manifest.FileName); !diags.HasErrors() {
		t.Error("a site without its folder passes")
	}
}
