package devserver

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// waitLimit is the timeout of each wait. No passing test takes that long.
const waitLimit = 20 * time.Second

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// age makes a file as old as those of a site when its dev server starts: a file written just before the start counts as changed.
func age(t *testing.T, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// siteDir makes a site folder with a manifest, a source file and some assets.
func siteDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"pages.deploy.json": "{}", "public/index.html": "1", "public/css/site.css": "1"} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		age(t, path)
	}
	return dir
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
