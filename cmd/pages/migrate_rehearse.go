package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrateRehearse() *cobra.Command {
	return &cobra.Command{
		Use:   "rehearse [DIR]",
		Short: "Run all migrations on an empty database, and compare its schema with the site's",
		Long: "Run all migrations, from the first on, on a private empty database, as a new\nmachine or the platform would; then compare its schema with the one of the\nsite's database, with what is pending applied to a copy. Nothing is written.\n\n" +
			"Exit codes: 0 all ran and the schemas are the same, 1 a file failed or they\ndiffer, 2 wrong usage, 9 the database cannot be used.",
		Example: "  pages migrate rehearse\n  pages migrate rehearse --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tell, stop := c.watchProgress()
			defer stop()
			return c.readMigrations(cmd.Context(), args, migrate.Options{Progress: tell}, func(s *migrations) error {
				h, err := s.Rehearse(cmd.Context())
				stop()
				return s.printRehearsal(h, err)
			})
		},
	}
}

type rehearsalDoc struct {
	OK       bool            `json:"ok"`
	Applied  []migrationItem `json:"applied"`
	Failed   string          `json:"failed,omitempty"`
	Compared bool            `json:"compared"` // false when the site has no database yet
	Schema   []changeItem    `json:"schema"`   // from the site's database to the rehearsed one
	Warnings []string        `json:"warnings"`
}

func (s *migrations) printRehearsal(h migrate.Rehearsal, err error) error {
	doc := rehearsalDoc{
		OK: err == nil && len(h.Changes) == 0, Applied: items(h.Applied), Failed: h.Failed,
		Compared: h.Compared, Schema: changeItems(h.Changes), Warnings: s.warnings(h.Warnings),
	}
	var differs error
	if len(h.Changes) > 0 {
		differs = &failure.Error{
			Exit: failure.ExitRefused, Code: "migration_schema_differs", Message: "the schema of the site's database is not the one its migrations give",
			Fix: "what was changed by hand or by the Worker belongs into a migration; pages migrate reset makes the database anew",
		}
	}
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
			if differs != nil {
				differs = &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
			}
			return differs
		}
		return s.withDoc(err, doc)
	}
	s.term.ProgressWarnings(doc.Warnings)
	if err != nil {
		if stands := len(h.Applied); stands > 0 {
			fmt.Fprintf(s.term.Stderr, "%s ran before it; nothing was written\n", wording.Count(stands, "file"))
		}
		return err
	}
	printChanges(s.cli, doc.Schema)
	if differs == nil {
		same := "; its schema is that of the site's database"
		if !h.Compared {
			same = "; the site has no database to compare with"
		}
		s.term.Progress("%s ran on an empty database%s", wording.Count(len(h.Applied), "migration"), same)
	}
	return differs
}
