// Package wrangler reads the configuration of a Cloudflare Workers or Pages project, and says what manifest it
// comes to on this platform.
//
// In goes the project's folder with its wrangler.json, wrangler.jsonc or wrangler.toml, an example of one, or what a
// build made of it; out comes a [Translation]: the manifest, and a [Note] for every key that the manifest cannot say or
// says otherwise. Nothing is left out without a note. An error means that the file cannot be read as what its name says.
//
// The package writes nothing and is safe for concurrent use.
package wrangler

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
)

// Effect says what a note is about.
type Effect string

const (
	// Lost is what the platform does not have: code that relies on it will fail.
	Lost Effect = "lost"
	// Changed is what the platform has otherwise: something is left to do, or to know.
	Changed Effect = "changed"
	// Unneeded is what the platform sees to by itself.
	Unneeded Effect = "unneeded"
)

// Note is about one key of the configuration.
type Note struct {
	// Key is its path, such as "assets.run_worker_first" or "d1_databases[1]".
	Key    string `json:"key"`
	Effect Effect `json:"effect"`
	Text   string `json:"text"`
}

// Translation is what a configuration comes to.
type Translation struct {
	// File is the configuration's name, relative to the project.
	File     string
	Manifest manifest.Manifest
	// Unbuilt reports that a build makes what there is to adopt: the Worker, and the configuration to be read, of what
	// this one names, or the folder of a Pages project, which may hold a Worker.
	Unbuilt bool
	// SinglePage is the app of one page that the configuration speaks of; nil for none.
	SinglePage *SinglePage
	// Notes are sorted by effect, the gravest first, and then by key.
	Notes []Note
	// Vars are the plain variables, which the manifest declares as secrets: the platform has no others.
	Vars map[string]string
}

// SinglePage says that a navigation to an unknown path gets the start page.
type SinglePage struct {
	// WorkerFirst are the patterns of paths that the Worker answers all the same: "/api/*", "!/api/docs/*" for an
	// exception, and "/*" for all.
	WorkerFirst []string
}

// Translate reads the configuration of the project in fsys. devVars are names that its .dev.vars gives a value to:
// secrets that the configuration need not mention. Without a configuration it returns an error that is
// fs.ErrNotExist.
func Translate(fsys fs.FS, devVars ...string) (*Translation, error) {
	own, err := readOwn(fsys)
	if err != nil {
		return nil, err
	}
	made, err := readMade(fsys)
	if err != nil {
		return nil, err
	}
	read := made
	if read == nil {
		read = own
	}
	if read == nil {
		return nil, fmt.Errorf("no wrangler configuration: %w", fs.ErrNotExist)
	}
	t := &Translation{
		File: read.file, Unbuilt: made == nil && (awaitsBuild(fsys, own) || awaitsPages(fsys, own)),
		Vars: map[string]string{},
	}
	r := &reader{Translation: t, fsys: fsys, keys: read.keys, dir: path.Dir(read.file)}
	switch {
	case own == nil:
	case own.example && made == nil:
		r.note(own.file, Changed, "this is an example: look over what was taken from it")
	case own.example: // the platform does not read it, as it is not the one
	case path.Ext(own.file) != ".toml":
		r.declares = own.file
		r.declared = own.flags()
	}
	r.read(devVars)
	slices.SortStableFunc(t.Notes, compareNotes)
	return t, nil
}

func compareNotes(a, b Note) int {
	order := []Effect{Lost, Changed, Unneeded}
	if d := slices.Index(order, a.Effect) - slices.Index(order, b.Effect); d != 0 {
		return d
	}
	return strings.Compare(a.Key, b.Key)
}
