package dbfile

import (
	"errors"
	"os"
	"runtime"
)

// SyncFolder makes the names in a folder durable, which open opens: os.Open, or that of a root.
// Windows cannot sync a folder; its file system journals them.
func SyncFolder(open func(name string) (*os.File, error), name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
