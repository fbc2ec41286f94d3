package statefolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// This file judges the way to a folder. A link on it is its user's own choice, unless it came with a site: then
// whoever made the site chose where another one's files are written and removed.

// mostLinks is how many links a path may lead over: more lead round in a circle.
const mostLinks = 64

// LinkBelow is the first link on the way from a folder to a path below it, "" for none. Where a name does not exist the
// way ends.
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

// LinkIn is the first link on the way to a path that lies in a folder, "" for none. What does not exist leads nowhere.
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
		if err != nil { // no link that leads anywhere, as a file that is kept in a cloud
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", &fs.PathError{Op: "open", Path: target, Err: errors.New("too many links")}
		}
		if filepath.IsAbs(to) {
			at = filepath.VolumeName(to) + string(filepath.Separator)
		}
		rest = append(split(to), rest...)
	}
	return "", nil
}

// split is the names of a path.
func split(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// Holds reports whether a path is a folder or lies in it, by what the names lead to: the path's end need not exist.
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

// Real is a path without links. What of its end does not exist is as it was given.
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
