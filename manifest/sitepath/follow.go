package sitepath

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// Why a link is not followed.
var (
	ErrLinkOut    = errors.New("a symbolic link leads out of the bundle")
	ErrLinkLoop   = errors.New("symbolic links lead in a circle")
	errNotRegular = errors.New("it is no regular file")
)

// maxLinks is how many symbolic links one path may take: as many as every system follows (POSIX), and as
// os.Root does.
const maxLinks = 8

// Follow resolves every symbolic link of a path by hand, so that none leads out of the file tree, whatever
// the fs.FS itself would allow. An absolute link counts as leading out. It returns the real path.
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
			return "", nil, ErrLinkOut
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	info, err := fs.Lstat(fsys, at)
	return at, info, err
}

// Vanished reports whether a file was removed since its folder was read; a link that leads nowhere is still there.
func Vanished(fsys fs.FS, name string) bool {
	_, err := fs.Lstat(fsys, name)
	return errors.Is(err, fs.ErrNotExist)
}
