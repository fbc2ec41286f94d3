package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// TestValidateSaysWhatNoUploadTakes: a public file that is too large for an upload is an error of validate, and does not stop work on the
// site.
func TestValidateSaysWhatNoUploadTakes(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public"}`)
	put(t, filepath.Join(dir, "public", "film.mp4"), "")
	if err := os.Truncate(filepath.Join(dir, "public", "film.mp4"), limits.MaxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	const said = `error: "public/film.mp4" has 26214401 bytes, over the limit of 25.0 MiB in an upload [asset-too-large]`
	if stdout, _, code := pages(t, "-C", dir, "validate"); code != 1 || !strings.Contains(stdout, said) {
		t.Errorf("validate ends with %d and says %s", code, stdout)
	}
	if _, stderr, code := pages(t, "-C", dir, "validate", "--manifest-only"); code != 0 {
		t.Errorf("of the manifest alone, validate ends with %d and says %s", code, stderr)
	}
	for _, c := range []struct {
		name string
		args []string
		want int
		says string
	}{
		{"for an upload", []string{"build"}, 1, "error: "},
		{"for another platform", []string{"build", "--target", "cloudflare"}, 0, "warning: "},
		{"for this machine", []string{"test", "--", "true"}, 0, ""}, // the message names only the failing command
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, stderr, code := pages(t, append([]string{"-C", dir}, c.args...)...); code != c.want ||
				c.says != "" && (!strings.Contains(stderr, c.says) || !strings.Contains(stderr, "asset-too-large")) {
				t.Errorf("%q ends with %d and says %s", c.args, code, stderr)
			}
		})
	}
	if _, stderr, code := pages(t, "-C", dir, "routes"); code != 0 {
		t.Errorf("routes ends with %d and says %s", code, stderr)
	}
}
