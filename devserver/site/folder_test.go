package site

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOpenFolder allows others to rename, remove and create an open folder, as builds do.
func TestOpenFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if text, err := root.ReadFile("a.txt"); err != nil || string(text) != "a" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := root.Open("../dist/a.txt"); err == nil {
		t.Error("a path led out of the folder")
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Error(err)
	}
}
