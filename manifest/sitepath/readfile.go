package sitepath

import (
	"errors"
	"io"
	"io/fs"
)

// ReadFile reads at most limit bytes of a file.
func ReadFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Reason is an error without the path that the message names already.
func Reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// OpenRegular opens a file after making sure that it is one: opening a pipe would wait for its other end.
func OpenRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return fsys.Open(name)
}
