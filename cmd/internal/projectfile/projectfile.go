// Package projectfile reads and writes files of a project's folder. It follows no link out of the folder.
//
// A File is a name with its old and new content; Write replaces it atomically, and keeps its mode and its byte order mark. A name that
// leads to no file of the project is an *Error; all other errors come from the file system. A Folder is safe for concurrent use, a File is
// not. It does not judge the content of files, and prints nothing.
package projectfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

// Folder is a site's folder, or the one that an editor opens.
type Folder struct {
	Dir  string // as the user would name it, absolute
	Real string // without links
	root *os.Root
}

// Open opens a folder. Close it after use.
func Open(dir string) (*Folder, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, err
	}
	return &Folder{Dir: dir, Real: resolved, root: root}, nil
}

// Close closes the folder.
func (p *Folder) Close() error { return p.root.Close() }

// Path returns the path of a file in the folder.
func (p *Folder) Path(name string) string {
	return filepath.Join(p.Dir, filepath.FromSlash(name))
}

// Exists reports whether a name in the folder exists, as a link, too.
func (p *Folder) Exists(name string) bool {
	_, err := p.root.Lstat(name)
	return err == nil
}

// File is a file of the project, with its present and its planned content.
type File struct {
	Name   string // slash-separated path below the folder
	Exists bool
	Mode   fs.FileMode
	Before []byte // without a byte order mark
	After  []byte
	Mark   bool   // it begins with a byte order mark
	Reason string // why it stays unchanged, if it does
	Note   string // for people, if it is unchanged

	target string // target of the name, with links resolved
}

// The actions, as --json names them.
const (
	Created   = "created"
	Changed   = "changed"
	Unchanged = "unchanged"
)

// Action returns the action of Write.
func (f *File) Action() string {
	switch {
	case !f.Exists:
		return Created
	case bytes.Equal(f.Before, f.After):
		return Unchanged
	}
	return Changed
}

// Error is a name in the project that leads to no editable file.
type Error struct{ Name, Message string }

// Error implements error.
func (e *Error) Error() string { return e.Name + " " + e.Message }

// maxSettings bounds the size of a file: no author writes settings of this length.
const maxSettings = 4 << 20

// Read reads a file, which may be missing.
func (p *Folder) Read(name string) (*File, error) {
	target, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Mode: 0o644, target: target}
	info, err := p.root.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &Error{name, "is not a file"}
	case info.Size() > maxSettings:
		return nil, &Error{name, fmt.Sprintf("has %d bytes; settings have at most %d", info.Size(), maxSettings)}
	}
	text, err := p.root.ReadFile(target)
	if err != nil {
		return nil, err
	}
	f.Exists, f.Mode = true, info.Mode().Perm()
	f.Before, f.Mark = bytes.CutPrefix(text, []byte(byteOrderMark))
	return f, nil
}

// resolve follows the links of a name. A link that leads out of the project, or to a missing file, is an *Error.
func (p *Folder) resolve(name string) (string, error) {
	full, err := filepath.EvalSymlinks(filepath.Join(p.Real, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := p.root.Lstat(name); err == nil {
			return "", &Error{name, "is a link to nothing"}
		}
		if path.Dir(name) == "." {
			return name, nil
		}
		dir, err := p.resolve(path.Dir(name))
		return path.Join(dir, path.Base(name)), err
	}
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(p.Real, full)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &Error{name, "is a link that leads out of the folder"}
	}
	return filepath.ToSlash(rel), nil
}

// Write replaces the content with the planned one, whole or not at all: a reader sees the old text or the new one. An existing file keeps
// its mode.
func (f *File) Write(p *Folder) (err error) {
	if f.Action() == Unchanged {
		return nil
	}
	if err := p.root.MkdirAll(path.Dir(f.target), 0o755); err != nil {
		return err
	}
	fresh := path.Join(path.Dir(f.target), userfile.TemporaryName())
	out, err := p.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.root.Remove(fresh))
		}
	}()
	text := f.After
	if f.Mark {
		text = append([]byte(byteOrderMark), text...)
	}
	_, err = out.Write(text)
	if f.Exists && err == nil {
		err = out.Chmod(f.Mode)
	}
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return p.root.Rename(fresh, f.target)
}

// byteOrderMark may begin a file, and does not belong to its text.
const byteOrderMark = "\ufeff"
