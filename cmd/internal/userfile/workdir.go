package userfile

import (
	"path/filepath"
	"strings"
)

// WorkDir is the absolute path of the working directory, which the paths that a user names start from.
type WorkDir string

// Abs makes a path that the user gave absolute.
func (w WorkDir) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(string(w), path)
}

// Rel returns a path as it is printed: relative to the working directory if it is below it.
func (w WorkDir) Rel(path string) string {
	rel, err := filepath.Rel(string(w), path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}
