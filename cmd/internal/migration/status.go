package migration

import (
	"context"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/migrate"
)

// StatusReport is the output of `pages migrate status --json`.
type StatusReport struct {
	OK         bool     `json:"ok"` // pages migrate would run
	Database   string   `json:"database"`
	Applied    []Item   `json:"applied"`
	Pending    []string `json:"pending"`
	Edited     []string `json:"edited"`
	Missing    []string `json:"missing"`
	OutOfOrder []string `json:"out_of_order"`
	Squashed   []string `json:"squashed"`
	Warnings   []string `json:"warnings"`
}

func names(files []migrate.File) []string {
	list := []string{}
	for _, f := range files {
		list = append(list, f.Name)
	}
	return list
}

// StatusOptions are the options of `pages migrate status`.
type StatusOptions struct {
	ExitCode        bool // fail if a migration is pending or refused
	AllowOutOfOrder bool
}

// Status prints which migrations are applied, pending, edited, missing or out of order.
func (s *Site) Status(ctx context.Context, o StatusOptions) error {
	return s.Read(ctx, migrate.Options{AllowOutOfOrder: o.AllowOutOfOrder}, func(m *migrate.Migrator) error {
		status, err := m.Status(ctx)
		if err != nil {
			return err
		}
		if err := s.printStatus(status); err != nil {
			return err
		}
		switch {
		case o.ExitCode && status.Refusal() != nil:
			return &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
		case o.ExitCode && len(status.Pending)+len(status.Squashed) > 0:
			return &failure.Error{Exit: failure.ExitChanges, Err: failure.ErrShown}
		}
		return nil
	})
}

// Repair records a person's statement about the database in the ledger.
func (s *Site) Repair(ctx context.Context, stated migrate.Repair) error {
	return s.Write(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
		status, err := m.Repair(ctx, stated)
		if err != nil {
			return err
		}
		return s.printStatus(status)
	})
}

// printStatus prints a line for each migration. Faults and their fixes go to stderr.
func (s *Site) printStatus(status migrate.Status) error {
	doc := StatusReport{
		OK: status.Refusal() == nil, Database: s.Path, Applied: items(status.Applied), Pending: names(status.Pending),
		Edited: names(status.Edited), Missing: []string{}, OutOfOrder: names(status.OutOfOrder), Squashed: names(status.Squashed),
		Warnings: s.warnings(status.Warnings),
	}
	for _, e := range status.Missing {
		doc.Missing = append(doc.Missing, e.Name)
	}
	if s.term.JSON {
		s.term.PrintJSON(doc)
		return nil
	}
	states := map[string]string{}
	lists := map[string][]string{"edited": doc.Edited, "missing": doc.Missing, "pending": doc.Pending, "squashed": doc.Squashed}
	for state, list := range lists {
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
		report := diagnostic.NewReport(s.term.Shown(filepath.Join(s.Dir, manifest.FileName)), Diagnostics(s.Dir, err))
		s.term.PrintDiagnostics(report, nil)
	}
	s.term.PrintNone(len(status.Applied)+len(status.Pending)+len(status.OutOfOrder), "migrations")
	return nil
}

// Undo restores the database from before the newest run or, with redo, the state that the last undo replaced.
func (s *Site) Undo(ctx context.Context, redo bool) error {
	return s.Write(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
		done := "restored the database that the last undo replaced"
		if redo {
			if err := m.Redo(ctx); err != nil {
				return err
			}
		} else {
			from, err := m.Undo(ctx)
			if err != nil {
				return err
			}
			done = "restored the database as of " + wording.Clock(from.MadeAt) + "; pages migrate undo --redo takes this back"
		}
		status, err := m.Status(ctx)
		if err != nil {
			return err
		}
		if !s.term.JSON {
			s.term.Progress("%s", done)
		}
		return s.printStatus(status)
	})
}

// Copy is a database from before a run.
type Copy struct {
	Number int       `json:"number"`
	MadeAt time.Time `json:"made_at"`
	Bytes  int64     `json:"bytes"`
	Path   string    `json:"path"`
}

// CopyList is the output of `pages migrate undo --list --json`.
type CopyList struct {
	OK     bool   `json:"ok"`
	Copies []Copy `json:"copies"`
}

// ListCopies lists the copies that Undo can restore, the newest first.
func (s *Site) ListCopies(ctx context.Context) error {
	return s.Read(ctx, migrate.Options{}, func(m *migrate.Migrator) error {
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
	})
}
