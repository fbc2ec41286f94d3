package site

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The kernel sends a large file in memory from its own copy, which is always one version of it, for every revision that has the file.
func TestMemoryFiles(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", memoryFileBytes/16) + "end"
	dir, assets := folder(t, map[string]string{"/a.bin": text, "/small.bin": "small"})
	revision := Revision{Assets: assets, AssetsDir: dir}
	f := start(t, Options{}, revision)
	if got := f.get(t, "/small.bin"); got.body != "small" || f.file("/small.bin").memory.Load().get() != nil {
		t.Errorf("a small file: %q", got.body)
	}
	whole := f.get(t, "/a.bin")
	memory := f.file("/a.bin").memory.Load().get()
	if memory == nil {
		t.Fatal("the file is not kept in the kernel's memory")
	}
	for range 3 {
		again := f.get(t, "/a.bin")
		again.header.Set("Date", whole.header.Get("Date"))
		if again.status != 200 || again.body != text || fmt.Sprint(again.header) != fmt.Sprint(whole.header) {
			t.Errorf("%d, %d bytes, %v; at first %v", again.status, len(again.body), again.header, whole.header)
		}
	}
	tag := whole.header.Get("ETag")
	for _, c := range []struct {
		method, header string
		status         int
		body           string
	}{
		{"HEAD", "Accept: */*", 200, ""},
		{"GET", "Range: bytes=16-18", 206, "012"},
		{"GET", "If-None-Match: " + tag, 304, ""},
		{"GET", `If-None-Match: "x"`, 200, text},
		{"GET", `If-Match: "x"`, 412, ""},
	} {
		t.Run(c.method+" with "+c.header, func(t *testing.T) {
			if got := f.do(t, nil, c.method, "/a.bin", "", c.header); got.status != c.status || got.body != c.body ||
				got.status == 200 && got.header.Get("Content-Length") != fmt.Sprint(len(text)) {
				t.Errorf("%s with %s: %d, %d bytes, %v", c.method, c.header, got.status, len(got.body), got.header)
			}
		})
	}

	// A write to the disk has no effect until a revision includes it.
	if err := os.WriteFile(filepath.Join(dir, "a.bin"), []byte(strings.ToUpper(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	f.site.Swap(revision)
	if got := f.get(t, "/a.bin"); got.body != text || f.file("/a.bin").memory.Load().get() != memory {
		t.Error("the next revision has another version of the same file")
	}
	opened, err := os.OpenFile(memory.path, os.O_WRONLY, 0)
	if err == nil {
		_, err = opened.WriteString("changed")
		_ = opened.Close() // nothing was written
	}
	if err == nil {
		t.Error("the copy can be changed")
	}
	for i, a := range assets {
		if a.Path == "/a.bin" {
			assets[i] = assetOf(a.Path, a.File, strings.ToUpper(text))
		}
	}
	f.site.Swap(Revision{Assets: assets, AssetsDir: dir})
	if got := f.get(t, "/a.bin"); got.status != http.StatusOK || got.body != strings.ToUpper(text) {
		t.Errorf("the new version: %d, %d bytes", got.status, len(got.body))
	}
}

func (f *fixture) file(path string) *file { return f.site.current.Load().static.files[path] }
