package main

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

// projectFolder is a site's folder, or the one that an editor opens. Nothing outside
// of it is read or written through it, whatever links it holds.
type projectFolder struct {
	dir  string // as the user would name it, absolute
	real string // without links
	root *os.Root
}

func openProject(dir string) (*projectFolder, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, err
	}
	return &projectFolder{dir: dir, real: resolved, root: root}, nil
}

func (p *projectFolder) Close() error { return p.root.Close() }

func (p *projectFolder) path(name string) string {
	return filepath.Join(p.dir, filepath.FromSlash(name))
}

// plannedFile is a file of the project: what it holds and what it shall hold.
type plannedFile struct {
	name   string // slash separated, as the editor names it
	target string // what that leads to, without links
	exists bool
	mode   fs.FileMode
	before []byte // without a byte order mark
	after  []byte
	mark   bool   // it begins with a byte order mark
	same   string // why it is unchanged, if it is
	note   string // for people, when it is not
}

// The actions, as --json names them.
const (
	actionCreated   = "created"
	actionChanged   = "changed"
	actionUnchanged = "unchanged"
)

func (f *plannedFile) action() string {
	switch {
	case !f.exists:
		return actionCreated
	case bytes.Equal(f.before, f.after):
		return actionUnchanged
	}
	return actionChanged
}

// fileError is a name in the project that leads to no settings file.
type fileError struct{ name, msg string }

func (e *fileError) Error() string { return e.name + " " + e.msg }

// maxSettings bounds what is read: no settings written by people are as long.
const maxSettings = 4 << 20

// read reads a file, which need not be there.
func (p *projectFolder) read(name string) (*plannedFile, error) {
	target, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	f := &plannedFile{name: name, target: target, mode: 0o644}
	info, err := p.root.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fileError{name, "is no file"}
	case info.Size() > maxSettings:
		return nil, &fileError{name, fmt.Sprintf("has %d bytes; settings have at most %d", info.Size(), maxSettings)}
	}
	text, err := p.root.ReadFile(target)
	if err != nil {
		return nil, err
	}
	f.exists, f.mode = true, info.Mode().Perm()
	f.before, f.mark = bytes.CutPrefix(text, []byte(byteOrderMark))
	return f, nil
}

// resolve follows the links of a name. One that leads out of the project, or to
// nothing, is a *fileError.
func (p *projectFolder) resolve(name string) (string, error) {
	full, err := filepath.EvalSymlinks(filepath.Join(p.real, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := p.root.Lstat(name); err == nil {
			return "", &fileError{name, "is a link to nothing"}
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
	rel, err := filepath.Rel(p.real, full)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &fileError{name, "is a link that leads out of the folder"}
	}
	return filepath.ToSlash(rel), nil
}

// write brings the file to what it shall hold, at once or not at all: a reader
// sees the old text or the new one. The mode of a file that was there stays.
func (f *plannedFile) write(p *projectFolder) (err error) {
	if f.action() == actionUnchanged {
		return nil
	}
	if err := p.root.MkdirAll(path.Dir(f.target), 0o755); err != nil {
		return err
	}
	fresh := path.Join(path.Dir(f.target), userfile.TemporaryName())
	out, err := p.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.root.Remove(fresh))
		}
	}()
	text := f.after
	if f.mark {
		text = append([]byte(byteOrderMark), text...)
	}
	_, err = out.Write(text)
	if f.exists && err == nil {
		err = out.Chmod(f.mode)
	}
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return p.root.Rename(fresh, f.target)
}

// byteOrderMark may begin a file, and is no part of its text.
const byteOrderMark = "\ufeff"
