package bundler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

const (
	bundleFile       = "bundle.json" // a folder that has it is an earlier output
	assetsFile       = "assets.json"
	migrationsFolder = "migrations"
)

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
//	bundle.json       the index, and the digest
//	worker.js         with worker.js.map and the modules it imports
//	assets.json       the static files: path, size, sha256, content_type
//	migrations/       the SQL files
//	pages.deploy.json the manifest, defaults applied
//
// Static files are not copied. The folder appears atomically: it is written under a temporary name, and swapped with an
// earlier output. An existing folder with other files is an error, and stays unchanged. Files of desktops, such as .DS_Store,
// are kept.
func WriteDir(b *Bundle, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	beside, err := replaceable(dir)
	if err != nil {
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
	defer os.RemoveAll(fresh) // moved away on success
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	if err := writeFiles(b, fresh); err != nil {
		return err
	}
	return swap(fresh, dir, beside)
}

// replaceable returns the reason why dir may not be replaced, and the files in it to keep.
func replaceable(dir string) (beside []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ours := outputs(dir)
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		base := d.Name()
		litter := base == ".DS_Store" || strings.HasPrefix(base, "._") || strings.EqualFold(base, "Thumbs.db") ||
			strings.EqualFold(base, "desktop.ini") // which desktops leave in any folder that they show
		switch {
		case d.Type().IsRegular() && litter:
			beside = append(beside, name)
			return nil
		case d.IsDir() && name == migrationsFolder, d.Type().IsRegular() && ours[name]:
			return nil
		}
		return fmt.Errorf("%q has files in it that pages did not write, such as %q: choose an empty folder", dir, name)
	})
	return beside, err
}

// outputs returns the files of an earlier output in dir; none for other folders.
func outputs(dir string) map[string]bool {
	text, err := os.ReadFile(filepath.Join(dir, bundleFile))
	var list index
	if err != nil || json.Unmarshal(text, &list) != nil || list.Format != 1 || list.Assets != assetsFile {
		return nil
	}
	files := map[string]bool{bundleFile: true, list.Assets: true, list.Manifest: true}
	if w := list.Worker; w != nil {
		files[w.File], files[w.Map] = true, true
		for _, m := range w.Modules {
			files[m.File] = true
		}
	}
	for _, m := range list.Migrations {
		files[m.File] = true
	}
	return files
}

// swap moves fresh to dir, and removes the old folder except for the files to keep.
func swap(fresh, dir string, beside []string) error {
	if !exists(dir) {
		return os.Rename(fresh, dir)
	}
	for _, name := range beside {
		to := filepath.Join(fresh, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, filepath.FromSlash(name)), to); err != nil {
			return err
		}
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
	list := index{Format: 1, Digest: b.Digest, Assets: assetsFile, Migrations: []indexMigration{}, Manifest: manifest.FileName}
	files := map[string][]byte{manifest.FileName: b.Manifest}
	if w := b.Worker; w != nil {
		list.Worker = &indexWorker{File: w.Name, Map: w.Name + ".map", Modules: []indexModule{}}
		files[w.Name], files[w.Name+".map"] = w.Code, w.Map
		for _, m := range w.Modules {
			name := strings.TrimPrefix(m.Specifier, "./")
			files[name] = m.Bytes
			list.Worker.Modules = append(list.Worker.Modules, indexModule{File: name, Kind: m.Kind, SHA256: sum(m.Bytes)})
		}
	}
	for _, m := range b.Migrations {
		files[migrationsFolder+"/"+m.Name] = m.SQL
		list.Migrations = append(list.Migrations, indexMigration{File: migrationsFolder + "/" + m.Name, SHA256: m.SHA256})
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
	for name, bytes := range files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, bytes, 0o644); err != nil {
			return err
		}
	}
	return nil
}
