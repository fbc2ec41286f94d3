package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrateNew() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Create an empty migration that goes on with the folder's numbers",
		Long: "Create an empty migration that goes on with the folder's numbers, in their width,\nor with times where the folder has those, and print its path. pages dev leaves it\nalone until it has a statement.\n\n" +
			"Exit codes: 0 created, 1 no name would sort behind the others, 2 wrong usage, 9\nthe folder cannot be written.",
		Example: "  pages migrate new add_tags\n  $EDITOR \"$(pages migrate new 'add tags')\"",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			s, _, err := c.findMigrations(args[1:])
			if err != nil {
				return err
			}
			if s.m.Bindings.Database.Migrations == "" {
				return &failure.Error{Exit: failure.ExitRefused, Code: "no-migrations", Message: "the manifest names no folder of migrations", Fix: `add "migrations": "migrations" to "bindings.database" in ` + manifest.FileName}
			}
			file, err := s.create(args[0])
			if err != nil {
				return s.fail(err)
			}
			if c.term.JSON {
				c.term.PrintJSON(migrationFileDoc{OK: true, File: file})
				return nil
			}
			fmt.Fprintln(c.term.Stdout, c.term.Shown(filepath.Join(s.dir, filepath.FromSlash(file))))
			return nil
		},
	}
}

// create writes the file, under the next name should another process take one.
func (s *migrations) create(what string) (string, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	folder := path.Clean(s.m.Bindings.Database.Migrations)
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

func (s *migrations) unwritable(folder string, err error) error {
	return failure.Resource("folder-unwritable", fmt.Sprintf("the folder %s cannot be written", wording.QuotePath(s.term.Shown(filepath.Join(s.dir, filepath.FromSlash(folder))))), "make it a folder that you may write to", err)
}

// migrationFileDoc is what `pages migrate new`, `schema` and `squash` print with --json.
type migrationFileDoc struct {
	OK       bool     `json:"ok"`
	File     string   `json:"file"`               // relative to the site's folder, with slashes
	Replaces []string `json:"replaces,omitempty"` // files that a squash stands for
}
