package bundler

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
)

// This file opens files of the assets folder after the walk judged them. A replacement, such as a link to the site's secrets,
// is checked again: only the checked file is read.

// reading is the folder of the public files.
type reading struct {
	root   *os.Root
	folder publicfiles.Folder
}

// refusedError means that a file may no longer be served.
type refusedError struct{ fault diagnostic.Diagnostic }

func (e *refusedError) Error() string { return e.fault.Message }

// reopen checks a file again, and returns the info of the file with its bytes.
func (r reading) reopen(file string) (os.FileInfo, error) {
	e, err := r.folder.Again(r.root.FS(), file)
	switch {
	case err != nil:
		return nil, err
	case e.Kind == publicfiles.AssetRefused:
		return nil, &refusedError{*e.Fault}
	}
	return e.Entry.Info()
}

// openNonBlocking opens a file without blocking, even if it is a pipe.
func openNonBlocking(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

var errReplaced = errors.New("another file replaced it while it was opened")

// Opener opens the assets of a Bundle for reading. It is safe for concurrent use. Close it.
type Opener struct {
	reading

	read map[string]os.FileInfo // at the time of the Build, by name

	mu      sync.Mutex
	folders map[string]*os.Root // recently opened
}

// Opener returns an Opener for the assets below the site's folder root; folder is the manifest's assets folder.
func (b *Bundle) Opener(root *os.Root, folder publicfiles.Folder) *Opener {
	return &Opener{reading: reading{root, folder}, read: b.read, folders: map[string]*os.Root{}}
}

// Open opens an asset. file is its name relative to the site's folder, with forward slashes. It opens only files that are
// public by the rules of a [Builder.Build]: the same file as in the build, or one that passes a new check.
func (o *Opener) Open(file string) (*os.File, error) {
	opened, err := o.open(file)
	if err != nil {
		return nil, err
	}
	is, err := opened.Stat()
	if err == nil {
		if was, ok := o.read[file]; ok && sameFile(was, is) {
			return opened, nil
		}
		var judged os.FileInfo
		judged, err = o.reopen(file)
		if err == nil && !os.SameFile(is, judged) {
			err = fmt.Errorf("%s: %w", file, errReplaced)
		}
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// open opens a file from its folder: an os.Root resolves every folder of a path again.
func (o *Opener) open(file string) (*os.File, error) {
	if at := o.at(path.Dir(file)); at != nil {
		if f, err := openNonBlocking(at, path.Base(file)); err == nil {
			return f, nil
		}
	}
	return openNonBlocking(o.root, filepath.FromSlash(file)) // a link may lead out of the folder, but not of the site
}

// at returns a folder, nil when it cannot be opened. Another goroutine may close it: then open uses the root itself.
func (o *Opener) at(dir string) *os.Root {
	const most = 64
	o.mu.Lock()
	defer o.mu.Unlock()
	if at, ok := o.folders[dir]; ok {
		return at
	}
	if len(o.folders) == most {
		o.forget()
	}
	at, err := o.root.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	o.folders[dir] = at
	return at
}

func (o *Opener) forget() {
	for _, at := range o.folders {
		_ = at.Close() // it was only read
	}
	clear(o.folders)
}

// Close closes the open folders, but not the root.
func (o *Opener) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget()
}
