package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/misuse"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrate() *cobra.Command {
	var outOfOrder bool
	cmd := &cobra.Command{
		Use:   "migrate [DIR]",
		Short: "Apply the .sql migrations to the site's local database, in filename order",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.checkSubcommand(cmd, args); err != nil {
				return err
			}
			debug.SetGCPercent(shortRunGCPercent) // its heap is small, and it ends soon
			return c.withMigrations(args, func(s *migration.Site) error { return s.Apply(cmd.Context(), outOfOrder) })
		},
	}
	cmd.Flags().BoolVar(&outOfOrder, "allow-out-of-order", false, "apply a file that sorts before an applied one, on this machine")
	cmd.AddCommand(c.newMigrateStatus(), c.newMigratePlan(), c.newMigrateNew(), c.newMigrateReset(), c.newMigrateRehearse(),
		c.newMigrateDiff(), c.newMigrateSchema(), c.newMigrateSquash(), c.newMigrateRepair(), c.newMigrateUndo())
	return cmd
}

// checkSubcommand refuses an argument that is not a site and is nearly a command.
func (c *cli) checkSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if _, err := os.Stat(c.term.Path(args[0])); err == nil {
		return nil
	}
	err := failure.Usage("%q is neither a site nor a command of pages migrate", args[0])
	if args[0] == "apply" || args[0] == "up" {
		err.Fix = "leave it out: pages migrate applies the pending migrations"
		return err
	}
	if meant := misuse.MeantCommand(cmd, args[0]); meant != "" {
		err.Fix = fmt.Sprintf("did you mean %q?", meant)
		return err
	}
	return nil
}

// withMigrations finds the site that args name, which must declare a database, and runs do on its migrations.
func (c *cli) withMigrations(args []string, do func(*migration.Site) error) error {
	dir, err := c.sites().Find(args)
	if err != nil {
		return err
	}
	s, err := migration.Find(dir, migration.Options{Term: &c.term, States: c.states(), Tool: tool()})
	if err != nil {
		return err
	}
	return do(s)
}

func (c *cli) newMigrateStatus() *cobra.Command {
	var o migration.StatusOptions
	cmd := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Show which migrations are applied, pending, edited, missing or out of order",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMigrations(args, func(s *migration.Site) error { return s.Status(cmd.Context(), o) })
		},
	}
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "end with 10 when migrations are pending")
	cmd.Flags().BoolVar(&o.AllowOutOfOrder, "allow-out-of-order", false, "count a file that sorts before an applied one as pending")
	return cmd
}

func (c *cli) newMigratePlan() *cobra.Command {
	var o migration.PlanOptions
	cmd := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "Run pending migrations on a copy of the database, and show their changes",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMigrations(args, func(s *migration.Site) error { return s.Plan(cmd.Context(), o) })
		},
	}
	cmd.Flags().BoolVar(&o.SQL, "sql", false, "print the SQL of the files too")
	cmd.Flags().BoolVar(&o.ExitCode, "exit-code", false, "end with 10 when there is something to apply")
	cmd.Flags().BoolVar(&o.AllowOutOfOrder, "allow-out-of-order", false, "run a file that sorts before an applied one")
	return cmd
}

func (c *cli) newMigrateNew() *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Create an empty migration with the next number",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.withMigrations(args[1:], func(s *migration.Site) error { return s.Create(args[0]) })
		},
	}
}

func (c *cli) newMigrateRehearse() *cobra.Command {
	return &cobra.Command{
		Use:   "rehearse [DIR]",
		Short: "Run all migrations on an empty database, and compare its schema with the site's",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMigrations(args, func(s *migration.Site) error { return s.Rehearse(cmd.Context()) })
		},
	}
}

func (c *cli) newMigrateSchema() *cobra.Command {
	var output string
	var check bool
	cmd := &cobra.Command{
		Use:   "schema [DIR]",
		Short: "Write the database's schema to schema.sql",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			stdout, err := c.term.ToStdout(output, check)
			if err != nil {
				return err
			}
			o := migration.SchemaOptions{Stdout: stdout, Check: check}
			if output != "" {
				o.File = c.term.Path(output)
			}
			return c.withMigrations(args, func(s *migration.Site) error { return s.Schema(cmd.Context(), o) })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write; - is stdout (default: schema.sql beside the manifest)")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and end with 1 when the file is not up to date")
	return cmd
}

func (c *cli) newMigrateSquash() *cobra.Command {
	var upTo string
	cmd := &cobra.Command{
		Use:   "squash --up-to FILE [DIR]",
		Short: "Replace all migrations up to a file by one",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if upTo == "" {
				return failure.Usage("--up-to names no migration")
			}
			return c.withMigrations(args, func(s *migration.Site) error { return s.Squash(cmd.Context(), upTo) })
		},
	}
	cmd.Flags().StringVar(&upTo, "up-to", "", "the last `FILE` that the new one replaces")
	return cmd
}

func (c *cli) newMigrateRepair() *cobra.Command {
	var stated migrate.Repair
	cmd := &cobra.Command{
		Use:   "repair [DIR]",
		Short: "Correct the ledger by statements about the database",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(stated.Accept)+len(stated.Forget)+len(stated.Record) == 0 {
				return failure.Usage("give --accept, --forget or --record; pages migrate status shows the problems")
			}
			return c.withMigrations(args, func(s *migration.Site) error { return s.Repair(cmd.Context(), stated) })
		},
	}
	cmd.Flags().StringArrayVar(&stated.Accept, "accept", nil, "the database already matches the edited `FILE`")
	cmd.Flags().StringArrayVar(&stated.Forget, "forget", nil, "the changes of the applied `FILE` are gone, or another file replaces it")
	cmd.Flags().StringArrayVar(&stated.Record, "record", nil, "the changes of the new `FILE` are already there")
	return cmd
}

func (c *cli) newMigrateReset() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [DIR]",
		Short: "Replace the site's database by a new one with all migrations applied",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withMigrations(args, func(s *migration.Site) error {
				if err := s.State.Check(); err != nil {
					return err
				}
				if !yes {
					question := fmt.Sprintf("Remove all data in %s and apply all migrations again?", c.realPath(s.Path))
					if err := c.term.Confirm(cmd.Context(), question); err != nil {
						return err
					}
				}
				return s.Reset(cmd.Context())
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *cli) newMigrateUndo() *cobra.Command {
	var list, redo bool
	cmd := &cobra.Command{
		Use:   "undo [DIR]",
		Short: "Restore the database from before the newest run",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list && redo {
				return failure.Usage("--list and --redo exclude each other")
			}
			return c.withMigrations(args, func(s *migration.Site) error {
				if list {
					return s.ListCopies(cmd.Context())
				}
				return s.Undo(cmd.Context(), redo)
			})
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the copies, newest first")
	cmd.Flags().BoolVar(&redo, "redo", false, "restore the database that the last undo replaced")
	return cmd
}
