package migration

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
)

// Create writes an empty migration under the next name of the folder, and prints its path.
func (s *Site) Create(what string) error {
	if s.Manifest.Bindings.Database.Migrations == "" {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-migrations", Message: "the manifest names no folder of migrations",
			Fix: `add "migrations": "migrations" to "bindings.database" in ` + manifest.FileName,
		}
	}
	file, err := s.create(what)
	if err != nil {
		return s.fail(err)
	}
	if s.term.JSON {
		s.term.PrintJSON(FileReport{OK: true, File: file})
		return nil
	}
	fmt.Fprintln(s.term.Stdout, s.term.Shown(filepath.Join(s.Dir, filepath.FromSlash(file))))
	return nil
}

// create writes the file, under the next name should another process take one.
func (s *Site) create(what string) (string, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	folder := path.Clean(s.Manifest.Bindings.Database.Migrations)
	for {
		name, err := migrate.NextName(root.FS(), folder, what, s.term.Now())
		if err != nil {
			return "", err
		}
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return "", s.unwritable(folder, err)
		}
		file := path.Join(folder, name)
		f, err := root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", s.unwritable(folder, err)
		}
		_, err = fmt.Fprintf(f, "-- %s, %s\n\n", strings.TrimSuffix(name, ".sql"), s.term.Now().UTC().Format("2006-01-02"))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(s.unwritable(folder, err), root.Remove(file))
		}
		return file, nil
	}
}

func (s *Site) unwritable(folder string, err error) error {
	path := s.term.Shown(filepath.Join(s.Dir, filepath.FromSlash(folder)))
	return failure.Resource(
		"folder-unwritable",
		fmt.Sprintf("the folder %s cannot be written", wording.QuotePath(path)),
		"make it a folder that you may write to",
		err,
	)
}

// FileReport is what `pages migrate new`, `schema` and `squash` print with --json.
type FileReport struct {
	OK       bool     `json:"ok"`
	File     string   `json:"file"`               // relative to the site's folder, with slashes
	Replaces []string `json:"replaces,omitempty"` // files that a squash stands for
}
