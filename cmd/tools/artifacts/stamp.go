package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A stamp is a list of "<sha256>  <path>", the format that sha256sum -c reads, paths relative to the repository. The artifact
// itself is the first line, so that a damaged one is stale; the recipe and the inputs follow, sorted.

// fresh reports whether every file of the stamp, including out, is unchanged, and no file of the recipe or of entries is new.
func fresh(root, stamp, out string, entries []string) bool {
	text, err := os.ReadFile(filepath.Join(root, stamp))
	if err != nil {
		return false
	}
	stamped := map[string]bool{}
	for line := range bytes.Lines(text) {
		sum, path, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "  ")
		if !ok {
			return false
		}
		if now, err := hashFile(filepath.Join(root, path)); err != nil || now != sum {
			return false
		}
		stamped[path] = true
	}
	needed, err := matchFiles(root, slices.Concat(recipe, entries))
	if err != nil {
		return false
	}
	return stamped[out] && !slices.ContainsFunc(needed, func(path string) bool { return !stamped[path] })
}

// writeStamp stamps out and its inputs.
func writeStamp(root, stamp, out string, inputs []string) error {
	paths, err := matchFiles(root, recipe)
	if err != nil {
		return err
	}
	paths = append(paths, inputs...)
	slices.Sort(paths)
	var b bytes.Buffer
	for _, path := range slices.Insert(slices.Compact(paths), 0, out) {
		sum, err := hashFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, path)
	}
	return writeFile(filepath.Join(root, stamp), b.Bytes())
}

// matchFiles are the files that patterns match, without tests.
func matchFiles(root string, patterns []string) ([]string, error) {
	var files []string
	for _, pattern := range patterns {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			if !strings.HasSuffix(path, "_test.go") {
				files = append(files, path)
			}
		}
	}
	return files, nil
}

func hashFile(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// writeFile writes through a temporary file in the same folder, so that a reader never sees half a file.
func writeFile(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".*.stamp") // a name that git ignores
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it is renamed
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// recipe are the files that define the artifacts: a change to one makes all stale. go.mod has the version of esbuild.
var recipe = []string{
	"go.mod", "cmd/tools/artifacts/*.go", "bundler/names/*.go", "runtime/engine/quickjspatch/*.go",
	"runtime/wasmbinary/*.go", "runtime/wasmbinary/op/*.go",
}
