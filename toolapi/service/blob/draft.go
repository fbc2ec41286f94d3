package blob

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// draft is a file on its way to be a blob. Where the system can, it lies in the blob's
// folder and has no name until it is one: nothing of it is left when the process ends,
// and no draft waits for another to leave a folder that all are in, or for the lock
// that renames from folder to folder share. Elsewhere it lies among what is on its way.
type draft struct {
	store *Store
	file  *os.File
	path  string // "" while it has no name
	shut  bool
}

// draft begins a blob that will be in a folder, which is there.
func (s *Store) draft(dir string) (*draft, error) {
	if s.nameless {
		f, err := openNameless(dir)
		return &draft{store: s, file: f}, err
	}
	path := s.incomingPath()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return &draft{store: s, file: f, path: path}, err
}

func (s *Store) incomingPath() string { return filepath.Join(s.dir, incoming, rand.Text()) }

// fill writes the blob, checked and synced.
func (d *draft) fill(sum string, size int64, r io.Reader) error {
	if err := check(d.file, sum, size, r); err != nil {
		return err
	}
	return d.store.sync(d.file)
}

// name gives the file its name, in the place of one that has it. Windows renames no
// file that is open.
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
	if d.shut {
		return nil
	}
	d.shut = true
	return d.file.Close()
}

// end closes the file, and removes what did not become a blob.
func (d *draft) end() error {
	err := d.close()
	if d.path != "" {
		if gone := os.Remove(d.path); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// canBeNameless reports whether files without a name can be made in a folder and get
// one: not every file system has them, and their way to a name leads over /proc.
func canBeNameless(s *Store) bool {
	f, err := openNameless(filepath.Join(s.dir, incoming))
	if err != nil {
		return false
	}
	path := s.incomingPath()
	err = linkNameless(f, path)
	return errors.Join(err, f.Close(), os.Remove(path)) == nil
}
