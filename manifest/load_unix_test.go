//go:build unix

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestLoadPipes does not wait for the other end of a pipe, wherever one stands.
func TestLoadPipes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, manifest.FileName), `{"entry":"w.js","assets":"public","bindings":{"database":{"migrations":"db"}}}`)
	for _, name := range []string{"w.js", "public/a.html", "db/1.sql", "wrangler.json"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, diags := validate.Load(os.DirFS(dir), manifest.FileName)
	var codes []string
	for _, d := range diags {
		codes = append(codes, d.Code)
	}
	if got := strings.Join(codes, " "); got != "path-wrong-kind path_not_regular path_not_regular runtime-config-invalid" {
		t.Errorf("got %s", found(diags))
	}
	if err := os.Remove(filepath.Join(dir, manifest.FileName)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, manifest.FileName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, diags := validate.Load(os.DirFS(dir), manifest.FileName); len(diags) != 1 || diags[0].Code != "file-missing" {
		t.Errorf("got %s", found(diags))
	}
}
