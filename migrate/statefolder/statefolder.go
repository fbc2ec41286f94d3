// Package statefolder lists the files of a site's local state, and distinguishes a folder of such files from one with
// a user's own files.
//
// Input: the path of a folder, or a path in one. Output: the class of a file, a folder's files that do not belong to the state, and links
// in its path. Only folders are opened, and links below the named folder are not followed. Only Remove changes the folder: it removes the
// files of the list and leaves everything else. Errors come from the system. All functions are safe for concurrent use; they may miss
// concurrent changes of the folder.
package statefolder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Class is the treatment of a file or folder in a state folder.
type Class int

// The classes of files.
const (
	Foreign    Class = iota // not of the state: a folder that holds one is not a state folder
	Litter                  // left anywhere by desktops and editors: neither refused, removed nor saved
	State                   // saved by a snapshot, and removed by a reset
	Unfinished              // removed by a reset, and not saved: it has no final name yet
	Kept                    // locks, notes and copies, which stay
)

// Of returns the class of a slash-separated path below a state folder: of a folder, or of a regular file. Anything else,
// such as a link, has none.
func Of(name string, folder bool) Class {
	nodes, found := all, Foreign
	for rest, more := name, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		n := match(nodes, part, more || folder)
		switch {
		case n != nil:
			nodes, found = n.within, n.class
		case litter(part):
			return Litter
		default:
			return Foreign
		}
	}
	return found
}

func match(nodes []node, name string, folder bool) *node {
	for i := range nodes {
		if nodes[i].folder == folder && nodes[i].fits(name) {
			return &nodes[i]
		}
	}
	return nil
}

// Report describes a folder.
type Report struct {
	// Foreign are the first few slash-separated paths that do not belong to the state, sorted; More is true if there may be others. Folders
	// among them were not opened.
	Foreign []string
	More    bool
	Links   []string // names of the state that are links
	Empty   bool     // it holds nothing of the state, or does not exist
	Marked  bool     // pages has written into it
}

const maxForeign = 3

// Look reads a folder, which need not exist.
func Look(dir string) (Report, error) {
	r := Report{Empty: true}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err == nil && !info.IsDir(): // opening a pipe would wait for a writer
		err = &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return r, err
	}
	if err := r.look(dir, "", all); err != nil {
		return r, err
	}
	slices.Sort(r.Foreign)
	slices.Sort(r.Links)
	return r, nil
}

// look reads a folder of the state, whose path is below. Reading by the folder's path also returns the types of its
// entries; an os.Root would ask for each of the many blobs of a bucket.
func (r *Report) look(dir, below string, nodes []node) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			if err := r.entry(dir, below, e, nodes); err != nil || r.More {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *Report) entry(dir, below string, e fs.DirEntry, nodes []node) error {
	n := match(nodes, e.Name(), e.IsDir())
	switch {
	case n == nil && litter(e.Name()):
		return nil
	case isLink(e.Type()) && (match(nodes, e.Name(), false) != nil || match(nodes, e.Name(), true) != nil):
		r.Links = append(r.Links, path.Join(below, e.Name()))
		return nil
	case n == nil || !e.IsDir() && !e.Type().IsRegular():
		r.More = len(r.Foreign) == maxForeign
		if !r.More {
			r.Foreign = append(r.Foreign, path.Join(below, e.Name()))
		}
		return nil
	}
	r.Empty = false
	switch {
	case below != "" || r.Marked:
	case e.Name() == StateLock, e.Name() == DevLock:
		r.Marked = true
	case e.Name() == IgnoreFile:
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		r.Marked = err == nil && string(text) == IgnoreText
	}
	if !e.IsDir() || n.unseen {
		return nil
	}
	return r.look(filepath.Join(dir, e.Name()), path.Join(below, e.Name()), n.within)
}

// isLink reports whether a file is a link, or a junction of Windows, which is irregular to Go.
func isLink(mode fs.FileMode) bool { return mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// Remove removes the state's files at a path below root, which is a state folder, and folders that become empty. It returns the paths of
// the files that it left, sorted. A missing path is not an error.
func Remove(root *os.Root, name string) (left []string, err error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !isOurs(name, info.Mode()) {
		return []string{name}, nil
	}
	return remove(root, name, name)
}

func isOurs(name string, mode fs.FileMode) bool {
	class := Of(name, mode.IsDir())
	return class != Foreign && class != Litter && (mode.IsDir() || mode.IsRegular())
}

// remove is Remove for a name in dir, whose path in the state folder is below.
func remove(dir *os.Root, name, below string) (left []string, err error) {
	info, err := dir.Lstat(name)
	if err == nil && info.IsDir() {
		left, err = removeIn(dir, name, below)
	}
	if err == nil && len(left) == 0 {
		err = dir.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		err = nil
	}
	return left, err
}

// removeIn is remove for everything in the folder name.
func removeIn(dir *os.Root, name, below string) (left []string, err error) {
	folder, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	entries, err := fs.ReadDir(folder.FS(), ".")
	for _, e := range entries {
		at := path.Join(below, e.Name())
		if !isOurs(at, e.Type()) {
			left = append(left, at)
			continue
		}
		more, err := remove(folder, e.Name(), at)
		left = append(left, more...)
		if err != nil {
			return left, err
		}
	}
	return left, err
}
