package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

const (
	schemaFile = "schema.sql"
	schemaHead = "-- Written by pages migrate schema.\n\n"
)

func (c *cli) newMigrateSchema() *cobra.Command {
	var output string
	var check bool
	cmd := &cobra.Command{
		Use:   "schema [DIR]",
		Short: "Write the database's schema to schema.sql",
		Long: "Write the schema of the site's database to schema.sql beside the manifest, or to\nthe file of --output, where - is stdout. Tables come with their indexes, in the\norder of their names, so that two machines write the same file.\n\n" +
			"Exit codes: 0 written, or with --check up to date, 1 migrations are pending or\nthe file is not up to date, 2 wrong usage, 9 the file cannot be written.",
		Example: "  pages migrate schema\n  pages migrate schema --output -\n  pages migrate schema --check",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			stdout, err := c.term.ToStdout(output, check)
			if err != nil {
				return err
			}
			return c.readMigrations(cmd.Context(), args, migrate.Options{}, func(s *migrations) error {
				text, err := s.Schema(cmd.Context())
				if err != nil {
					return err
				}
				text = schemaHead + text
				if stdout {
					fmt.Fprint(s.term.Stdout, text)
					return nil
				}
				file := filepath.Join(s.dir, schemaFile)
				if output != "" {
					file = s.cli.term.Path(output)
				}
				return s.writeSchema(file, text, check)
			})
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write; - is stdout (default: schema.sql beside the manifest)")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and end with 1 when the file is not up to date")
	return cmd
}

// writeSchema writes the file, unless it is there already, or somebody else's.
func (s *migrations) writeSchema(file, text string, check bool) error {
	shown := s.term.Shown(file)
	there, err := userfile.ReadRegular(file)
	there = bytes.ReplaceAll(there, []byte("\r\n"), []byte("\n"))
	switch {
	case err == nil && string(there) == text:
		s.sayFile(file)
		return nil
	case check:
		return &failure.Error{Exit: failure.ExitRefused, Code: "schema-outdated", Message: shown + " is not the schema of the database", Fix: "pages migrate schema writes it", Err: err}
	case err == nil && !bytes.HasPrefix(there, []byte(schemaHead)):
		return &failure.Error{Exit: failure.ExitRefused, Code: "schema-not-ours", Message: shown + " was not written by pages migrate schema", Fix: "move it away, or write another file with --output"}
	case err == nil || errors.Is(err, fs.ErrNotExist):
		err = userfile.ReplaceText(file, 0o644, []byte(text))
	}
	if err != nil {
		return failure.Resource("output-unusable", fmt.Sprintf("%s cannot be written", wording.QuotePath(shown)), "name a file that you may write with --output", err)
	}
	s.sayFile(file)
	return nil
}

func (s *migrations) sayFile(file string) {
	if s.term.JSON {
		s.term.PrintJSON(migrationFileDoc{OK: true, File: file})
		return
	}
	fmt.Fprintln(s.term.Stdout, s.term.Shown(file))
}
