package packager_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest/packager"
)

func TestOf(t *testing.T) {
	for files, want := range map[string]packager.Tool{
		"site/package.json":                          packager.NPM,
		"site/pnpm-lock.yaml site/package-lock.json": packager.PNPM,
		"site/yarn.lock pnpm-lock.yaml .git":         packager.Yarn,
		"site/bun.lock":                              packager.Bun,
		"site/bun.lockb":                             packager.Bun,
		"yarn.lock .git":                             packager.Yarn,
		"yarn.lock site/.git":                        packager.NPM, // of another checkout
		"yarn.lock":                                  packager.NPM, // of an unknown project
	} {
		t.Run(files, func(t *testing.T) {
			root := t.TempDir()
			for name := range strings.FieldsSeq(files) {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := packager.Of(filepath.Join(root, "site")); got != want {
				t.Errorf("%s: %s, want %s", files, got, want)
			}
		})
	}
}
