package site

import (
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/manifest/htmlforms"
)

// This file finds the answers that the forms of a revision ask for, since visitors may send any.

// askedOnce reads the pages of a revision when it gets its first form.
type askedOnce struct {
	once  sync.Once
	forms map[string]map[string]bool // by form: names in lower case
}

// unasked returns the answers of a post that must not fill a column, according to the forms of the pages. If only a Worker or a script
// shows the form, all its answers may fill columns if the manifest declares the form, and none otherwise; unseen is then true.
func (v *serving) unasked(form string, fields Fields, log *slog.Logger) (names []string, unseen bool) {
	if v.revision.Upstream != nil { // its pages are unknown
		return nil, true
	}
	v.asked.once.Do(func() { v.asked.forms = v.static.askedFields(log) })
	asked, seen := v.asked.forms[form]
	if _, declared := v.manifest.Form(form); !seen && declared {
		return nil, true
	}
	for _, f := range fields {
		if !asked[strings.ToLower(f.Name)] {
			names = append(names, f.Name)
		}
	}
	return names, !seen
}

// noteUnasked logs the first post of a form with answers that fill no column.
func (x *exchange) noteUnasked(p post) {
	if len(p.unasked) == 0 || !x.site.unaskedTold.first(p.form) {
		return
	}
	fix := "add a field of that name to the form on its page, or do not send it"
	if p.unseen {
		fix = `declare the form under "forms" in the manifest, if a Worker or a script shows it`
	}
	x.site.options.Logger.Warn("answers without a field in any form of the site: the lead has them, but no column",
		"form", p.form, "answers", wordOf(strings.Join(p.unasked, ", "), 200), "fix", fix)
}

// askedFields reads the forms of all pages.
func (x *staticIndex) askedFields(log *slog.Logger) map[string]map[string]bool {
	var search htmlforms.Search
	pages := assetFiles{x}
	for _, path := range slices.Sorted(maps.Keys(x.files)) {
		if !strings.HasPrefix(x.files[path].asset.ContentType, "text/html") {
			continue
		}
		name := strings.TrimPrefix(path, "/")
		if err := search.Read(pages, name, name); err != nil {
			log.Warn("forms of a page not read: their answers fill no columns", "page", path, "error", err)
		}
	}
	return htmlforms.Fields(search.Forms)
}

// assetFiles is a file system of the assets, by their paths.
type assetFiles struct{ *staticIndex }

// Open implements fs.FS.
func (a assetFiles) Open(name string) (fs.File, error) {
	f, ok := a.files["/"+name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file, _, err := a.open(f.asset)
	if err != nil {
		return nil, errors.Join(err, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist})
	}
	return file, nil
}
