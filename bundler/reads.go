package bundler

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// reads collects the files and folders that a build looks at, for watching. It
// is safe for concurrent use.
type reads struct {
	dir string

	mu    sync.Mutex
	paths map[string]bool
}

func newReads(dir string) *reads { return &reads{dir: dir, paths: map[string]bool{}} }

// add takes absolute paths, and paths relative to the site's folder.
func (r *reads) add(paths ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.dir, path)
		}
		r.paths[filepath.Clean(path)] = true
	}
}

// extensions are those that esbuild tries, or takes for one another, where an import names a file without.
var extensions = []string{".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs", ".json"}

// addAbsent adds what would be found where an import found nothing: a file or a folder of
// that name, with any extension. Never the folder around it: what else is written there, a
// log of pages dev maybe, is no reason to build again.
func (r *reads) addAbsent(path string) {
	r.add(path)
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	for _, extension := range extensions {
		r.add(path+extension, stem+extension)
	}
}

// relative is a path as the site's folder sees it.
func (r *reads) relative(path string) string {
	if rel, err := filepath.Rel(r.dir, path); err == nil {
		return rel
	}
	return path
}

// list returns the absolute paths, sorted.
func (r *reads) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	paths := make([]string, 0, len(r.paths))
	for path := range r.paths {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// addConfigs adds the files that tell esbuild how to read the sources: each
// package.json and tsconfig.json from a source's folder up to the site's, there
// or not. Those of installed packages do not change under an author's hands. It
// returns the texts of the tsconfig.json files by their paths.
func (r *reads) addConfigs(sources []string) map[string]string {
	seen := map[string]bool{}
	settings := map[string]string{}
	for _, source := range append(sources, filepath.Join(r.dir, "any")) {
		if ofPackage(source) {
			continue
		}
		for dir := filepath.Dir(source); !seen[dir] && within(r.dir, dir); dir = filepath.Dir(dir) {
			seen[dir] = true
			config := filepath.Join(dir, "tsconfig.json")
			r.add(config, filepath.Join(dir, "package.json"))
			settings[config] = textOf(config)
		}
	}
	return settings
}

// textOf is what a file holds; nothing when it cannot be read.
func textOf(path string) string {
	text, _ := readRegular(path)
	return string(text)
}

// ofPackage reports whether a file is an installed package's.
func ofPackage(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/node_modules/")
}

// within reports whether path is dir or lies in it. Both are absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
