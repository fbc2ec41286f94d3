package devserver

import (
	"path/filepath"
	"strings"
)

// toolDir knows the folders whose content no build reads, unless the Builder's
// Watch list names them or something inside them.
func toolDir(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", "node_modules", ".pages", ".idea", ".vscode":
		return true
	}
	return false
}

// isIgnored reports whether a path, relative to a watched folder, is none of
// ours: in a folder of a tool, or one of the files editors keep beside yours.
func isIgnored(rel string) bool {
	if rel == "." {
		return false
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if toolDir(part) {
			return true
		}
	}
	return editorFile(filepath.Base(rel))
}

// editorFile knows the swap, lock and backup names of Vim, Emacs, JetBrains,
// GNOME and macOS.
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

// relativeTo reports whether path is root or lies below it, and how it is called from there.
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
