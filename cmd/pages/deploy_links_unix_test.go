//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// TestLinksInAssets: a deploy follows a link to a file of the site. It refuses, by name, a link that leads out, nowhere or in a circle, and
// anything else that is not a file, and sends nothing.
func TestLinksInAssets(t *testing.T) {
	service := startPlatform(t, t.TempDir())
	outside := filepath.Join(t.TempDir(), "outside.txt")
	put(t, outside, canary)
	for _, c := range []struct {
		id, link, code, want string
		lay                  func(name string) error
	}{
		{"P-110", "index.html", "", "", nil},
		{"P-111", outside, "path_symlink_escape", "is an absolute link", nil},
		{"P-112", "../../elsewhere", "path_symlink_escape", "leads out of the site's folder", nil},
		{"P-113", "nowhere", "path_symlink_escape", "is a link to nothing", nil},
		{"P-114", "x", "path_symlink_loop", "leads to itself", nil},
		{"P-116", "", "path_not_regular", "is not a regular file", func(name string) error { return syscall.Mkfifo(name, 0o600) }},
	} {
		t.Run(c.id, func(t *testing.T) {
			p := &publisher{t, t.TempDir(), t.TempDir(), service.URL, service.Keys["member"]}
			put(t, filepath.Join(p.dir, "pages.deploy.json"), `{"assets": "public"}`)
			put(t, filepath.Join(p.dir, "public", "index.html"), "inside")
			name := filepath.Join(p.dir, "public", "x")
			lay := c.lay
			if lay == nil {
				lay = func(name string) error { return os.Symlink(c.link, name) }
			}
			if err := lay(name); err != nil {
				t.Fatal(err)
			}
			before := service.revisionsOf(t, service.Demo["unpublished_site_id"])
			code, stdout, stderr := p.run("deploy", "--propose-only", "--site", "Open studio", "--force")
			if c.want == "" {
				if code != failure.ExitPerson {
					t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
				}
				if code, stdout, stderr := p.run("confirm", strings.Fields(stdout)[2]); code != 0 {
					t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
				}
				if v := service.request(t, "GET", demoNew, "/x", ""); v.body != "inside" {
					t.Errorf("%d %s", v.status, v.body)
				}
				return
			}
			if code != failure.ExitRefused || !strings.Contains(stderr, c.code) || !strings.Contains(stderr, "public/x") ||
				!strings.Contains(stderr, c.want) || strings.Contains(stdout+stderr, canary) {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
			if after := service.revisionsOf(t, service.Demo["unpublished_site_id"]); len(after) != len(before) {
				t.Errorf("%d revisions, and before %d", len(after), len(before))
			}
		})
	}
}
