package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/misuse"
)

func (c *cli) newMigrate() *cobra.Command {
	var outOfOrder bool
	cmd := &cobra.Command{
		Use:   "migrate [DIR]",
		Short: "Apply the .sql migrations to the site's local database, in filename order",
		Long: "Apply the .sql migrations to the site's local database, in filename order.\n\n" +
			"Each file is one transaction with its row in the ledger. A file that changed\nafter it was applied, one that is gone and a new one that sorts before an\n" +
			"applied one are refused. The database as it was before is kept for\npages migrate undo.\n\nExit codes: 0 all applied, 1 refused or failed, 2 wrong usage, 9 the database or\nthe state folder cannot be used.",
		Example: "  pages migrate\n  pages migrate status\n  pages migrate plan --sql\n  pages migrate undo",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkSubcommand(cmd, args); err != nil {
				return err
			}
			debug.SetGCPercent(shortRunGCPercent) // its heap is small, and it ends soon
			s, err := c.findMigrations(args)
			if err != nil {
				return err
			}
			return s.Apply(cmd.Context(), outOfOrder)
		},
	}
	cmd.Flags().BoolVar(&outOfOrder, "allow-out-of-order", false, "apply a file that sorts before an applied one, on this machine")
	cmd.AddCommand(c.newMigrateStatus(), c.newMigratePlan(), c.newMigrateNew(), c.newMigrateReset(), c.newMigrateRehearse(),
		c.newMigrateSchema(), c.newMigrateSquash(), c.newMigrateRepair(), c.newMigrateUndo())
	return cmd
}

// checkSubcommand refuses an argument that is no site and nearly a command.
func (c *cli) checkSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(c.term.Path(args[0])); err == nil {
		return nil
	}
	err := failure.Usage("%q is no site and no command of pages migrate", args[0])
	if args[0] == "apply" || args[0] == "up" {
		err.Fix = "leave it out: pages migrate applies what is pending"
		return err
	}
	if meant := misuse.MeantCommand(cmd, args[0]); meant != "" {
		err.Fix = fmt.Sprintf("did you mean %q?", meant)
		return err
	}
	return nil
}

// findMigrations finds the site that is meant, which must declare a database.
func (c *cli) findMigrations(args []string) (*migration.Site, error) {
	dir, err := c.sites().Find(args)
	if err != nil {
		return nil, err
	}
	return migration.Find(dir, migration.Options{Term: &c.term, States: c.states(), Tool: tool()})
}

// tool is how this program names itself in what it writes.
func tool() string { return "pages " + version }
