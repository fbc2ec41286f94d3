package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// All disk operations use the state folder's os.Root, so that no link leads out.

// sync makes the names in a folder durable.
func (s *Store) sync(folder string) error { return dbfile.SyncFolder(s.root.Open, folder) }

// copyFile copies a file and syncs it, and returns its size and SHA-256.
func (s *Store) copyFile(ctx context.Context, from, to string) (size int64, sum string, err error) {
	in, err := s.root.Open(from)
	if err != nil {
		return 0, "", err
	}
	defer in.Close()
	out, err := s.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(out, h), &contextReader{ctx, in})
	if err == nil {
		err = out.Sync()
	}
	return size, hex.EncodeToString(h.Sum(nil)), errors.Join(err, out.Close())
}

// sum reads a file for its size and SHA-256.
func (s *Store) sum(ctx context.Context, name string) (size int64, sum string, err error) {
	in, err := s.root.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer in.Close()
	h := sha256.New()
	size, err = io.Copy(h, &contextReader{ctx, in})
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// contextReader fails when its context ends.
type contextReader struct {
	ctx context.Context // io.Reader takes none
	r   io.Reader
}

func (p *contextReader) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// link makes a hard link to a file that never changes, or a copy if the file system has no links.
func (s *Store) link(ctx context.Context, from, to string) error {
	if s.root.Link(from, to) == nil {
		return nil
	}
	_, _, err := s.copyFile(ctx, from, to)
	return err
}

// writeJSON replaces a file atomically.
func (s *Store) writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	temporary := name + ".new"
	f, err := s.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	s.at("rename " + name)
	return errors.Join(s.root.Rename(temporary, name), s.sync(path.Dir(name)))
}

// folders makes the folders of files below base, and syncs them afterwards.
type folders struct {
	s    *Store
	base string
	made map[string]bool
}

func (s *Store) newFolders(base string) (*folders, error) {
	s.at("make " + base)
	return &folders{s, base, map[string]bool{base: true}}, s.root.MkdirAll(base, 0o700)
}

// makeFor makes the folder that file lies in.
func (f *folders) makeFor(file string) error {
	dir := path.Dir(path.Join(f.base, file))
	if f.made[dir] {
		return nil
	}
	for up := dir; !f.made[up]; up = path.Dir(up) {
		f.made[up] = true
	}
	return f.s.root.MkdirAll(dir, 0o700)
}

func (f *folders) sync() error {
	for dir := range f.made {
		if err := f.s.sync(dir); err != nil {
			return err
		}
	}
	return nil
}
