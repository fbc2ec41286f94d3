package bundler

import (
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// sourcesAmong are the Worker's own files when the whole site is the assets folder; the entry itself is never
// among the candidates. Of any other folder, a file that both the Worker and a page import is meant to be served.
// An import may write a name in another case, on a disk that finds it so; two files whose names differ in that
// alone are never served.
func sourcesAmong(m *manifest.Manifest, sources []string) func(file string) bool {
	code := map[string]bool{}
	if siteIsAssets(m) {
		for _, source := range sources {
			if script(source) {
				code[strings.ToLower(source)] = true
			}
		}
	}
	return func(file string) bool { return code[strings.ToLower(file)] }
}

func script(file string) bool {
	switch path.Ext(file) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}

func siteIsAssets(m *manifest.Manifest) bool { return path.Clean(m.Assets) == "." }
