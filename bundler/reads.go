package bundler

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// reads collects the files and folders that a build looks at, for watching. It is safe for concurrent use.
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

// addAbsent adds the paths that an unresolved import could have: a file or a folder of that name, with the extensions that
// esbuild tries or takes for one another. It never adds the folder around it: other files there, such as a log of pages
// dev, must not trigger a build.
func (r *reads) addAbsent(path string) {
	r.add(path)
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	for _, extension := range []string{".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs", ".json"} {
		r.add(path+extension, stem+extension)
	}
}

// relative returns a path relative to the site's folder.
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
	return slices.Sorted(maps.Keys(r.paths))
}

// addConfigs adds the settings of esbuild for the sources: each package.json and tsconfig.json from a source's folder up to the
// site's, also missing ones. Settings of installed packages rarely change. It returns the texts of the tsconfig.json files by
// their paths.
func (r *reads) addConfigs(sources []string) map[string]string {
	seen := map[string]bool{}
	settings := map[string]string{}
	for _, source := range append(sources, filepath.Join(r.dir, "any")) {
		if ofPackage(source) {
			continue
		}
		for dir := filepath.Dir(source); !seen[dir]; dir = filepath.Dir(dir) {
			if rel, err := filepath.Rel(r.dir, dir); err != nil || !filepath.IsLocal(rel) {
				break
			}
			seen[dir] = true
			config := filepath.Join(dir, "tsconfig.json")
			r.add(config, filepath.Join(dir, "package.json"))
			settings[config] = textOf(config)
		}
	}
	return settings
}

// textOf returns the text of a file; "" when it cannot be read.
func textOf(path string) string {
	text, _ := readRegular(path)
	return string(text)
}

// ofPackage reports whether a file belongs to an installed package.
func ofPackage(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/node_modules/")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var errNotRegular = errors.New("it is not a regular file")

// readRegular reads a regular file only: opening a pipe waits for a writer, and a device never ends.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	return os.ReadFile(path)
}
