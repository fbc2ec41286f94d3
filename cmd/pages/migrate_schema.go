package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/migration"
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
			o := migration.SchemaOptions{Stdout: stdout, Check: check}
			if output != "" {
				o.File = c.term.Path(output)
			}
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Schema(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write; - is stdout (default: schema.sql beside the manifest)")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and end with 1 when the file is not up to date")
	return cmd
}
