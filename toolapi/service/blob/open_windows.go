package blob

import (
	"errors"
	"os"
	"path/filepath"
)

// open opens a file that may be removed meanwhile. Only files opened from a root share that.
func open(name string) (*os.File, error) {
	folder, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	f, err := folder.Open(filepath.Base(name))
	return f, errors.Join(err, folder.Close())
}
