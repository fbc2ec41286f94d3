package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

var (
	errNoFile  = errors.New("not a regular file")
	errChanged = errors.New("the file changed while it was read")
)

// open opens the file of an asset, below its folder and nowhere else. What is no
// regular file is an error, found before opening it, since a pipe would block.
func (x *staticIndex) open(a sitefile.Asset) (*os.File, os.FileInfo, error) {
	if x.err != nil {
		return nil, nil, x.err
	}
	if x.root != nil {
		name, err := filepath.Rel(x.dir, a.File)
		if err != nil {
			return nil, nil, err
		}
		return openRegular(x.root, name)
	}
	own, err := os.OpenRoot(filepath.Dir(a.File))
	if err != nil {
		return nil, nil, err
	}
	f, info, err := openRegular(own, filepath.Base(a.File))
	return f, info, errors.Join(err, own.Close())
}

func openRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	if info, err := root.Stat(name); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open %q: %w", name, errNoFile)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %q: %w", name, errNoFile)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// load reads a small file whole, so that what is sent is one version of it,
// and returns the contents with their entity tag. Contents with the hash the
// revision gives are kept; others, of a file edited a moment ago, are served as
// they are, with a tag of their own.
func (x *staticIndex) load(f *file) (contents []byte, tag []string, err error) {
	if contents := f.contents.Load().get(); contents != nil {
		return *contents, f.etag, nil
	}
	opened, info, err := x.open(f.asset)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	contents = make([]byte, 0, min(info.Size(), cachedFileBytes)+1)
	contents, err = readUpTo(opened, contents, cachedFileBytes)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(contents)
	hash := hex.EncodeToString(sum[:])
	if hash != f.asset.SHA256 {
		return contents, []string{etag(hash)}, nil
	}
	storeEntry(x, &f.contents, &contents, int64(cap(contents)))
	if len(contents) >= memoryFileBytes && !f.memory.Load().has() && x.cache.fits(int64(len(contents))) {
		if memory := newMemoryFile(contents); memory != nil {
			storeEntry(x, &f.memory, memory, int64(len(contents)))
		}
	}
	return contents, f.etag, nil
}

// readUpTo appends everything a reader has to b; more than limit bytes are an error.
func readUpTo(r io.Reader, b []byte, limit int64) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return nil, errChanged
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// unchangedFile reads a large file and fails as soon as the file is not the one
// that was opened: shorter, longer or written to. The response then ends
// before its length is reached, which every client notices, instead of
// mixing two versions.
type unchangedFile struct {
	file    *os.File
	size    int64
	changed time.Time
}

// Read reads from the file while it stays the same.
func (s *unchangedFile) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	info, statErr := s.file.Stat()
	if statErr != nil {
		return 0, statErr
	}
	if info.Size() != s.size || !info.ModTime().Equal(s.changed) {
		return 0, errChanged
	}
	return n, err
}

// Seek moves in the file.
func (s *unchangedFile) Seek(offset int64, whence int) (int64, error) {
	return s.file.Seek(offset, whence)
}
