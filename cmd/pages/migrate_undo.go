package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigrateUndo() *cobra.Command {
	var list, redo bool
	cmd := &cobra.Command{
		Use:   "undo [DIR]",
		Short: "Put the database back as it was before the newest run",
		Long: "Put the site's database back as it was before the newest pages migrate, pages\nmigrate reset or run of pages dev that applied something; the last ten are kept.\nRows that were written since go too: --redo brings back what an undo replaced.\nIt is one transaction, also while pages dev runs.\n\n" +
			"Exit codes: 0 put back, 1 there is nothing to undo, 2 wrong usage, 9 the\ndatabase or the state folder cannot be used.",
		Example: "  pages migrate undo\n  pages migrate undo --redo\n  pages migrate undo --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list && redo:
				return failure.Usage("--list and --redo ask for two things")
			case list:
				return c.readMigrations(cmd.Context(), args, migrate.Options{}, (*migrations).listCopies)
			}
			return c.withMigrations(cmd.Context(), args, migrate.Options{}, func(s *migrations) error { return s.undo(cmd.Context(), redo) })
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the copies there are, the newest first")
	cmd.Flags().BoolVar(&redo, "redo", false, "bring back what the last undo replaced")
	return cmd
}

func (s *migrations) undo(ctx context.Context, redo bool) error {
	said := "brought back what the last undo replaced"
	if redo {
		if err := s.Redo(ctx); err != nil {
			return err
		}
	} else {
		from, err := s.Undo(ctx)
		if err != nil {
			return err
		}
		said = "put the database back as it was at " + wording.Clock(from.MadeAt) + "; pages migrate undo --redo takes that back"
	}
	status, err := s.Status(ctx)
	if err != nil {
		return err
	}
	if s.term.JSON {
		s.term.PrintJSON(s.statusDoc(status))
		return nil
	}
	s.term.Progress("%s", said)
	return s.printStatus(status)
}

type copyItem struct {
	Number int       `json:"number"`
	MadeAt time.Time `json:"made_at"`
	Bytes  int64     `json:"bytes"`
	Path   string    `json:"path"`
}

// copiesDoc is what `pages migrate undo --list --json` prints.
type copiesDoc struct {
	OK     bool       `json:"ok"`
	Copies []copyItem `json:"copies"`
}

func (s *migrations) listCopies() error {
	copies, err := s.Copies()
	if err != nil {
		return err
	}
	if s.term.JSON {
		items := []copyItem{}
		for _, c := range copies {
			items = append(items, copyItem{c.Number, c.MadeAt, c.Bytes, c.Path})
		}
		s.term.PrintJSON(copiesDoc{true, items})
		return nil
	}
	table := tabwriter.NewWriter(s.term.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range copies {
		fmt.Fprintf(table, "%d\t%s\t%s\n", c.Number, wording.Clock(c.MadeAt), wording.Size(c.Bytes))
	}
	s.term.PrintNone(len(copies), "copies")
	return table.Flush()
}
