package migration

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

// Undo puts the database back as it was before the newest run, or with redo brings back what the last undo replaced.
func (s *Site) Undo(ctx context.Context, redo bool) error {
	return s.Write(ctx, migrate.Options{}, func(m *migrate.Migrator) error { return s.undo(ctx, m, redo) })
}

func (s *Site) undo(ctx context.Context, m *migrate.Migrator, redo bool) error {
	said := "brought back what the last undo replaced"
	if redo {
		if err := m.Redo(ctx); err != nil {
			return err
		}
	} else {
		from, err := m.Undo(ctx)
		if err != nil {
			return err
		}
		said = "put the database back as it was at " + wording.Clock(from.MadeAt) + "; pages migrate undo --redo takes that back"
	}
	status, err := m.Status(ctx)
	if err != nil {
		return err
	}
	if s.term.JSON {
		s.term.PrintJSON(s.statusReport(status))
		return nil
	}
	s.term.Progress("%s", said)
	return s.printStatus(status)
}

// Copy is a database as it was before a run.
type Copy struct {
	Number int       `json:"number"`
	MadeAt time.Time `json:"made_at"`
	Bytes  int64     `json:"bytes"`
	Path   string    `json:"path"`
}

// CopyList is what `pages migrate undo --list --json` prints.
type CopyList struct {
	OK     bool   `json:"ok"`
	Copies []Copy `json:"copies"`
}

// ListCopies lists the copies that Undo can go back to, the newest first.
func (s *Site) ListCopies(ctx context.Context) error {
	return s.Read(ctx, migrate.Options{}, s.printCopies)
}

func (s *Site) printCopies(m *migrate.Migrator) error {
	copies, err := m.Copies()
	if err != nil {
		return err
	}
	if s.term.JSON {
		items := []Copy{}
		for _, c := range copies {
			items = append(items, Copy{c.Number, c.MadeAt, c.Bytes, c.Path})
		}
		s.term.PrintJSON(CopyList{true, items})
		return nil
	}
	table := tabwriter.NewWriter(s.term.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range copies {
		fmt.Fprintf(table, "%d\t%s\t%s\n", c.Number, wording.Clock(c.MadeAt), wording.Size(c.Bytes))
	}
	s.term.PrintNone(len(copies), "copies")
	return table.Flush()
}
