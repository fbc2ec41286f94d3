package localstate

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

var errReplaced = errors.New("another one is in its place")

// openedFiles remembers the identity of files that were opened.
type openedFiles struct {
	mu    sync.Mutex
	files map[string]fs.FileInfo
}

// note remembers a file that was just opened.
func (o *openedFiles) note(path string) error {
	opened, err := os.Stat(path)
	if err != nil || o == nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string]fs.FileInfo{}
	}
	o.files[path] = opened
	return nil
}

// check returns an error that names a file which is no longer the one that was opened.
func (o *openedFiles) check() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for path, opened := range o.files {
		now, err := os.Stat(path)
		if err == nil && !os.SameFile(opened, now) {
			err = &fs.PathError{Op: "stat", Path: path, Err: errReplaced}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
