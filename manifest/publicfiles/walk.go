package publicfiles

import (
	"io/fs"
	"iter"
	"path"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Listing is the result of one walk of a folder. A check passes it to the build, so that both judge the same files and examine
// each file once. Opening a file examines it again (see [Folder.Again]).
type Listing struct {
	Folder  Folder
	Entries []Entry   // from [Folder.Walk], which met no error
	Taken   time.Time // when it was complete
	// NamesPass is true when a [Names] accepted all public files.
	NamesPass bool
}

// All returns the entries as [Folder.Walk] does.
func (l *Listing) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, e := range l.Entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Walk visits the assets folder in bytewise order of each folder's names. It skips the entries of private, hidden or ignored
// folders, and files that are removed meanwhile. It follows links to files inside the bundle, and no others. An error belongs
// to its entry, which cannot be read; the walk continues after it. When ".assetsignore" cannot be read there is only its
// error. Folders are read ahead, so that fsys has to be safe for concurrent use.
func (a Folder) Walk(fsys fs.FS) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		rules, err := a.readIgnore(fsys)
		if err != nil {
			yield(Entry{File: a.IgnoreFile()}, err)
			return
		}
		w := &walk{Folder: a, fsys: fsys, rules: rules, yield: yield}
		defer w.reading.Wait()
		info, err := fs.Stat(fsys, a.Dir)
		if err != nil {
			yield(Entry{File: a.Dir}, err)
			return
		}
		d := fs.FileInfoToDirEntry(info)
		if w.visit(a.Dir, d) == AssetFolder && d.IsDir() && !w.stopped {
			w.folder(a.Dir, d, w.read(a.Dir))
		}
	}
}

// walk is one walk over a folder.
type walk struct {
	Folder

	fsys    fs.FS
	rules   ignoreRules
	yield   func(Entry, error) bool
	stopped bool
	reading sync.WaitGroup
}

// contents are the entries of a folder, sorted by name, with the error that ended the read.
type contents struct {
	entries []fs.DirEntry
	err     error
}

// read begins to read a folder.
func (w *walk) read(dir string) <-chan contents {
	done := make(chan contents, 1)
	w.reading.Go(func() {
		entries, err := fs.ReadDir(w.fsys, dir)
		done <- contents{entries, err}
	})
	return done
}

// give yields an entry, unless it was removed, for example by a checkout of another branch.
func (w *walk) give(e Entry, err error) {
	if e.File != w.Dir && (err != nil || e.Kind == AssetRefused) && sitepath.Vanished(w.fsys, e.File) {
		return
	}
	w.stopped = !w.yield(e, err)
}

// visit classifies and yields an entry.
func (w *walk) visit(file string, d fs.DirEntry) Kind {
	e := w.entry(w.fsys, file, d, w.rules)
	w.give(e, nil)
	return e.Kind
}

// folder visits all entries of a folder.
func (w *walk) folder(dir string, d fs.DirEntry, read <-chan contents) {
	in := <-read
	if in.err != nil {
		w.give(Entry{File: dir, Entry: d}, in.err)
	}
	ahead := readAhead{walk: w, dir: dir, rest: in.entries}
	for _, d := range in.entries {
		if w.stopped {
			return
		}
		file := path.Join(dir, d.Name())
		kind := w.visit(file, d)
		if kind == AssetFolder && !w.stopped {
			w.folder(file, d, ahead.take(file))
		}
	}
}

// readAhead reads the next folders of a folder while others are visited.
type readAhead struct {
	*walk

	dir   string
	rest  []fs.DirEntry // not visited yet
	begun []begun
}

type begun struct {
	file string
	read <-chan contents
}

// aheadFolders is the number of folders that are read in advance. The disk and the kernel take most of the time
// of a walk.
const aheadFolders = 4

// take returns the channel of a folder's contents.
func (r *readAhead) take(file string) (read <-chan contents) {
	for len(r.begun) <= aheadFolders && len(r.rest) > 0 {
		d := r.rest[0]
		r.rest = r.rest[1:]
		if !d.IsDir() {
			continue
		}
		if next := path.Join(r.dir, d.Name()); r.entry(r.fsys, next, d, r.rules).Kind == AssetFolder {
			r.begun = append(r.begun, begun{next, r.read(next)})
		}
	}
	for len(r.begun) > 0 {
		first := r.begun[0]
		if r.begun = r.begun[1:]; first.file == file {
			return first.read
		}
	}
	return r.read(file)
}
