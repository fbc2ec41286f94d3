package bundler

import (
	"path"

	"github.com/pages-toolchain/pages/manifest"
)

// sourcesAmong are the Worker's own files when the whole site is the assets folder; the entry itself is never
// among the candidates. Of any other folder, a file that both the Worker and a page import is meant to be served.
func sourcesAmong(m *manifest.Manifest, sources []string) map[string]bool {
	code := map[string]bool{}
	if !siteIsAssets(m) {
		return code
	}
	for _, source := range sources {
		if script(source) {
			code[source] = true
		}
	}
	return code
}

func script(file string) bool {
	switch path.Ext(file) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}

func siteIsAssets(m *manifest.Manifest) bool { return path.Clean(m.Assets) == "." }
