package statefolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// This file finds links in the path of a folder. Users may link folders as they like, but a link that came with a site
// would let its author choose the place where another person's files are written and removed.

// maxLinks bounds the links in a path: more are a circle.
const maxLinks = 64

// LinkBelow returns the first link in the path from a folder to one below it, up to a name that does not exist; "" for none.
func LinkBelow(folder, below string) (string, error) {
	at := folder
	for _, name := range split(below) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", err
		case isLink(info.Mode()):
			return at, nil
		}
	}
	return "", nil
}

// LinkIn returns the first link in the target's path that lies in the folder, up to a name that does not exist; "" for none.
// Both paths are absolute.
func LinkIn(folder, target string) (string, error) {
	at := filepath.VolumeName(target) + string(filepath.Separator)
	rest := split(target)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if !isLink(info.Mode()) {
			at = next
			continue
		}
		if Holds(folder, at) {
			return next, nil
		}
		to, err := os.Readlink(next)
		if err != nil { // such as a file that is stored in a cloud
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: target, Err: errors.New("too many links")}
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
		}
		rest = append(split(to), rest...)
	}
	return "", nil
}

// split returns the names of a path.
func split(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// Holds reports whether a path is a folder or lies in it, with links followed. The path's end need not exist.
func Holds(folder, path string) bool {
	is, err := os.Stat(folder)
	if err != nil {
		return false
	}
	for at := Real(path); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(is, info) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// Real returns a path without links. A part at its end that does not exist stays unchanged.
func Real(path string) string {
	rest := ""
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(resolved, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
