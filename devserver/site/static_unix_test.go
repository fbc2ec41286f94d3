//go:build unix

package site

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// No file outside the folder is sent, whatever happens to the files in it.
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

// TestLinkedFiles: for a public file that is a link, the site sends the target at the time of the build. Later changes of the
// link, the target or a folder above it do not lead to other files.
func TestLinkedFiles(t *testing.T) {
	site := realTempDir(t)
	write := func(name, text string) string {
		path := filepath.Join(site, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("private/page.html", secret)
	link := func(target, name string) {
		if err := errors.Join(os.RemoveAll(filepath.Join(site, name)), os.Symlink(target, filepath.Join(site, name))); err != nil {
			t.Fatal(err)
		}
	}
	var assets []sitefile.Asset
	for _, name := range []string{"fine", "relinked", "replaced", "above"} {
		target := write("content/"+name+"/page.html", "<h1>"+name+"</h1>")
		write("public/index.html", "home")
		link("../content/"+name+"/page.html", "public/"+name+".html")
		a := assetOf("/"+name+".html", filepath.Join(site, "public", name+".html"), "<h1>"+name+"</h1>")
		a.Target = target
		assets = append(assets, a)
	}
	link("../private/page.html", "public/relinked.html")
	link("../../private/page.html", "content/replaced/page.html")
	link("../private", "content/above")
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: filepath.Join(site, "public")})
	for path, want := range map[string]string{"/fine": "<h1>fine</h1>", "/relinked": "<h1>relinked</h1>", "/replaced": "", "/above": ""} {
		t.Run(path, func(t *testing.T) {
			got := f.get(t, path)
			if want == "" && (got.status != 500 || strings.Contains(got.body, secret)) || want != "" && got.body != want {
				t.Errorf("%d %q, want %q", got.status, got.body, want)
			}
		})
	}
}

func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
