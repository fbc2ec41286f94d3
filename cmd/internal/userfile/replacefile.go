package userfile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file that is there as a whole or not at all, in the place of what has its name. mode is that of a
// new file, before the umask. It grows beside its place under a name that nobody has prepared: a site may come from
// anybody, and no link in its folder may lead the text elsewhere.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	fresh := filepath.Join(filepath.Dir(path), TemporaryName())
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// ReplaceText is replaceFile for a text that is there.
func ReplaceText(path string, mode fs.FileMode, text []byte) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// TemporaryName is a name for a file that is not whole yet.
func TemporaryName() string { return ".pages-" + rand.Text() + ".tmp" }
