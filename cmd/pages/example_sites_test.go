package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// noState is a site's folder without the state of earlier runs.
type noState struct{ fs.FS }

func (n noState) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(n.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		base := path.Base(e.Name())
		return base == ".pages" || base == "node_modules"
	}), err
}

// copyTo copies an example site, without its state and with its packages.
func copyTo(dir, name string) error {
	from, err := filepath.Abs(filepath.Join(sites, name))
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, noState{os.DirFS(from)}); err != nil {
		return err
	}
	packages := filepath.Join(from, "node_modules")
	if _, err := os.Stat(packages); err != nil {
		return nil //nolint:nilerr // a site without packages
	}
	return os.Symlink(packages, filepath.Join(dir, "node_modules"))
}
