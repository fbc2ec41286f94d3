package manifest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// This file reads an uploaded site by its manifest: what its files are, and what the site is made to have. Files
// are named by their paths in the bundle.

// Accepted reads a manifest that was accepted once, also by another version of the rules.
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

// ServedPath is the path, relative to the site's root and without a leading slash, at which a file would be served by where it
// lies; false for one outside the assets. A site with neither entry nor assets is its files.
func (m *Manifest) ServedPath(file string) (rel string, ok bool) {
	dir := path.Clean(m.Assets)
	switch {
	case m.Assets == "" && m.Entry != "", m.Assets != "" && dir != "." && !strings.HasPrefix(file, dir+"/"):
		return "", false
	case m.Assets == "" || dir == ".":
		return file, !m.IsSource(file)
	}
	return strings.TrimPrefix(file, dir+"/"), true
}

// PublicPath is the path, with its leading slash, that visitors ask for a file at; false for one that nobody gets.
func (m *Manifest) PublicPath(file string) (string, bool) {
	rel, ok := m.ServedPath(file)
	return "/" + rel, ok && !m.IsSource(file) && !publicfiles.HiddenPath(rel) && !sitepath.EdgeFile("/"+rel)
}

// IsSource reports whether a file is the Worker's entry or lies among the migrations.
func (m *Manifest) IsSource(file string) bool {
	a := m.AssetsFolder()
	return a.Entry != "" && file == a.Entry || a.Migration(file)
}

// IsMigration reports whether a file is a script of the site's database.
func (m *Manifest) IsMigration(file string) bool {
	db := m.Bindings.Database
	return db != nil && db.Migrations != "" && path.Dir(file) == path.Clean(db.Migrations) && path.Ext(file) == ".sql"
}

// Provisions names the bindings that the first publish makes something for, in the order of the manifest's fields.
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
		if !equal(of(was), of(now)) {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ
}

// equal compares what two manifests hold in one part, by its JSON.
func equal(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
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
