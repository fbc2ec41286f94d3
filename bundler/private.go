package bundler

import (
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// private knows the files of a site that no visitor may have, wherever the
// assets folder lies. Paths are relative to the site's folder, with forward
// slashes.
type private struct {
	migrations string // "" for none
}

func newPrivate(m *manifest.Manifest) private {
	if m.Bindings.Database == nil || m.Bindings.Database.Migrations == "" {
		return private{}
	}
	return private{migrations: path.Clean(m.Bindings.Database.Migrations)}
}

// projectFiles are files at the site's root that are about the project.
var projectFiles = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
	"tsconfig.json", "wrangler.json", "wrangler.jsonc", "wrangler.toml",
}

// has reports whether the file or folder is private.
func (p private) has(file string) bool {
	dir, name := path.Split(file)
	switch {
	case file == "." || strings.HasPrefix(file, "../"):
		return true
	case strings.EqualFold(name, manifest.FileName):
		return true
	case dir == "" && slices.Contains(projectFiles, strings.ToLower(name)):
		return true
	case p.migrations != "" && (file == p.migrations || strings.HasPrefix(file, p.migrations+"/")):
		return true
	}
	return secretName(name)
}

// hidden reports whether a segment of the path keeps the file from being served
// without a word: dot files but .well-known at the front (RFC 8615), installed
// packages, and what file managers leave behind.
func hidden(rel string) bool {
	first := true
	for segment := range strings.SplitSeq(rel, "/") {
		dot := strings.HasPrefix(segment, ".") && (!first || segment != ".well-known")
		if dot || segment == "node_modules" || segment == "Thumbs.db" || segment == "desktop.ini" {
			return true
		}
		first = false
	}
	return false
}

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
