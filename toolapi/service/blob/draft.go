package blob

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// draft is a blob during its write. If the system supports it, it has no name in the blob's folder until it is complete: a
// killed process leaves nothing, and drafts wait neither for each other in one folder nor for the lock that renames between
// folders share. Otherwise it is in the folder for unfinished files.
type draft struct {
	store  *Store
	file   *os.File
	path   string // "" while it has no name
	closed bool
}

// draft begins a blob of an existing folder.
func (s *Store) draft(dir string) (*draft, error) {
	if s.nameless {
		f, err := openNameless(dir)
		return &draft{store: s, file: f}, err
	}
	path := s.incomingPath()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &draft{store: s, file: f, path: path}, err
}

func (s *Store) incomingPath() string { return filepath.Join(s.dir, incomingFolder, rand.Text()) }

// name gives the file its name, which replaces another file. Windows renames no open file.
func (d *draft) name(path string) error {
	if d.path == "" {
		err := linkNameless(d.file, path)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		beside := d.store.incomingPath()
		if err := linkNameless(d.file, beside); err != nil {
			return err
		}
		d.path = beside
	}
	if err := d.close(); err != nil {
		return err
	}
	err := os.Rename(d.path, path)
	if err == nil {
		d.path = ""
	}
	return err
}

func (d *draft) close() error {
	if d.closed {
		return nil
	}
	d.closed = true
	return d.file.Close()
}

// end closes the file, and removes it unless it became a blob.
func (d *draft) end() error {
	err := d.close()
	if d.path != "" {
		if gone := os.Remove(d.path); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// supportsNameless reports whether files can be made without a name, and named later: not every file system can, and
// naming needs /proc.
func (s *Store) supportsNameless() bool {
	f, err := openNameless(filepath.Join(s.dir, incomingFolder))
	if err != nil {
		return false
	}
	path := s.incomingPath()
	err = linkNameless(f, path)
	return errors.Join(err, f.Close(), os.Remove(path)) == nil
}
