// Package statefolder says which files a site's local state consists of, and tells a folder that holds them from one
// that holds somebody's own.
//
// In goes the path of a folder, or a path in one. Out comes whose a file is, what a folder holds that is not the
// state's, and which link leads to it. Nothing is opened but folders, and no link is followed below the one that is
// named. Remove alone changes anything: it removes what the list names and leaves all else. Errors are the system's.
// All functions are safe for concurrent use; what others do to the folder meanwhile may be missed.
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

// Class is whose a file or a folder is.
type Class int

// The classes.
const (
	Foreign    Class = iota // not of the state: a folder that holds one is no state folder
	Litter                  // what desktops and editors leave anywhere: neither refused, removed nor saved
	State                   // what a snapshot holds, and a reset removes
	Unfinished              // what a reset removes, and no snapshot holds: bytes that have no name yet
	Kept                    // locks, notes and copies, which stay
)

// Of is the class of a slash-separated path below a state folder: of a folder, or of a regular file. Of anything
// else, such as a link, the name does not tell.
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

// Report is what a folder holds.
type Report struct {
	// Foreign are slash-separated paths of what is not the state's, sorted: the first few that were found, and More
	// when there may be others. A folder among them was not looked into.
	Foreign []string
	More    bool
	// Links are those of the state's names that are links.
	Links []string
	// Empty is a folder that is not there, or in which nothing is the state's. Marked is one that pages has
	// written into before.
	Empty, Marked bool
}

// named is how many paths of a folder are named.
const named = 3

// Look looks through a folder, which need not be there.
func Look(dir string) (Report, error) {
	r := Report{Empty: true}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err == nil && !info.IsDir(): // to open a pipe would wait for somebody
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

// look looks through a folder of the state, whose path is below. Names are read by the folder's path, and their kinds
// with them: those of an os.Root would be asked for one by one, of which a bucket has many.
func (r *Report) look(dir, below string, nodes []node) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) { // any more
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
		r.More = len(r.Foreign) == named
		if !r.More {
			r.Foreign = append(r.Foreign, path.Join(below, e.Name()))
		}
		return nil
	}
	r.Empty = false
	if below == "" {
		r.Marked = r.Marked || marks(dir, e.Name())
	}
	if !e.IsDir() || n.unseen {
		return nil
	}
	return r.look(filepath.Join(dir, e.Name()), path.Join(below, e.Name()), n.within)
}

// marks reports whether a file of the top level is one that pages alone writes.
func marks(dir, name string) bool {
	switch name {
	case StateLock, DevLock:
		return true
	case IgnoreFile:
		text, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && string(text) == IgnoreText
	}
	return false
}

// isLink reports whether a name leads elsewhere: junctions of Windows are irregular files to Go.
func isLink(mode fs.FileMode) bool { return mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// Remove removes what is the state's at a path below root, which is a state folder, and the folders that are empty
// then. It returns the paths of what it left because it is not the state's, sorted. A path that is not there is no error.
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

// remove is Remove for a name of dir, whose path in the state folder is below.
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

// removeIn is remove for all that the folder name holds.
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
