package projectfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestEditorFiles: a mode and a mark stay, links within the folder are followed.
func TestEditorFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("shared/vscode.json", byteOrderMark+"{}")
	write(".vscode/.keep", "")
	if err := os.Symlink(filepath.FromSlash("../shared/vscode.json"), filepath.Join(dir, ".vscode", "settings.json")); err != nil {
		t.Fatal(err)
	}
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := p.Read(".vscode/settings.json")
	if err != nil {
		t.Fatal(err)
	}
	f.After = []byte("{ }")
	if err := f.Write(p); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "shared", "vscode.json"))
	if err != nil || string(text) != byteOrderMark+"{ }" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
	if info, err := os.Lstat(filepath.Join(dir, ".vscode", "settings.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v (%v)", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "shared", "vscode.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode became %v (%v)", info, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".pages-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
