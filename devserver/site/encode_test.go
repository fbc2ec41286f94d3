package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/pages-toolchain/pages/manifest"
)

func TestBestCoding(t *testing.T) {
	for _, c := range []struct{ accept, want string }{
		{"", ""},
		{"identity", ""},
		{"gzip", "gzip"},
		{"GZIP", "gzip"},
		{"x-gzip", "gzip"},
		{"gzip, deflate", "gzip"},
		{"deflate", ""},
		{"gzip, deflate, br, zstd", "br"},
		{"gzip, zstd", "zstd"},
		{"br;q=0.5, gzip;q=0.8", "gzip"},
		{"br;q=0, zstd;q=0, *", "gzip"},
		{"*, br;q=0, zstd;q=0", "gzip"},
		{"*", "br"},
		{"*;q=0", ""},
		{"*;q=0, gzip", "gzip"},
		{"gzip;q=0", ""},
		{"gzip;q=0.000", ""},
		{"gzip ; q = 0.3", "gzip"},
		{"gzip;q=2", ""},
		{"gzip;q=-1", ""},
		{"gzip;q=NaN", ""},
		{"gzip;level=9", ""},
		{"gzipped", ""},
		{",,gzip,,", "gzip"},
		{"identity;q=1, gzip;q=0.001", "gzip"},
	} {
		t.Run(c.accept, func(t *testing.T) {
			got := ""
			if at := bestCoding([]string{c.accept}); at >= 0 {
				got = codings[at].name
			}
			if got != c.want {
				t.Errorf("%q: %q, want %q", c.accept, got, c.want)
			}
		})
	}
	if bestCoding([]string{"deflate", "gzip"}) != 2 {
		t.Error("the second line is not read")
	}
}

func decoded(t *testing.T, coding, body string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(body)
	var err error
	switch coding {
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	case "gzip":
		r, err = gzip.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", coding, err)
	}
	return string(text)
}

func TestCompressedFiles(t *testing.T) {
	style := strings.Repeat("a { color: red } /* and so on */\n", 400)
	noise := string(bytes.Repeat([]byte{0x89, 'P', 'N', 'G'}, 1000))
	dir, assets := folder(t, map[string]string{
		"/site.css": style, "/club/x.css": style, "/page.html": "<p>" + style, "/short.css": "a{}", "/x.png": noise,
		"/large.css": strings.Repeat(style, 100),
	})
	f := start(t, Options{}, Revision{
		Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes("members /club/*")},
	})
	plain := f.get(t, "/site.css", "Accept-Encoding: identity")
	if plain.body != style || plain.header.Get("Vary") != "Accept-Encoding" || plain.header.Get("Content-Encoding") != "" {
		t.Fatalf("as it is: %v", plain.header)
	}
	tags := map[string]bool{plain.header.Get("Etag"): true}
	for _, coding := range []string{"br", "zstd", "gzip"} {
		for range 2 { // made, and kept
			got := f.get(t, "/site.css", "Accept-Encoding: "+coding)
			if got.header.Get("Content-Encoding") != coding || decoded(t, coding, got.body) != style || len(got.body) > len(style)/5 {
				t.Errorf("%s: %d bytes, %v", coding, len(got.body), got.header)
			}
			if got.header.Get("Content-Type") != plain.header.Get("Content-Type") || got.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %v", coding, got.header)
			}
			head := f.do(t, nil, "HEAD", "/site.css", "", "Accept-Encoding: "+coding)
			got.header.Del("Date")
			head.header.Del("Date")
			if len(head.header) != len(got.header) || head.header.Get("Content-Length") != got.header.Get("Content-Length") ||
				head.header.Get("Etag") != got.header.Get("Etag") {
				t.Errorf("HEAD says %v, GET %v", head.header, got.header)
			}
			tag := got.header.Get("Etag")
			tags[tag] = true
			again := f.get(t, "/site.css", "Accept-Encoding: "+coding, "If-None-Match: "+tag)
			if again.status != http.StatusNotModified || again.header.Get("Vary") != "Accept-Encoding" ||
				again.header.Get("Etag") != tag || again.body != "" {
				t.Errorf("%s again: %d %v", coding, again.status, again.header)
			}
			other := f.get(t, "/site.css", "Accept-Encoding: "+coding, "If-None-Match: "+plain.header.Get("Etag"))
			if other.status != http.StatusOK || decoded(t, coding, other.body) != style || other.header.Get("Content-Length") == "" {
				t.Errorf("%s with another form's tag: %d %v", coding, other.status, other.header)
			}
		}
	}
	if len(tags) != 4 {
		t.Errorf("tags of four forms: %v", tags)
	}
	part := f.get(t, "/site.css", "Accept-Encoding: gzip", "Range: bytes=2-5")
	if part.status != http.StatusPartialContent || part.body != style[2:6] || part.header.Get("Content-Encoding") != "" {
		t.Errorf("a part: %d %q %v", part.status, part.body, part.header)
	}
	large := strings.Repeat(style, 100)
	for _, coding := range []string{"br", "zstd", "gzip"} {
		got := f.get(t, "/large.css", "Accept-Encoding: "+coding)
		if got.header.Get("Content-Encoding") != coding || decoded(t, coding, got.body) != large || got.header.Get("Content-Length") == "" {
			t.Errorf("large, %s: %d bytes, %v", coding, len(got.body), got.header)
		}
		if again := f.get(
			t, "/large.css", "Accept-Encoding: "+coding, "If-None-Match: "+got.header.Get("Etag"),
		); again.status != http.StatusNotModified {
			t.Errorf("large, %s again: %d", coding, again.status)
		}
	}
	if got := f.get(t, "/large.css", "Accept-Encoding: gzip", "Range: bytes=-2"); got.status != http.StatusPartialContent ||
		got.body != large[len(large)-2:] {
		t.Errorf("a part of the large one: %d %q", got.status, got.body)
	}
	for _, path := range []string{"/short.css", "/x.png"} {
		if got := f.get(t, path, "Accept-Encoding: gzip"); got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	club := f.do(t, f.as(t, "member"), "GET", "/club/x.css", "", "Accept-Encoding: br")
	if vary := strings.Join(club.header.Values("Vary"), ", "); vary != "Accept-Encoding, Cookie" || decoded(t, "br", club.body) != style {
		t.Errorf("for members: %v", club.header)
	}
	if got := f.get(t, "/site.css", "Accept-Encoding: br"); got.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("for all, after a member: %v", got.header)
	}
	if got := f.get(t, "/club/x.css", "Accept-Encoding: br"); got.status != http.StatusUnauthorized ||
		got.header.Get("Content-Encoding") != "" {
		t.Errorf("signed out: %d %v", got.status, got.header)
	}
	asked := recordResponse(f.site.AssetsHandler(), request(t, "/site.css", "gzip"))
	if asked.header.Get("Content-Encoding") != "" || asked.body != style {
		t.Errorf("a Worker gets %v", asked.header)
	}
	marked := request(t, "/site.css", "gzip")
	if got := recordResponse(f.site, marked.WithContext(WithoutEncoding(marked.Context()))); got.header.Get("Content-Encoding") != "" ||
		got.body != style {
		t.Errorf("who changes the answer gets %v", got.header)
	}
}

func request(t *testing.T, path, accept string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", accept)
	return r
}

// A file that was edited after the revision was made is sent in its present form, and compressed forms survive a new revision with the same
// file.
func TestCompressedFilesOfRevisions(t *testing.T) {
	style := strings.Repeat("a { color: red }\n", 400)
	dir, assets := folder(t, map[string]string{"/a.css": style, "/b.css": style})
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	first := f.get(t, "/a.css", "Accept-Encoding: gzip")
	f.site.Swap(Revision{Assets: assets, AssetsDir: dir})
	at := bestCoding([]string{"gzip"})
	if f.site.current.Load().static.files["/a.css"].encoded.forms[at].Load().get() == nil {
		t.Error("the form is not kept")
	}
	if got := f.get(t, "/a.css", "Accept-Encoding: gzip"); got.header.Get("Etag") != first.header.Get("Etag") {
		t.Errorf("%v", got.header)
	}
	edited := strings.ReplaceAll(style, "red", "tan")
	if err := os.WriteFile(filepath.Join(dir, "b.css"), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.get(t, "/b.css", "Accept-Encoding: gzip"); got.body != edited || got.header.Get("Content-Encoding") != "" {
		t.Errorf("an edited file: %v", got.header)
	}
}

// The cache has a limit for compressed forms. Over it, the site sends files uncompressed
// and does not compress them for each request.
func TestCompressedFilesHaveABound(t *testing.T) {
	style := strings.Repeat("a { color: red }\n", 1<<17)
	dir, assets := folder(t, map[string]string{"/a.css": style})
	cache := NewFileCache(10)
	f := start(t, Options{Cache: cache}, Revision{Assets: assets, AssetsDir: dir})
	static := f.site.current.Load().static
	for range 2 {
		if got := f.get(t, "/a.css", "Accept-Encoding: gzip"); got.body != style || got.header.Get("Content-Encoding") != "" {
			t.Fatalf("without room: %v", got.header)
		}
	}
	if made := static.files["/a.css"].encoded.forms[bestCoding([]string{"gzip"})].Load().get(); made == nil || made.bytes != nil ||
		cache.used != 0 {
		t.Errorf("kept %v, %d bytes", made, cache.used)
	}
}

// The tag of a compressed file is strong: a reused encoder gives the same bytes, even after an unfinished file.
func TestEncodersRepeatThemselves(t *testing.T) {
	text := func(seed uint64, size int) []byte {
		source, b := rand.New(rand.NewPCG(seed, 1)), bytes.Buffer{}
		for b.Len() < size {
			fmt.Fprintf(&b, "<li class=\"item-%d\">%d of the list</li>\n", source.IntN(40), source.IntN(1000))
		}
		return b.Bytes()
	}
	for at, c := range codings {
		for i, size := range []int{2_000, 90_000, 400_000, 30_000} {
			subject := text(uint64(i), size)
			var fresh bytes.Buffer
			w, err := c.encode(&fresh)
			if err == nil {
				_, err = w.Write(subject)
			}
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			for round := range 4 {
				if _, err := compress(
					at, io.MultiReader(bytes.NewReader(text(9, 70_000)), iotest.ErrReader(io.ErrUnexpectedEOF)), 70_000,
				); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("a broken read: %v", err)
				}
				got, err := compress(at, bytes.NewReader(subject), int64(size))
				if err != nil || !bytes.Equal(got, fresh.Bytes()) {
					t.Errorf("%s of %d bytes, round %d: %d bytes, %d the first time, %v", c.name, size, round, len(got), fresh.Len(), err)
				}
			}
		}
	}
}

// A large file that was written to after it was indexed is sent in its present form, without the tag of another version.
func TestLargeFilesAreOneVersion(t *testing.T) {
	style := strings.Repeat("a { color: red }\n", 1<<17)
	dir, assets := folder(t, map[string]string{"/a.css": style})
	assets[0].Modified = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	name := filepath.Join(dir, "a.css")
	for _, c := range []struct {
		text, tag string
		at        time.Time
	}{
		{style, etag(assets[0].SHA256), assets[0].Modified},
		{strings.ReplaceAll(style, "red", "tan"), "", assets[0].Modified.Add(time.Millisecond)},
	} {
		if err := errors.Join(os.WriteFile(name, []byte(c.text), 0o600), os.Chtimes(name, c.at, c.at)); err != nil {
			t.Fatal(err)
		}
		f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
		if got := f.get(t, "/a.css", "Accept-Encoding: identity"); got.body != c.text || got.header.Get("Etag") != c.tag {
			t.Errorf("%v", got.header)
		}
	}
	// Even with the same time, the site compresses only contents with the right hash.
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir})
	if err := os.Chtimes(name, assets[0].Modified, assets[0].Modified); err != nil {
		t.Fatal(err)
	}
	if got := f.get(t, "/a.css", "Accept-Encoding: br"); got.header.Get("Content-Encoding") != "" {
		t.Errorf("%v", got.header)
	}
}

func FuzzBestCoding(f *testing.F) {
	for _, accept := range []string{"gzip", "br;q=0.5, *;q=0", "*", ";q=", "gzip;q=1e-9,,"} {
		f.Add(accept)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if at := bestCoding([]string{accept}); at < -1 || at >= len(codings) ||
			at >= 0 && !strings.Contains(accept, "*") && !strings.Contains(strings.ToLower(accept), codings[at].name) {
			t.Errorf("%q gives %d", accept, at)
		}
	})
}

func BenchmarkCompressedFile(b *testing.B) {
	dir, assets := folder(b, map[string]string{"/a.css": strings.Repeat("a { color: red }\n", 600)})
	f := start(b, Options{}, Revision{Assets: assets, AssetsDir: dir})
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://localhost/a.css", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip, deflate, br")
	for b.Loop() {
		if got := recordResponse(f.site, r); got.header.Get("Content-Encoding") != "br" {
			b.Fatal(got.header)
		}
	}
}
