package main

import (
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// TestQuotedPath quotes a path so that it can be copied.
func TestQuotedPath(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join("my sites", "a"): `"` + filepath.Join("my sites", "a") + `"`,
		filepath.Join("ünï", "a\nb"):   `"` + filepath.Join("ünï", `a\nb`) + `"`,
	} {
		if got := wording.QuotePath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
