package bundler

import (
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// sourcesAmong are the Worker's own files when they lie among the assets. Where
// the entry lies outside, a file that both the Worker and a page import is meant
// to be served.
func sourcesAmong(m *manifest.Manifest, sources []string) map[string]bool {
	code := map[string]bool{}
	if !entryAmongAssets(m) {
		return code
	}
	code[path.Clean(m.Entry)] = true
	for _, source := range sources {
		if script(source) {
			code[source] = true
		}
	}
	return code
}

func entryAmongAssets(m *manifest.Manifest) bool {
	folder := path.Clean(m.Assets)
	return m.Entry != "" && (folder == "." || strings.HasPrefix(m.Entry, folder+"/"))
}

func script(file string) bool {
	switch path.Ext(file) {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return true
	}
	return false
}
