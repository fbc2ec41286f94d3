package statefolder_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

var sum = strings.Repeat("0123456789abcdef", 4)

// owners are paths of a state folder and whose they are; a folder ends in "/".
var owners = map[string]statefolder.Class{
	"site.db": statefolder.State, "site.db-wal": statefolder.State, "site.db-shm": statefolder.State, "kv.db-journal": statefolder.State,
	"project.db": statefolder.State, "platform.db": statefolder.State, "cache.db": statefolder.State,
	"site.db.part": statefolder.Unfinished,
	"storage/":     statefolder.State, "storage/index.db": statefolder.State, "storage/index.db-wal": statefolder.State,
	"storage/blobs/":       statefolder.State,
	"storage/blobs/" + sum: statefolder.State, "uploads/blobs/" + sum: statefolder.State,
	"storage/incoming/": statefolder.Unfinished, "storage/incoming/ABCDEFGHIJKLMNOPQRSTUVWX27": statefolder.Unfinished,
	"dev.lock": statefolder.Kept, "state.lock": statefolder.Kept, "snapshots.lock": statefolder.Kept, "migrate.lock": statefolder.Kept,
	"dev.json": statefolder.Kept, "db_history": statefolder.Kept, ".gitignore": statefolder.Kept, ".probe-123": statefolder.Kept,
	"told/": statefolder.Kept, "told/migrated": statefolder.Kept,
	"undo/": statefolder.Kept, "undo/000001_20260506T070809Z_123.db": statefolder.Kept,
	"undo/undone.db": statefolder.Kept, "undo/undone.db-wal": statefolder.Kept,
	"undo/.saving-12": statefolder.Kept, "undo/.saving-12/": statefolder.Kept, "undo/.saving-12/new.db": statefolder.Kept,
	"snapshots/": statefolder.Kept, "snapshots/one/": statefolder.Kept, "snapshots/one/snapshot.json": statefolder.Kept,
	"snapshots/one/files/site.db": statefolder.State,
	"snapshots/.saving-one/":      statefolder.Kept, "snapshots/.replaced-one/snapshot.json": statefolder.Kept,
	"snapshots/.saving-removed-1/": statefolder.Kept,
	".load/":                       statefolder.Kept, ".load/commit.json": statefolder.Kept,
	".load/new/storage/blobs/" + sum: statefolder.State,
	"previews/":                      statefolder.Kept, "migrations-12/": statefolder.Kept,

	".DS_Store": statefolder.Litter, "storage/.DS_Store": statefolder.Litter,
	"storage/blobs/._" + sum: statefolder.Litter, "Thumbs.db": statefolder.Litter,
	"thumbs.DB": statefolder.Litter, "desktop.ini": statefolder.Litter, "._site.db": statefolder.Litter,
	".dev.json.swp": statefolder.Litter, "dev.json~": statefolder.Litter,
	"#dev.json#": statefolder.Litter, ".#dev.json": statefolder.Litter, "4913": statefolder.Litter,
	"lost+found/": statefolder.Litter, ".gitkeep": statefolder.Litter,

	"site.db/": statefolder.Foreign, "storage": statefolder.Foreign, "told": statefolder.Foreign,
	"notes.txt": statefolder.Foreign, "my.db": statefolder.Foreign,
	"site.db.bak": statefolder.Foreign, "site.db-wal-old": statefolder.Foreign, "Site.db": statefolder.Foreign,
	"state.lock/x": statefolder.Foreign, "mine.lock": statefolder.Foreign,
	".env": statefolder.Foreign, ".git/": statefolder.Foreign, ".config/x": statefolder.Foreign, "data.swp": statefolder.Foreign,
	"storage/thesis.docx": statefolder.Foreign, "storage/blobs/thesis.docx": statefolder.Foreign,
	"storage/blobs/" + sum[1:]:              statefolder.Foreign,
	"storage/blobs/" + strings.ToUpper(sum): statefolder.Foreign, "storage/blobs/" + sum + "/": statefolder.Foreign,
	"storage/blobs/" + sum + "/x": statefolder.Foreign,
	"storage/incoming/draft.txt":  statefolder.Foreign, "storage/site.db": statefolder.Foreign,
	"undo/backup.db": statefolder.Foreign, "undo/.saving-x": statefolder.Foreign,
	"undo/.saving-12/thesis.docx": statefolder.Foreign, "told/x": statefolder.Foreign,
	"snapshots/x": statefolder.Foreign, "snapshots/one/x": statefolder.Foreign,
	"snapshots/-x/": statefolder.Foreign, "snapshots/one/files/notes.txt": statefolder.Foreign,
	"snapshots/.mine/": statefolder.Foreign, ".load/x": statefolder.Foreign,
	".load/new/dev.lock": statefolder.Foreign, "migrations-x/": statefolder.Foreign, "migrations/": statefolder.Foreign,
	".probe-x": statefolder.Foreign,
}

func TestOf(t *testing.T) {
	for name, want := range owners {
		folder := strings.HasSuffix(name, "/")
		if got := statefolder.Of(strings.TrimSuffix(name, "/"), folder); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	for name := range owners {
		f.Add(name, strings.HasSuffix(name, "/"))
	}
	f.Fuzz(func(t *testing.T, name string, folder bool) {
		// Files in a foreign folder are foreign too.
		if statefolder.Of(name, true) == statefolder.Foreign && statefolder.Of(name+"/site.db", folder) != statefolder.Foreign {
			t.Errorf("%q is foreign, and its content is not", name)
		}
	})
}

// lay writes files, and folders whose names end in "/".
func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o700)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// whole is a state folder with a file in every place, and litter.
var whole = []string{
	"site.db", "site.db-wal", "platform.db", "storage/index.db", "storage/blobs/" + sum,
	"storage/incoming/ABCDEFGHIJKLMNOPQRSTUVWX27", "storage/.DS_Store",
	"uploads/", "undo/000001_20260506T070809Z_123.db", "snapshots/one/snapshot.json",
	"snapshots/one/files/of-an-earlier-version.txt", "told/migrated", "dev.lock",
	".load/new/site.db", "previews/p/site.db", "migrations-1/0001.sql", ".DS_Store", "lost+found/x",
}

func TestLook(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  statefolder.Report
	}{
		"nothing":    {nil, statefolder.Report{Empty: true}},
		"litter":     {[]string{".DS_Store", ".gitkeep"}, statefolder.Report{Empty: true}},
		"a state":    {whole, statefolder.Report{Marked: true}},
		"only names": {[]string{"site.db"}, statefolder.Report{}},
		"a file":     {[]string{"notes.txt"}, statefolder.Report{Empty: true, Foreign: []string{"notes.txt"}}},
		"deep": {append(slices.Clone(whole), "storage/blobs/thesis.docx"), statefolder.Report{
			Marked: true, Foreign: []string{"storage/blobs/thesis.docx"},
		}},
		"a folder": {[]string{"dev.lock", "photos/a.jpg"}, statefolder.Report{Marked: true, Foreign: []string{"photos"}}},
		"another kind": {[]string{"dev.lock", "site.db/", "storage"}, statefolder.Report{
			Marked: true, Foreign: []string{"site.db", "storage"},
		}},
		"hidden": {[]string{"state.lock", ".env", ".ssh/id"}, statefolder.Report{Marked: true, Foreign: []string{".env", ".ssh"}}},
		"in a snapshot": {[]string{"state.lock", "snapshots/one/x"}, statefolder.Report{
			Marked: true, Foreign: []string{"snapshots/one/x"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, c.files...)
			got, err := statefolder.Look(dir)
			if err != nil || !slices.Equal(got.Foreign, c.want.Foreign) || got.Empty != c.want.Empty || got.Marked != c.want.Marked ||
				got.More || len(got.Links) > 0 {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
			}
			isFolder := func(name string) bool { return strings.HasSuffix(name, "/") }
			if len(files(t, dir)) != len(slices.DeleteFunc(slices.Clone(c.files), isFolder)) {
				t.Errorf("%s: %q", name, files(t, dir))
			}
		})
	}
	many := t.TempDir()
	lay(t, many, "a", "b", "c", "d", "e")
	if got, err := statefolder.Look(many); err != nil || len(got.Foreign) != 3 || !got.More {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := statefolder.Look(filepath.Join(many, "none")); err != nil || !got.Empty {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := statefolder.Look(filepath.Join(many, "a")); err == nil {
		t.Error("a file was looked through")
	}
}

// TestRemove: at every place, files of the state go and all others stay.
func TestRemove(t *testing.T) {
	own := []string{
		"storage/thesis.docx", "storage/blobs/list.txt", "storage/blobs/deep/er/x", "storage/incoming/draft",
		"storage/.DS_Store", "undo/backup.db", "notes.txt",
	}
	dir := t.TempDir()
	lay(t, dir, append(slices.Clone(whole), own...)...)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var left []string
	for _, name := range []string{"storage", "undo", "site.db", "notes.txt", "uploads", "missing"} {
		more, err := statefolder.Remove(root, name)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, more...)
	}
	if want := []string{
		"storage/.DS_Store", "storage/blobs/deep", "storage/blobs/list.txt", "storage/incoming/draft",
		"storage/thesis.docx", "undo/backup.db", "notes.txt",
	}; !slices.Equal(left, want) {
		t.Errorf("left %q\nwant %q", left, want)
	}
	there := files(t, dir)
	for _, name := range own {
		if !slices.Contains(there, name) {
			t.Errorf("%s is gone", name)
		}
	}
	for _, name := range there {
		if strings.HasPrefix(name, "storage/") && statefolder.Of(name, false) == statefolder.State || name == "site.db" {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestLinks: a link inside the site is found, and one above it is not.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	dir := statefolder.Real(t.TempDir())
	lay(t, dir, "site/.pages/", "site/own/", "documents/thesis.docx", "disk/state/")
	for from, to := range map[string]string{
		"site/.pages/state": "../../documents", "site/linked": "../disk", "mine": "disk", "round": "round",
		"tmp": "site", "chain": "site/linked/state",
		"disk/state/site.db": "../../documents/thesis.docx", "site/loose": "/nowhere",
	} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(from))); err != nil {
			t.Fatal(err)
		}
	}
	site := filepath.Join(dir, "site")
	for path, want := range map[string]string{
		"site/own": "", "site/.pages/state": "site/.pages/state", "site/linked/state": "site/linked", "mine/state": "",
		"mine/not/yet": "", "none/x": "",
		"tmp/.pages/state": "site/.pages/state", "tmp/own": "", "chain": "site/linked", "site/loose/x": "site/loose",
	} {
		t.Run(path, func(t *testing.T) {
			got, err := statefolder.LinkIn(site, filepath.Join(dir, path))
			if want != "" {
				want = filepath.Join(dir, want)
			}
			if err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", path, got, err, want)
			}
		})
	}
	if _, err := statefolder.LinkIn(site, filepath.Join(dir, "round", "x")); err == nil {
		t.Error("a link to itself has an end")
	}
	for below, want := range map[string]string{
		".pages/state": ".pages/state", ".pages/state/x": ".pages/state", "own": "", "none/x": "", ".pages/build": "",
	} {
		t.Run(below, func(t *testing.T) {
			got, err := statefolder.LinkBelow(site, filepath.FromSlash(below))
			if want != "" {
				want = filepath.Join(site, want)
			}
			if err != nil || got != want {
				t.Errorf("%s: %q, %v", below, got, err)
			}
		})
	}
	if got, err := statefolder.Look(filepath.Join(dir, "disk", "state")); err != nil || !slices.Equal(got.Links, []string{"site.db"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for path, want := range map[string]bool{
		"site": true, "site/own/x/y": true, "tmp/own": true, "documents": false, ".": false, "site/linked": false,
		"site/.pages/state": false,
	} {
		t.Run(path, func(t *testing.T) {
			if got := statefolder.Holds(site, filepath.Join(dir, path)); got != want {
				t.Errorf("the site holds %s: %v", path, got)
			}
		})
	}
	if got := statefolder.Real(filepath.Join(dir, "mine", "state", "new", "x")); got != filepath.Join(dir, "disk", "state", "new", "x") {
		t.Errorf("really %q", got)
	}
}

func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	blobs := filepath.Join(dir, "storage", "blobs")
	if err := os.MkdirAll(blobs, 0o700); err != nil {
		b.Fatal(err)
	}
	for n := range 10000 {
		name := fmt.Sprintf("%s%05d", sum[:59], n)
		if err := os.WriteFile(filepath.Join(blobs, name), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if found, err := statefolder.Look(dir); err != nil || len(found.Foreign) > 0 {
			b.Fatal(found, err)
		}
	}
}
