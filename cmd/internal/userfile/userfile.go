// Package userfile reads and writes files that a user names, and files beside a site.
//
// Opening a pipe blocks until another process writes, and a device never ends. So a file that pages finds by its name, such as link.json,
// must be a regular one. A file that the user names may be a pipe, as with <(…), and so may a file of secrets, which some password managers
// provide in that way: a signal ends the wait. A write replaces the whole file or changes nothing. Errors are the system's; the caller
// words the message. All functions are safe for concurrent use.
package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoFile is the error of Open for a folder.
var ErrNoFile = errors.New("it is not a file")

var errNotRegular = errors.New("it is not a regular file")

// OpenRegular opens a regular file.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return os.Open(path)
}

// ReadRegular reads a regular file.
func ReadRegular(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// RegularFS is a file tree that opens only regular files and folders.
type RegularFS struct{ fs.FS }

// Open implements fs.FS.
func (r RegularFS) Open(name string) (fs.File, error) {
	if info, err := fs.Stat(r.FS, name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return r.FS.Open(name)
}

// Stat implements fs.StatFS.
func (r RegularFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.FS, name) }

// Lstat implements fs.ReadLinkFS.
func (r RegularFS) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.FS, name) }

// ReadLink implements fs.ReadLinkFS.
func (r RegularFS) ReadLink(name string) (string, error) { return fs.ReadLink(r.FS, name) }

// reader is an open file that may be a pipe or a terminal.
type reader struct {
	io.Reader
	io.Closer
}

// Open opens a file that the user named. The result is an *os.File for a regular file.
func Open(ctx context.Context, path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, ErrNoFile
	case info.Mode().IsRegular():
		return os.Open(path)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return reader{Interruptible(ctx, o.f), o.f}, nil
	}
}

// Read reads at most the given number of bytes of a file that the user named.
func Read(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// IsFile reports whether path exists and is not a folder.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// MaxSource is the number of bytes that are read of a manifest; a valid one is shorter.
const MaxSource = 1 << 20

// ReadSource reads the text of a manifest, which must be a regular file.
func ReadSource(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSource))
}

// CheckFolder creates a folder if it is missing, and tests whether a file can be created in it.
func CheckFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// interruptible is a reader of a terminal or pipe: a signal ends the wait for its writer.
type interruptible struct {
	ctx   context.Context // io.Reader has no context
	reads chan read
	rest  []byte
	err   error
}

type read struct {
	text []byte
	err  error
}

// Interruptible returns a reader whose wait for r ends with ctx.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	i := &interruptible{ctx: ctx, reads: make(chan read)}
	go func() {
		for {
			buf := make([]byte, 64<<10)
			n, err := r.Read(buf)
			select {
			case i.reads <- read{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return i
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	for len(i.rest) == 0 {
		if i.err != nil {
			return 0, i.err
		}
		select {
		case r := <-i.reads:
			i.rest, i.err = r.text, r.err
		case <-i.ctx.Done():
			return 0, fmt.Errorf("read: %w", context.Cause(i.ctx))
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// WorkDir is the absolute path of the working directory, to which the user's paths are relative.
type WorkDir string

// Abs makes a path from the user absolute.
func (w WorkDir) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(string(w), path)
}

// Rel returns a path for messages: relative to the working directory if it is below it.
func (w WorkDir) Rel(path string) string {
	rel, err := filepath.Rel(string(w), path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}
