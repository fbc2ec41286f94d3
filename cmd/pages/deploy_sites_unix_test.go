//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// publicPackages are npm packages whose files are published unchanged, and the members folder of each.
var publicPackages = []struct{ folder, gated string }{
	{"riverside/node_modules/hono", "dist/types"},
	// The others have 2,000 to 5,000 files each.
	{"packages/node_modules/effect", "src"},
	{"packages/node_modules/es-toolkit", "dist/compat"},
	{"packages/node_modules/date-fns", "locale"},
}

// TestDeployPackages publishes sites of many files, a part of each for members: public files come back byte for byte, and signed-out
// visitors get the responses of `pages dev`.
func TestDeployPackages(t *testing.T) {
	packages := publicPackages[:1]
	if os.Getenv("PAGES_SOAK") != "" {
		packages = publicPackages
	}
	service := startPlatform(t, t.TempDir())
	u, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		t.Run(filepath.Base(p.folder), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "public"), os.DirFS(filepath.Join(sites, p.folder))); err != nil {
				t.Fatal(err)
			}
			put(
				t, filepath.Join(dir, "pages.deploy.json"),
				`{"assets": "public", "routes": [{"pattern": "/`+p.gated+`/*", "access": "members"}]}`,
			)
			ci := &publisher{t, dir, t.TempDir(), service.URL, service.Keys["member"]}
			ci.publish("--site", "Open studio", "--allow-public")
			dev := startDev(t, dir)
			line := &http.Transport{}
			defer line.CloseIdleConnections()
			live, local := guest{line, service.URL, demoNew + ":" + u.Port()}, guest{line, dev.URL, ""}
			public, gated := 0, 0
			err := fs.WalkDir(os.DirFS(filepath.Join(dir, "public")), ".", func(file string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				want, err := os.ReadFile(filepath.Join(dir, "public", file))
				if err != nil {
					return err
				}
				path := (&url.URL{Path: "/" + file}).EscapedPath()
				if !strings.HasPrefix(file, p.gated+"/") {
					public++
					return live.sees(path, want)
				}
				gated++
				return live.isKeptOut(path, want, local)
			})
			if err != nil || public < 100 || gated < 20 {
				t.Errorf("after %d public files and %d for members: %v", public, gated, err)
			}
		})
	}
}

// guest sends requests to a site by its host; "" for that of the address.
type guest struct {
	line          *http.Transport
	address, host string
}

func (v guest) ask(method, path string, header http.Header) (status int, h http.Header, body []byte, err error) {
	r, err := http.NewRequest(method, v.address+path, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	r.Host, r.Header = v.host, header.Clone()
	resp, err := v.line.RoundTrip(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, body, err
}

// sees reports an error if a file is not served with its bytes. It follows the redirect to a page's shorter path.
func (v guest) sees(path string, want []byte) error {
	status, h, body, err := v.ask(http.MethodGet, path, http.Header{})
	if to := h.Get("Location"); err == nil && status == http.StatusTemporaryRedirect && strings.HasPrefix(to, "/") {
		status, _, body, err = v.ask(http.MethodGet, to, http.Header{})
	}
	if err == nil && (status != http.StatusOK || !bytes.Equal(body, want)) {
		err = fmt.Errorf("%s: %d, %d bytes of %d", path, status, len(body), len(want))
	}
	return err
}

// isKeptOut reports a response that reveals a members file to a signed-out visitor, or differs from
// that of another site.
func (v guest) isKeptOut(path string, want []byte, other guest) error {
	for _, c := range []struct {
		method string
		header http.Header
	}{
		{http.MethodGet, http.Header{}},
		{http.MethodHead, http.Header{}},
		{http.MethodGet, http.Header{"Range": {"bytes=0-9"}}},
		{http.MethodGet, http.Header{"If-None-Match": {"*"}, "Accept-Encoding": {"gzip"}}},
		{http.MethodGet, http.Header{"Accept": {"text/html"}, "Sec-Fetch-Mode": {"navigate"}}},
		{http.MethodPost, http.Header{}},
	} {
		status, h, body, err := v.ask(c.method, path, c.header)
		if err != nil {
			return err
		}
		there, hThere, _, err := other.ask(c.method, path, c.header)
		if err != nil {
			return err
		}
		switch {
		case status != http.StatusUnauthorized && status != http.StatusSeeOther:
			return fmt.Errorf("%s %s %v: %d", c.method, path, c.header, status)
		case status != there, h.Get("Content-Type") != hThere.Get("Content-Type"):
			return fmt.Errorf(
				"%s %s %v: %d %s, in dev %d %s", c.method, path, c.header, status, h.Get("Content-Type"), there,
				hThere.Get("Content-Type"),
			)
		case h.Get("Etag") != "" || h.Get("Last-Modified") != "" || h.Get("Content-Range") != "":
			return fmt.Errorf("%s %s %v mentions the file: %v", c.method, path, c.header, h)
		case len(want) > 0 && bytes.Contains(body, want[:min(len(want), 40)]):
			return fmt.Errorf("%s %s %v holds the file", c.method, path, c.header)
		}
	}
	return nil
}
