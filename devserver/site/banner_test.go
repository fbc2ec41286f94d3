package site

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/pages-toolchain/pages/manifest"
)

// TestBanner: pages of a preview have a banner in the tab of a browser and nowhere else, and their other bytes and the page's policy stay
// unchanged.
func TestBanner(t *testing.T) {
	const page, strict = "<!doctype html><title>a</title><p>a", "default-src 'none'; style-src 'nonce-abc='"
	const utf16, latin1 = "\xff\xfe<\x00p\x00>\x00a\x00", "<p>\xe9"
	dir, assets := folder(t, map[string]string{"/index.html": page, "/utf16.html": utf16, "/a.txt": "text", "/404.html": "<h1>none</h1>"})
	worker := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/api/strict":
			w.Header().Set("Content-Security-Policy", strict)
		case "/api/encoded":
			w.Header().Set("Content-Encoding", "gzip")
		case "/api/json":
			w.Header().Set("Content-Type", "application/json")
		case "/api/utf16be":
			w.Header().Set("Content-Type", `text/html; charset="UTF-16BE"`)
			_, err := io.WriteString(w, "\x00<\x00p\x00>")
			return err
		case "/api/utf16le":
			_, err := io.WriteString(w, utf16)
			return err
		case "/api/latin1":
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
			_, err := io.WriteString(w, latin1)
			return err
		case "/api/japanese":
			w.Header().Set("Content-Type", "text/html;charset=iso-2022-jp")
		case "/api/redirect":
			http.Redirect(w, r, "/", http.StatusFound)
			return nil
		}
		_, err := io.WriteString(w, page)
		return err
	})
	revision := Revision{
		ID: "r7-abc", Manifest: &manifest.Manifest{Entry: "w.js", Routes: routes("public /api/*")},
		AssetsDir: dir, Assets: assets, Worker: worker,
	}
	const said = `<link rel="stylesheet" href="/__pages/preview.css"`
	const text = "Preview &#8220;&lt;b&gt;&#8221; of revision r7-abc: this is not the published site"
	f := start(t, Options{Preview: true, PreviewName: "<b>"}, revision)
	navigation := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Accept", "text/html"}
	for _, c := range []struct {
		name, method, path string
		header             []string
		banner             bool
	}{
		{"a file", "GET", "/", navigation, true},
		{"an older browser", "GET", "/", []string{"Accept", "text/html,*/*"}, true},
		{"a missing page", "GET", "/none", navigation, true},
		{"a Worker's page", "GET", "/api/x", navigation, true},
		{"a policy with a nonce", "GET", "/api/strict", navigation, true},
		{"the head alone", "HEAD", "/", navigation, false},
		{"a script's fetch", "GET", "/", []string{"Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty", "Accept", "text/html"}, false},
		{"a program", "GET", "/", []string{"Accept", "*/*"}, false},
		{"a frame of the page", "GET", "/", []string{"Sec-Fetch-Dest", "iframe", "Accept", "text/html"}, false},
		{"text", "GET", "/a.txt", navigation, false},
		{"JSON", "GET", "/api/json", navigation, false},
		{"encoded bytes", "GET", "/api/encoded", navigation, false},
		{"a file in UTF-16", "GET", "/utf16", navigation, false},
		{"UTF-16 by its byte order mark", "GET", "/api/utf16le", navigation, false},
		{"UTF-16 by the header", "GET", "/api/utf16be", navigation, false},
		{"an encoding with escapes", "GET", "/api/japanese", navigation, false},
		{"a single-byte encoding", "GET", "/api/latin1", navigation, true},
		{"a redirect", "GET", "/api/redirect", navigation, false},
		{"a part", "GET", "/", append([]string{"Range", "bytes=0-3"}, navigation...), false},
		{"a reserved page", "GET", "/__pages/sign-in", navigation, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, f.server.URL+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", "identity")
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			resp, err := f.client(t).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(body), said) && strings.Contains(string(body), text); got != c.banner {
				t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
			}
			want, whole := map[string]string{
				"/utf16": utf16, "/api/utf16le": utf16, "/api/utf16be": "\x00<\x00p\x00>", "/api/japanese": page,
			}[c.path]
			if whole && string(body) != want {
				t.Errorf("the page is %q, want %q", body, want)
			}
			notASCII := func(r rune) bool { return r > unicode.MaxASCII }
			if c.path == "/api/latin1" && strings.ContainsFunc(string(body[len(latin1):]), notASCII) {
				t.Errorf("the banner is not in ASCII: %q", body)
			}
			if c.banner && resp.Header.Get("ETag") != "" {
				t.Error("the entity tag is that of other bytes")
			}
			if length := resp.Header.Get("Content-Length"); c.method == "GET" && length != "" && length != strconv.Itoa(len(body)) {
				t.Errorf("%s bytes are announced, %d come", length, len(body))
			}
			keeps := resp.Header.Get("Content-Security-Policy") == strict && strings.Contains(string(body), ` nonce="abc="`)
			if c.path == "/api/strict" && !keeps {
				t.Errorf("%v %s", resp.Header, body)
			}
			if strings.Contains(string(body), "<script") || strings.Contains(string(body), "style=") {
				t.Errorf("it has a script, or a style of its own: %s", body)
			}
		})
	}
	style := func(f *fixture) int {
		resp, err := f.client(t).Get(f.server.URL + "/__pages/preview.css")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	published := start(t, Options{}, revision)
	if got, want := [2]int{style(f), style(published)}, [2]int{200, 404}; got != want {
		t.Errorf("the style sheet: %v, want %v", got, want)
	}
}
