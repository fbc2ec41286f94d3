package bundler

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pages-toolchain/pages/manifest"
)

// This file opens files of the assets folder some time after the walk judged them.
// Whatever took their place meanwhile, such as a link to the site's secrets, is judged
// anew: what is read is the very file that was judged.

// reading is where the public files are read.
type reading struct {
	root   *os.Root
	folder manifest.AssetsFolder
}

// refusedError is a file that may not be served any more.
type refusedError struct{ fault manifest.Diagnostic }

func (e *refusedError) Error() string { return e.fault.Message }

// again finds the file that an asset's bytes are in now.
func (r reading) again(file string) (os.FileInfo, error) {
	e, err := r.folder.Again(r.root.FS(), file)
	switch {
	case err != nil:
		return nil, err
	case e.Kind == manifest.AssetRefused:
		return nil, &refusedError{e.Fault}
	}
	return e.Entry.Info()
}

// openAtOnce opens a file without waiting, as the opening of a pipe would.
func openAtOnce(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// ErrMoved is that a file changes places while it is opened.
var ErrMoved = errors.New("another file takes its place while it is opened")

// OpenAsset opens an asset of a site for reading. file is its name relative to the site's
// folder root, with forward slashes, and folder its manifest's assets folder. Whatever
// has become of the file since it was built, no bytes are read that are not public by
// the rules of a [Builder.Build].
func OpenAsset(root *os.Root, folder manifest.AssetsFolder, file string) (*os.File, error) {
	opened, err := openAtOnce(root, filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	is, err := opened.Stat()
	if err == nil {
		var judged os.FileInfo
		judged, err = reading{root, folder}.again(file)
		if err == nil && !os.SameFile(is, judged) {
			err = fmt.Errorf("%s: %w", file, ErrMoved)
		}
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}
