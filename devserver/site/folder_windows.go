package site

import (
	"errors"
	"os"
	"path/filepath"
)

// openFolder opens a folder that others may still rename or remove, as a build does with the one that it writes anew.
// Only a root that is opened from another one shares that.
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
