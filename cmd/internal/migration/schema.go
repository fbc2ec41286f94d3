package migration

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

const (
	schemaFile = "schema.sql"
	schemaHead = "-- Written by pages migrate schema.\n\n"
)

// SchemaOptions are those of `pages migrate schema`.
type SchemaOptions struct {
	File   string // "" for schema.sql beside the manifest
	Stdout bool   // print it instead
	Check  bool   // write nothing, and fail when the file is not up to date
}

// Schema writes the schema of the database to a file, or prints it.
func (s *Site) Schema(ctx context.Context, o SchemaOptions) error {
	return s.Read(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
		text, err := m.Schema(ctx)
		if err != nil {
			return err
		}
		text = schemaHead + text
		if o.Stdout {
			fmt.Fprint(s.term.Stdout, text)
			return nil
		}
		return s.writeSchema(cmp.Or(o.File, filepath.Join(s.Dir, schemaFile)), text, o.Check)
	})
}

// writeSchema writes the file, unless it is up to date already, or somebody else's.
func (s *Site) writeSchema(file, text string, check bool) error {
	shown := s.term.Shown(file)
	there, err := userfile.ReadRegular(file)
	there = bytes.ReplaceAll(there, []byte("\r\n"), []byte("\n"))
	switch {
	case err == nil && string(there) == text:
		s.printFile(file)
		return nil
	case check:
		return &failure.Error{
			Exit:    failure.ExitRefused,
			Code:    "schema-outdated",
			Message: shown + " is not the schema of the database",
			Fix:     "pages migrate schema writes it",
			Err:     err,
		}
	case err == nil && !bytes.HasPrefix(there, []byte(schemaHead)):
		return &failure.Error{
			Exit:    failure.ExitRefused,
			Code:    "schema-not-ours",
			Message: shown + " was not written by pages migrate schema",
			Fix:     "move it away, or write another file with --output",
		}
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = userfile.ReplaceText(file, 0o644, []byte(text))
	}
	if err != nil {
		return failure.Resource(
			"output-unusable",
			fmt.Sprintf("%s cannot be written", wording.QuotePath(shown)),
			"name a file that you may write with --output",
			err,
		)
	}
	s.printFile(file)
	return nil
}

func (s *Site) printFile(file string) {
	if s.term.JSON {
		s.term.PrintJSON(FileReport{OK: true, File: file})
		return
	}
	fmt.Fprintln(s.term.Stdout, s.term.Shown(file))
}
