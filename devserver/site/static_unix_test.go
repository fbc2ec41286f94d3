//go:build unix

package site

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing outside the folder is sent, whatever becomes of the files in it.
func TestFilesStayInTheirFolder(t *testing.T) {
	outside, _ := folder(t, map[string]string{"/secret.html": secret})
	dir, assets := folder(t, map[string]string{
		"/link.html": secret, "/pipe.html": secret, "/dir.html": secret, "/gone.html": secret, "/up.html": secret,
	})
	change := func(name string, err ...error) {
		t.Helper()
		for _, e := range err {
			if e != nil {
				t.Fatal(name, e)
			}
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	change("link", os.Remove(at("link.html")), os.Symlink(filepath.Join(outside, "secret.html"), at("link.html")))
	change("up", os.Remove(at("up.html")), os.Symlink("../"+filepath.Base(outside)+"/secret.html", at("up.html")))
	change("pipe", os.Remove(at("pipe.html")), syscall.Mkfifo(at("pipe.html"), 0o600))
	change("dir", os.Remove(at("dir.html")), os.Mkdir(at("dir.html"), 0o755))
	change("gone", os.Remove(at("gone.html")))
	assets = append(assets, assetOf("/elsewhere.html", filepath.Join(outside, "secret.html"), secret))
	for _, folder := range []string{dir, ""} {
		f := start(t, Options{}, Revision{Assets: assets, AssetsDir: folder})
		for path, status := range map[string]int{"/link": 500, "/up": 500, "/pipe": 500, "/dir": 500, "/gone": 404, "/elsewhere": 500} {
			t.Run(path, func(t *testing.T) {
				if folder == "" && path == "/elsewhere" {
					return // without a folder, a file may be in its own
				}
				if got := f.get(t, path); got.status != status || strings.Contains(got.body, secret) {
					t.Errorf("%s: %d %q", path, got.status, got.body)
				}
			})
		}
	}
}
