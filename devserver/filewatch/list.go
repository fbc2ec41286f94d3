package filewatch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// watchList holds the inputs of a build: single files, and folders with all their content. A path that does not exist
// yet counts as a file until it does.
type watchList struct {
	files []string
	roots []string
	links []string          // the links on the way to the roots, and their targets
	real  map[string]string // where each root is, without links
}

// newWatchList sorts absolute paths into files and folders as they are now.
func newWatchList(paths []string) watchList {
	var l watchList
	for _, path := range paths {
		path = filepath.Clean(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			l.roots = append(l.roots, path)
		} else {
			l.files = append(l.files, path)
		}
	}
	l.resolve()
	return l
}

// resolve follows the links on the way to each root: another tool may change their targets, and with them all files below.
func (l *watchList) resolve() {
	l.real = make(map[string]string, len(l.roots))
	folders := map[string]string{} // of roots, most of which share them
	for _, root := range l.roots {
		l.real[root] = l.realPath(root, folders, maxLinks)
	}
}

// maxLinks bounds the links of one path, as systems do.
const maxLinks = 40

// realPath returns a path without links, or the path itself if that is unknown.
func (l *watchList) realPath(path string, known map[string]string, left int) string {
	if resolved, ok := known[path]; ok {
		return resolved
	}
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	resolved := filepath.Join(l.realPath(above, known, left), filepath.Base(path))
	if target, err := os.Readlink(resolved); err == nil && left > 0 {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(resolved), target)
		}
		for _, each := range []string{resolved, target} {
			if !slices.Contains(l.links, each) {
				l.links = append(l.links, each)
			}
		}
		resolved = l.realPath(target, known, left-1)
	}
	known[path] = resolved
	return resolved
}

// moved returns the roots whose place has changed.
func (l watchList) moved(before watchList) (roots []string) {
	for _, root := range l.roots {
		if was, known := before.real[root]; known && was != l.real[root] {
			roots = append(roots, root)
		}
	}
	return roots
}

// covers reports whether a change of path concerns the build.
func (l watchList) covers(path string) bool {
	if slices.Contains(l.files, path) {
		return true
	}
	return slices.ContainsFunc(l.roots, func(root string) bool {
		rel, ok := relativeTo(root, path)
		return ok && !isIgnored(rel)
	})
}

// shapedBy reports whether the list means other folders after path appeared or disappeared: path is one of its folders, lies above one of
// its paths, or is a folder where the list expected a file.
func (l watchList) shapedBy(path string) bool {
	if slices.Contains(l.roots, path) || (slices.Contains(l.files, path) && isDir(path)) {
		return true
	}
	below := func(listed string) bool {
		rel, ok := relativeTo(path, listed)
		return ok && rel != "."
	}
	if slices.Contains(l.links, path) {
		return true
	}
	return slices.ContainsFunc(l.files, below) || slices.ContainsFunc(l.roots, below) || slices.ContainsFunc(l.links, below)
}

// parents returns the nearest existing folders above each path of the list: there the system reports that a file is replaced, or a folder
// removed and created again.
func (l watchList) parents() []string {
	var dirs []string
	for _, path := range slices.Concat(l.files, l.roots, l.links) {
		dir := filepath.Dir(path)
		for !isDir(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// walk calls onDir and onFile for the content of root, in this order: a folder before its content is read. Entries that
// vanish meanwhile are skipped. A root may be a link; links below it are not followed.
func walk(root string, onDir func(dir string), onFile func(path string, d fs.DirEntry)) {
	top := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if resolved, err := filepath.EvalSymlinks(root); err == nil {
			top = resolved
		}
	}
	// The callback returns only SkipDir, which WalkDir does not pass on.
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it vanished or may not be read: the build says so
		}
		rel, _ := relativeTo(top, path)
		path = filepath.Join(root, rel)
		switch {
		case isIgnored(rel) && d.IsDir():
			return filepath.SkipDir
		case isIgnored(rel):
		case d.IsDir():
			onDir(path)
		default:
			onFile(path, d)
		}
		return nil
	})
}

// stamp identifies the state of a file without reading it.
type stamp struct {
	size     int64
	modified time.Time
	mode     fs.FileMode
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime(), info.Mode()} }

// stampAt stamps the file at a path; false for a folder. A link has the stamp of its target file, or else its own.
func stampAt(path string) (stamp, bool) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		info, err = os.Lstat(path)
	}
	if err != nil || info.IsDir() {
		return stamp{}, false
	}
	return stampOf(info), true
}

// scan stamps every file of the list.
func (l watchList) scan() map[string]stamp {
	stamps := map[string]stamp{}
	note := func(path string) {
		if s, ok := stampAt(path); ok {
			stamps[path] = s
		}
	}
	for _, path := range l.files {
		note(path)
	}
	for _, root := range l.roots {
		walk(root, func(string) {}, func(path string, d fs.DirEntry) {
			if !d.Type().IsRegular() {
				note(path)
			} else if info, err := d.Info(); err == nil {
				stamps[path] = stampOf(info)
			}
		})
	}
	return stamps
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isFile reports whether path is something other than a folder.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// isIgnored reports whether a path, relative to a watched folder, is in a folder of a tool, or is a file of an editor. Builds read neither,
// unless the Builder's Watch list names it or a path inside it.
func isIgnored(rel string) bool {
	if rel == "." {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		switch part {
		case ".git", ".hg", ".svn", ".jj", "node_modules", ".pages", ".idea", ".vscode":
			return true
		}
	}
	return editorFile(filepath.Base(rel))
}

// editorFile matches the swap, lock and backup names of Vim, Emacs, JetBrains, GNOME and macOS.
func editorFile(name string) bool {
	switch {
	case name == "4913", name == ".DS_Store", name == "Thumbs.db":
		return true
	case strings.HasSuffix(name, "~"), strings.HasPrefix(name, ".#"), strings.HasPrefix(name, ".goutputstream-"):
		return true
	case strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#"):
		return true
	case strings.HasSuffix(name, "___jb_tmp___"), strings.HasSuffix(name, "___jb_old___"):
		return true
	}
	ext := filepath.Ext(name)
	return strings.HasPrefix(name, ".") && len(ext) == 4 && strings.HasPrefix(ext, ".sw")
}

// relativeTo reports whether path is root or lies below it, and returns its path from there.
func relativeTo(root, path string) (rel string, ok bool) {
	if path == root {
		return ".", true
	}
	prefix := root
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	return strings.CutPrefix(path, prefix)
}
