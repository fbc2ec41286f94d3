package bundler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/manifest"
)

// bundleFile is written last. A folder that has it is an earlier output.
const bundleFile = "bundle.json"

// index is bundle.json.
type index struct {
	Format     int              `json:"format"` // 1
	Digest     string           `json:"digest"`
	Worker     *indexWorker     `json:"worker"` // null for a static site
	Assets     string           `json:"assets"`
	Migrations []indexMigration `json:"migrations"`
	Manifest   string           `json:"manifest"`
}

type indexWorker struct {
	File    string        `json:"file"`
	Map     string        `json:"map"`
	Modules []indexModule `json:"modules"`
}

type indexModule struct {
	File   string     `json:"file"`
	Kind   ModuleKind `json:"kind"`
	SHA256 string     `json:"sha256"`
}

type indexMigration struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

type indexAsset struct {
	Path        string `json:"path"`
	Size        int64  `json:"size"`
	SHA256      string `json:"sha256"`
	ContentType string `json:"content_type"`
}

// WriteDir writes the bundle to the folder dir:
//
//	bundle.json       what is here, and the digest
//	worker.js         with worker.js.map and the modules it imports
//	assets.json       the static files: path, size, sha256, content_type
//	migrations/       the SQL files
//	pages.deploy.json the manifest, defaults applied
//
// Static files are not copied. The folder appears whole or not at all: it is
// written beside its place, and an earlier output there is swapped for it. A
// folder that holds anything else is left as it is, with an error.
func WriteDir(b *Bundle, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := replaceable(dir); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh) // moved away when all went well
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	if err := writeFiles(b, fresh); err != nil {
		return err
	}
	return swap(fresh, dir)
}

// replaceable says why dir may not be replaced.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if !exists(filepath.Join(dir, bundleFile)) || !exists(filepath.Join(dir, "assets.json")) {
		return fmt.Errorf("%q holds files that are no earlier output: choose an empty folder", dir)
	}
	return nil
}

// swap moves fresh to dir, and what was there away.
func swap(fresh, dir string) error {
	if !exists(dir) {
		return os.Rename(fresh, dir)
	}
	old := fresh + ".old"
	if err := os.Rename(dir, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}

func writeFiles(b *Bundle, dir string) error {
	list := index{Format: 1, Digest: b.Digest, Assets: "assets.json", Migrations: []indexMigration{}, Manifest: manifest.FileName}
	files := map[string][]byte{manifest.FileName: b.Manifest}
	if w := b.Worker; w != nil {
		list.Worker = &indexWorker{File: w.Name, Map: w.Name + ".map", Modules: []indexModule{}}
		files[w.Name], files[w.Name+".map"] = w.Code, w.Map
		for _, m := range w.Modules {
			name := filepath.Base(m.Specifier)
			files[name] = m.Bytes
			list.Worker.Modules = append(list.Worker.Modules, indexModule{File: name, Kind: m.Kind, SHA256: sum(m.Bytes)})
		}
	}
	for _, m := range b.Migrations {
		files["migrations/"+m.Name] = m.SQL
		list.Migrations = append(list.Migrations, indexMigration{File: "migrations/" + m.Name, SHA256: m.SHA256})
	}
	assets := make([]indexAsset, len(b.Assets))
	for i, a := range b.Assets {
		assets[i] = indexAsset{Path: a.Path, Size: a.Size, SHA256: a.SHA256, ContentType: a.ContentType}
	}
	var errs [2]error
	files[list.Assets], errs[0] = json.MarshalIndent(assets, "", "  ")
	files[bundleFile], errs[1] = json.MarshalIndent(list, "", "  ")
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	if len(b.Migrations) > 0 {
		if err := os.Mkdir(filepath.Join(dir, "migrations"), 0o755); err != nil {
			return err
		}
	}
	for name, bytes := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), bytes, 0o644); err != nil {
			return err
		}
	}
	return nil
}
