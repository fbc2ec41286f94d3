package userfile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file atomically. mode is the mode of the new file, before the umask. It writes the text under a random name beside the
// target and then renames it: a site may come from anybody, and no prepared link in its folder may lead the text elsewhere.
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

// ReplaceText is Replace for a text in memory.
func ReplaceText(path string, mode fs.FileMode, text []byte) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// TemporaryName returns a random name for a file that is being written.
func TemporaryName() string { return ".pages-" + rand.Text() + ".tmp" }

// WritePrivate is ReplaceText for a file that only its owner can read, in a folder that it creates if needed.
func WritePrivate(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return ReplaceText(path, 0o600, text)
}
