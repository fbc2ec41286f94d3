package migration

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

// PlanReport is the output of `pages migrate plan --json`.
type PlanReport struct {
	OK           bool           `json:"ok"`
	Database     string         `json:"database"`
	Pending      []string       `json:"pending"`
	Files        []PlannedFile  `json:"files"` // the files that ran on the copy
	Schema       []SchemaChange `json:"schema"`
	Rows         []RowCount     `json:"rows"`         // of tables whose number of rows changes
	Tables       []RowCount     `json:"tables"`       // of all tables
	DataLoss     []DataLoss     `json:"data_loss"`    // of present rows and values
	Checks       []Check        `json:"checks"`       // over present rows
	ForeignKeys  string         `json:"foreign_keys"` // "ok", or "" if a file failed or none ran
	NotRehearsed string         `json:"not_rehearsed,omitempty"`
	Failed       string         `json:"failed,omitempty"`
	Warnings     []string       `json:"warnings"`
}

// DataLoss counts the data that one statement removes.
type DataLoss struct {
	Table     string `json:"table"`
	Column    string `json:"column,omitempty"` // absent for whole rows
	Rows      int64  `json:"rows"`
	Cause     string `json:"cause"`
	Statement string `json:"statement"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Allowed   bool   `json:"allowed"` // by a comment above the statement
}

func dataLosses(losses []migrate.Loss) []DataLoss {
	list := []DataLoss{}
	for _, l := range losses {
		list = append(list, DataLoss{l.Table, l.Column, l.Rows, l.Cause, l.Statement, l.Pos.Filename, l.Pos.Line, l.Allowed})
	}
	return list
}

// Check is a constraint that the rows of a table must meet, or an index that is built over them.
type Check struct {
	Kind    string   `json:"kind"` // "not null", "unique" or "index"
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Index   string   `json:"index,omitempty"`
	Rows    int64    `json:"rows"`

	Statement string `json:"statement"` // the statement that makes it
	File      string `json:"file"`
	Line      int    `json:"line"`
}

// PlannedFile is a migration that ran on the copy.
type PlannedFile struct {
	Name        string  `json:"name"`
	SHA256      string  `json:"sha256"`
	DurationMS  float64 `json:"duration_ms"`
	RowsChanged int64   `json:"rows_changed"`
	SQL         string  `json:"sql,omitempty"`
}

// SchemaChange is a table, index, view or trigger that differs.
type SchemaChange struct {
	Change string `json:"change"` // "added", "removed" or "changed"
	Type   string `json:"type"`
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// RowCount is the number of rows of a table, before and after.
type RowCount struct {
	Table  string `json:"table"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

func schemaChanges(changes []migrate.Change) []SchemaChange {
	list := []SchemaChange{}
	for _, c := range changes {
		what := "changed"
		switch {
		case c.Before == "":
			what = "added"
		case c.After == "":
			what = "removed"
		}
		list = append(list, SchemaChange{what, c.Kind, c.Name, c.Before, c.After})
	}
	return list
}

// PlanOptions are the options of `pages migrate plan`.
type PlanOptions struct {
	SQL             bool // print the SQL too
	ExitCode        bool // fail if a migration is pending
	AllowOutOfOrder bool
}

// Plan runs the pending migrations on a copy of the database, and prints the changes.
func (s *Site) Plan(ctx context.Context, o PlanOptions) error {
	progress, stop := watchProgress(s.term)
	defer stop()
	return s.Read(ctx, migrate.Options{AllowOutOfOrder: o.AllowOutOfOrder, Progress: progress}, func(m *migrate.Migrator) error {
		plan, err := m.Plan(ctx)
		stop()
		if err := s.printPlan(plan, o.SQL, err); err != nil {
			return err
		}
		if o.ExitCode && len(plan.Pending) > 0 {
			return &failure.Error{Exit: failure.ExitChanges, Err: failure.ErrShown}
		}
		return nil
	})
}

func (s *Site) printPlan(plan migrate.Plan, withSQL bool, err error) error {
	doc := PlanReport{
		OK: err == nil, Database: s.Path, Pending: names(plan.Pending), Files: []PlannedFile{}, Schema: schemaChanges(plan.Changes),
		Rows: []RowCount{}, Tables: []RowCount{}, Checks: []Check{},
		NotRehearsed: plan.NotRehearsed, Failed: plan.Failed, Warnings: s.warnings(plan.Warnings),
	}
	for i, f := range plan.Files {
		item := PlannedFile{f.Name, f.SHA256, f.DurationMS, f.Changed, ""}
		if withSQL {
			item.SQL = string(plan.Pending[i].SQL)
		}
		doc.Files = append(doc.Files, item)
	}
	for _, r := range plan.Tables {
		doc.Tables = append(doc.Tables, RowCount(r))
		if r.Before != r.After {
			doc.Rows = append(doc.Rows, RowCount(r))
		}
	}
	doc.DataLoss = dataLosses(plan.Losses)
	for _, c := range plan.Checks {
		doc.Checks = append(doc.Checks, Check{c.Kind, c.Table, c.Columns, c.Index, c.Rows, c.Statement, c.Pos.Filename, c.Pos.Line})
	}
	if err == nil && plan.NotRehearsed == "" {
		doc.ForeignKeys = "ok"
	}
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
		}
		return s.printFailed(err, doc)
	}
	for i, f := range doc.Files {
		fmt.Fprintf(s.term.Stdout, "would apply %s: %s changed, %.1f ms\n", f.Name, wording.Count(int(f.RowsChanged), "row"), f.DurationMS)
		if withSQL {
			fmt.Fprint(s.term.Stdout, indent(string(plan.Pending[i].SQL), "    "))
		}
	}
	printChanges(s.term.Stdout, doc.Schema)
	for _, r := range doc.Rows {
		fmt.Fprintf(s.term.Stdout, "rows of %s: %d, then %d\n", wording.Printable(r.Table), r.Before, r.After)
	}
	s.printLosses(doc)
	s.term.ProgressWarnings(doc.Warnings)
	switch {
	case err != nil:
		return err
	case len(doc.Pending) == 0:
		s.printNothingPending()
	case doc.NotRehearsed != "":
		fmt.Fprintf(s.term.Stdout, "not rehearsed: %s\n", doc.NotRehearsed)
	default:
		fmt.Fprintln(s.term.Stdout, "foreign keys hold")
	}
	return nil
}

// printLosses prints the constraints that rows must meet, and the losses.
func (s *Site) printLosses(doc PlanReport) {
	work := userfile.WorkDir(s.term.Dir)
	place := func(file string, line int, statement string) {
		at := fmt.Sprintf("%s:%d", work.Rel(filepath.Join(s.Dir, file)), line)
		fmt.Fprintf(s.term.Stdout, "  %s: %s\n", wording.Printable(at), wording.Printable(statement))
	}
	for _, c := range doc.Checks {
		over := fmt.Sprintf("%s of %s", wording.Count(int(c.Rows), "row"), c.Table)
		if columns := strings.Join(c.Columns, ", "); columns != "" {
			over += " (" + columns + ")"
		}
		switch c.Kind {
		case migrate.CheckNotNull:
			fmt.Fprintf(s.term.Stdout, "requires values in %s\n", wording.Printable(over))
		case migrate.CheckUnique:
			fmt.Fprintf(s.term.Stdout, "requires unique values in %s\n", wording.Printable(over))
		default:
			fmt.Fprintf(s.term.Stdout, "builds the index %s over %s\n", wording.Printable(c.Index), wording.Printable(over))
		}
		place(c.File, c.Line, c.Statement)
	}
	for _, l := range doc.DataLoss {
		allowed := ""
		if l.Allowed {
			allowed = ", as its comment says"
		}
		fmt.Fprintf(s.term.Stdout, "loses %s%s\n", wording.Printable(l.text()), allowed)
		place(l.File, l.Line, l.Statement)
	}
}

// text describes the loss and its cause.
func (l DataLoss) text() string {
	what := wording.Count(int(l.Rows), "row") + " of " + l.Table
	if l.Column != "" {
		what = wording.Count(int(l.Rows), "value") + " of " + l.Table + "." + l.Column
	}
	how, known := map[string]string{
		migrate.LossDelete: "deleted", migrate.LossDrop: "dropped with the table", migrate.LossCascade: "by ON DELETE CASCADE",
		migrate.LossSetNull: "by what ON DELETE sets", migrate.LossTrigger: "by a trigger", migrate.LossReplace: "replaced",
		migrate.LossColumn: "dropped with the column", migrate.LossNarrow: "cut by another type or a shorter text",
		migrate.LossUpdate: "set to NULL or to one value",
	}[l.Cause]
	if !known {
		return what
	}
	return what + ": " + how
}

// printChanges prints the differences of a schema as a diff.
func printChanges(w io.Writer, changes []SchemaChange) {
	for _, change := range changes {
		fmt.Fprintf(w, "%s %s %s\n", change.Change, change.Type, wording.Printable(change.Name))
		fmt.Fprint(w, indent(change.Before, "  - "), indent(change.After, "  + "))
	}
}

// indent puts text before every line.
func indent(text, before string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(before + wording.PrintableCode(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return out.String()
}

// RehearsalReport is the output of `pages migrate rehearse --json`.
type RehearsalReport struct {
	OK       bool           `json:"ok"`
	Applied  []Item         `json:"applied"`
	Failed   string         `json:"failed,omitempty"`
	Compared bool           `json:"compared"` // false if the site has no database yet
	Schema   []SchemaChange `json:"schema"`   // from the site's database to the rehearsed one
	Warnings []string       `json:"warnings"`
}

// Rehearse runs all migrations on an empty database, and compares its schema with the site's.
func (s *Site) Rehearse(ctx context.Context) error {
	progress, stop := watchProgress(s.term)
	defer stop()
	return s.Read(ctx, migrate.Options{Progress: progress}, func(m *migrate.Migrator) error {
		h, err := m.Rehearse(ctx)
		stop()
		return s.printRehearsal(h, err)
	})
}

func (s *Site) printRehearsal(h migrate.Rehearsal, err error) error {
	doc := RehearsalReport{
		OK: err == nil && len(h.Changes) == 0, Applied: items(h.Applied), Failed: h.Failed,
		Compared: h.Compared, Schema: schemaChanges(h.Changes), Warnings: s.warnings(h.Warnings),
	}
	var differs error
	if len(h.Changes) > 0 {
		differs = failure.Refused("migration_schema_differs", "the schema of the site's database differs from that of its migrations",
			"write a migration for changes by hand or by the Worker; pages migrate reset creates the database again")
	}
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
			if differs != nil {
				differs = &failure.Error{Exit: failure.ExitRefused, Err: failure.ErrShown}
			}
			return differs
		}
		return s.printFailed(err, doc)
	}
	s.term.ProgressWarnings(doc.Warnings)
	if err != nil {
		if n := len(h.Applied); n > 0 {
			fmt.Fprintf(s.term.Stderr, "%s ran before it; nothing was written\n", wording.Count(n, "file"))
		}
		return err
	}
	printChanges(s.term.Stdout, doc.Schema)
	if differs == nil {
		same := "; its schema is that of the site's database"
		if !h.Compared {
			same = "; the site has no database to compare with"
		}
		s.term.Progress("%s ran on an empty database%s", wording.Count(len(h.Applied), "migration"), same)
	}
	return differs
}
