package manifest_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update rewrites the expected files instead of comparing with them.
var update = flag.Bool("update", false, "rewrite the expected files in testdata")

// golden compares output with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		line, is, was := difference(got, string(want))
		t.Errorf("testdata/%s:%d: differs (go test -update rewrites it)\n got %.300q\nwant %.300q", name, line, is, was)
	}
}

// difference is the first line in which two texts differ, with both versions.
func difference(got, want string) (line int, is, was string) {
	for line = 1; ; line++ {
		var more, expected bool
		is, got, more = strings.Cut(got, "\n")
		was, want, expected = strings.Cut(want, "\n")
		if is != was || more != expected || !more {
			return line, is, was
		}
	}
}
