package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrateStatus() *cobra.Command {
	var exitCode, outOfOrder bool
	cmd := &cobra.Command{
		Use:   "status [DIR]",
		Short: "Say which migrations are applied, pending, edited, missing or out of order",
		Long: "Say which migrations are applied, pending, edited, missing or out of order, and\nwrite nothing.\n\n" +
			"Exit codes: 0 told, 1 the manifest was refused, 2 wrong usage, 9 the database cannot\nbe used; with --exit-code also 10 when migrations are pending and 1 when pages\nmigrate would refuse them.",
		Example: "  pages migrate status\n  pages migrate status --exit-code --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.readMigrations(cmd.Context(), args, migrate.Options{AllowOutOfOrder: outOfOrder}, func(s *migrations) error {
				status, err := s.Status(cmd.Context())
				if err != nil {
					return err
				}
				if err := s.printStatus(status); err != nil {
					return err
				}
				switch {
				case exitCode && status.Refusal() != nil:
					return &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
				case exitCode && len(status.Pending)+len(status.Squashed) > 0:
					return &failure.Error{Exit: failure.ExitChanges, Err: failure.ErrShown}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with 10 when migrations are pending")
	cmd.Flags().BoolVar(&outOfOrder, "allow-out-of-order", false, "count a file that sorts before an applied one as pending")
	return cmd
}

type statusDoc struct {
	OK         bool            `json:"ok"` // whether pages migrate would run
	Database   string          `json:"database"`
	Applied    []migrationItem `json:"applied"`
	Pending    []string        `json:"pending"`
	Edited     []string        `json:"edited"`
	Missing    []string        `json:"missing"`
	OutOfOrder []string        `json:"out_of_order"`
	Squashed   []string        `json:"squashed"`
	Warnings   []string        `json:"warnings"`
}

func names(files []migrate.File) []string {
	list := []string{}
	for _, f := range files {
		list = append(list, f.Name)
	}
	return list
}

func (s *migrations) statusDoc(status migrate.Status) statusDoc {
	doc := statusDoc{
		OK: status.Refusal() == nil, Database: s.path, Applied: items(status.Applied), Pending: names(status.Pending), Edited: names(status.Edited),
		Missing: []string{}, OutOfOrder: names(status.OutOfOrder), Squashed: names(status.Squashed), Warnings: s.warnings(status.Warnings),
	}
	for _, e := range status.Missing {
		doc.Missing = append(doc.Missing, e.Name)
	}
	return doc
}

// printStatus prints a line for each migration; what is wrong, and what to do about it, goes to stderr.
func (s *migrations) printStatus(status migrate.Status) error {
	doc := s.statusDoc(status)
	if s.term.JSON {
		s.term.PrintJSON(doc)
		return nil
	}
	states := map[string]string{}
	for state, list := range map[string][]string{"edited": doc.Edited, "missing": doc.Missing, "pending": doc.Pending, "squashed": doc.Squashed} {
		for _, name := range list {
			states[name] = state
		}
	}
	for _, name := range doc.OutOfOrder {
		states[name] = "out of order"
	}
	table := tabwriter.NewWriter(s.term.Stdout, 0, 0, 2, ' ', 0)
	for _, e := range status.Applied {
		state, wrong := states[e.Name]
		if !wrong {
			state = "applied"
		}
		delete(states, e.Name)
		fmt.Fprintf(table, "%s\t%s\t%s\n", state, e.Name, wording.Clock(e.AppliedAt))
	}
	for _, list := range [][]string{doc.OutOfOrder, doc.Squashed, doc.Pending} {
		for _, name := range list {
			if state, left := states[name]; left {
				fmt.Fprintf(table, "%s\t%s\n", state, name)
				delete(states, name)
			}
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	s.term.ProgressWarnings(doc.Warnings)
	if err := status.Refusal(); err != nil {
		s.term.PrintDiagnostics(s.report(s.dir, migrationDiagnostics(s.dir, err)), nil)
	}
	s.term.PrintNone(len(status.Applied)+len(status.Pending)+len(status.OutOfOrder), "migrations")
	return nil
}
