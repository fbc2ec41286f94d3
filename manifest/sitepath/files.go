package sitepath

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// The errors of links, and of files that are not regular.
var (
	ErrLinkOut = errors.New("a symbolic link leads out of the bundle")
	// ErrLinkAbsolute is an ErrLinkOut, of a link that may lead into the bundle on this machine.
	ErrLinkAbsolute = fmt.Errorf("a symbolic link is absolute: %w", ErrLinkOut)
	ErrLinkLoop     = errors.New("symbolic links form a loop")
	errNotRegular   = errors.New("it is not a regular file")
)

const maxLinks = 8 // the most symbolic links of one path: as many as every system (POSIX) and os.Root follow

// Follow resolves every symbolic link of a path by hand, so that none leads out of the file tree, even if the fs.FS itself
// would allow it. An absolute link leads out, too: ErrLinkAbsolute. It returns the real path.
func Follow(fsys fs.FS, name string) (string, fs.FileInfo, error) {
	at, links := ".", 0
	todo := strings.Split(path.Clean(name), "/")
	for len(todo) > 0 {
		seg := todo[0]
		todo = todo[1:]
		switch seg {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return "", nil, ErrLinkOut
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, seg)
		info, err := fs.Lstat(fsys, next)
		if err != nil {
			return "", nil, err
		}
		if info.Mode().Type() != fs.ModeSymlink {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", nil, ErrLinkLoop
		}
		target, err := fs.ReadLink(fsys, next)
		if err != nil {
			return "", nil, err
		}
		target = filepath.ToSlash(target)
		if path.IsAbs(target) || filepath.IsAbs(target) {
			return "", nil, ErrLinkAbsolute
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	info, err := fs.Lstat(fsys, at)
	return at, info, err
}

// Vanished reports whether a file was removed since its folder was read; a dangling link was not.
func Vanished(fsys fs.FS, name string) bool {
	_, err := fs.Lstat(fsys, name)
	return errors.Is(err, fs.ErrNotExist)
}

// ReadFile reads at most limit bytes of a file.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Reason returns the text of an error without the path that the message names already.
func Reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// OpenRegular opens regular files only: opening a pipe would block until its other end is open.
func OpenRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return fsys.Open(name)
}
