package manifest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// This file classifies the files of an uploaded site. Files are named by their paths in the bundle.

// Accepted reads a manifest that was accepted earlier, maybe by another version of the rules.
func Accepted(text []byte) (*Manifest, error) {
	if m, _ := Parse(FileName, text); m != nil {
		return m, nil
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	return m, nil
}

// ServedPath returns the path, relative to the site's root and without a leading slash, at which the place of a file in the
// bundle would have it served; false for one outside the assets. Without entry and assets, all files are assets.
func (m *Manifest) ServedPath(file string) (rel string, ok bool) {
	dir := path.Clean(m.Assets)
	switch {
	case m.Assets == "" && m.Entry != "", m.Assets != "" && dir != "." && !under(dir, file):
		return "", false
	case m.Assets == "" || dir == ".":
		return file, !m.IsSource(file)
	}
	return file[len(dir)+1:], true
}

// under reports whether a file lies in a folder.
func under(dir, file string) bool {
	return len(file) > len(dir) && file[len(dir)] == '/' && file[:len(dir)] == dir
}

// PublicPath returns the request path, with its leading slash, of a file; false for one that is not served.
func (m *Manifest) PublicPath(file string) (string, bool) {
	rel, ok := m.ServedPath(file)
	at := "/" + rel
	return at, ok && !m.IsSource(file) && !publicfiles.HiddenPath(rel) && !sitepath.EdgeFile(at)
}

// IsSource reports whether a file is the Worker's entry or lies among the migrations.
func (m *Manifest) IsSource(file string) bool {
	a := m.AssetsFolder()
	return a.Entry != "" && file == a.Entry || a.Migration(file)
}

// IsMigration reports whether a file is a script of the site's database.
func (m *Manifest) IsMigration(file string) bool {
	db := m.Bindings.Database
	return db != nil && db.Migrations != "" && path.Dir(file) == path.Clean(db.Migrations) && migrationfiles.Is(path.Base(file))
}

// Provisions names the bindings whose resources the first publish creates, in the order of the manifest's fields.
func (m *Manifest) Provisions() (names []string) {
	if m.Bindings.Database != nil {
		names = append(names, "database")
	}
	if m.Bindings.Storage != nil {
		names = append(names, "storage")
	}
	if m.Bindings.KV != nil {
		names = append(names, "kv")
	}
	return names
}

// Differences names the top-level parts in which two manifests differ, sorted; the list is never nil.
func Differences(was, now *Manifest) []string {
	differ := []string{}
	for name, of := range map[string]func(*Manifest) any{
		"entry":    func(m *Manifest) any { return m.Entry },
		"assets":   func(m *Manifest) any { return m.Assets },
		"routes":   func(m *Manifest) any { return m.Routes },
		"bindings": func(m *Manifest) any { return m.Bindings },
		"limits":   func(m *Manifest) any { return m.Limits },
		"runtime":  func(m *Manifest) any { return m.Runtime },
		"forms":    func(m *Manifest) any { return m.Forms },
	} {
		before, err := json.Marshal(of(was))
		after, errAfter := json.Marshal(of(now))
		if err != nil || errAfter != nil || string(before) != string(after) {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ
}

// AssetsFolder returns the folder of the static files. Its Dir is empty when the site has none.
func (m *Manifest) AssetsFolder() publicfiles.Folder {
	a := publicfiles.Folder{Dir: sitepath.CleanPath(m.Assets)}
	if m.Entry != "" {
		a.Entry = sitepath.CleanPath(m.Entry)
	}
	if m.Bindings.Database != nil {
		a.Migrations = sitepath.CleanPath(m.Bindings.Database.Migrations)
	}
	return a
}
