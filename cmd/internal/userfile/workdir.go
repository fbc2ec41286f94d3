package userfile

import (
	"path/filepath"
	"strings"
)

// WorkDir is the absolute path of the working directory, which the paths that a user names start from.
type WorkDir string

// Abs returns the absolute path of one that the user gave.
func (w WorkDir) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(string(w), path)
}

// Rel returns how a path is printed: relative to the working directory when it is below it.
func (w WorkDir) Rel(path string) string {
	rel, err := filepath.Rel(string(w), path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}
