package main

import (
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestHost: other machines get the site alone, by any address of this machine, and by the allowed names only.
func TestHost(t *testing.T) {
	program(t)
	address := netip.AddrFrom4([4]byte{10, 9, 9, 1})
	if !testmachine.OwnNetwork(t, address) {
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pages.deploy.json": `{"assets": "public", "routes": [{"pattern": "/club/*", "access": "members"}]}`,
		"public/index.html": "<h1>Home</h1>", "public/club/index.html": "<h1>Club</h1>",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range []string{"0.0.0.0", "::", address.String()} {
		t.Run(host, func(t *testing.T) {
			d := startDev(t, dir, "--host", host)
			port := d.URL[strings.LastIndexByte(d.URL, ':'):]
			d.expect(d.get("/__pages/"), http.StatusOK, "<title>")
			d.expect(d.get("/", "X-Forwarded-For: 127.0.0.1"), http.StatusOK, "Home")
			d.URL = "http://" + address.String() + port
			d.eventually("the other machines' URL is shown", func() bool {
				return strings.Contains(d.stderr.String(), d.URL+": the site alone")
			})
			d.expect(d.get("/"), http.StatusOK, "Home")
			d.expect(d.get("/__pages/"), http.StatusNotFound, "")
			d.expect(d.get("/club/"), http.StatusUnauthorized, "")
			if a := d.get("/club/", "Accept: text/html"); a.StatusCode != http.StatusSeeOther && a.StatusCode != http.StatusFound {
				t.Errorf("a browser gets %d at a members page, want it sent to sign in", a.StatusCode)
			}
			d.expect(d.do("GET", "/__pages/sign-in?next=/club/", "", "Accept: text/html"), http.StatusOK, "code")
		})
	}
	t.Run("absent", func(t *testing.T) {
		_, stderr, code := pages(t, "dev", dir, "--port", "0", "--host", "10.9.9.2")
		if code != int(failure.ExitResource) || !strings.Contains(stderr, "this machine does not have the address 10.9.9.2") ||
			!strings.Contains(stderr, "10.9.9.1") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	})
}
