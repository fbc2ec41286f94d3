package site

import (
	"errors"
	"os"
	"path/filepath"
)

// openFolder opens a folder, and allows others to rename or remove it, as a build does with the folder that it replaces. Only a root that
// is opened from another root allows that.
func openFolder(dir string) (*os.Root, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	root, err := above.OpenRoot(filepath.Base(dir))
	return root, errors.Join(err, above.Close())
}
