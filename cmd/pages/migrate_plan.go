package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
)

func (c *cli) newMigratePlan() *cobra.Command {
	var sql, exitCode, outOfOrder bool
	cmd := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "Run what is pending on a copy of the database, and say what it would change",
		Long: "Run what is pending on a private copy of the database, and say what it would\nchange: the schema, the rows, how long it takes, and whether foreign keys hold.\nNothing is written.\n\n" +
			"Exit codes: 0 it would be applied, 1 refused or failed, 2 wrong usage, 9 the\ndatabase cannot be used, 10 with --exit-code when there is something to apply.",
		Example: "  pages migrate plan\n  pages migrate plan --sql\n  pages migrate plan --exit-code --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tell, stop := c.watchProgress()
			defer stop()
			return c.readMigrations(cmd.Context(), args, migrate.Options{AllowOutOfOrder: outOfOrder, Progress: tell}, func(s *migrations) error {
				plan, err := s.Plan(cmd.Context())
				stop()
				if err := s.printPlan(plan, sql, err); err != nil {
					return err
				}
				if exitCode && len(plan.Pending) > 0 {
					return &failure.Error{Exit: failure.ExitChanges, Err: failure.ErrShown}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&sql, "sql", false, "print the SQL of the files too")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with 10 when there is something to apply")
	cmd.Flags().BoolVar(&outOfOrder, "allow-out-of-order", false, "run a file that sorts before an applied one")
	return cmd
}

type planDoc struct {
	OK          bool          `json:"ok"`
	Database    string        `json:"database"`
	Pending     []string      `json:"pending"`
	Files       []plannedItem `json:"files"` // those that ran on the copy
	Schema      []changeItem  `json:"schema"`
	Rows        []rowsItem    `json:"rows"`
	ForeignKeys string        `json:"foreign_keys"` // "ok", or "" when a file failed
	Failed      string        `json:"failed,omitempty"`
	Warnings    []string      `json:"warnings"`
}

type plannedItem struct {
	Name        string  `json:"name"`
	SHA256      string  `json:"sha256"`
	DurationMS  float64 `json:"duration_ms"`
	RowsChanged int64   `json:"rows_changed"`
	SQL         string  `json:"sql,omitempty"`
}

type changeItem struct {
	Change string `json:"change"` // "added", "removed" or "changed"
	Type   string `json:"type"`
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

type rowsItem struct {
	Table  string `json:"table"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

func changeItems(changes []migrate.Change) []changeItem {
	list := []changeItem{}
	for _, c := range changes {
		what := "changed"
		switch {
		case c.Before == "":
			what = "added"
		case c.After == "":
			what = "removed"
		}
		list = append(list, changeItem{what, c.Kind, c.Name, c.Before, c.After})
	}
	return list
}

func (s *migrations) planDoc(plan migrate.Plan, withSQL bool, err error) planDoc {
	doc := planDoc{
		OK: err == nil, Database: s.path, Pending: names(plan.Pending), Files: []plannedItem{}, Schema: changeItems(plan.Changes), Rows: []rowsItem{},
		Failed: plan.Failed, Warnings: s.warnings(plan.Warnings),
	}
	for i, f := range plan.Files {
		item := plannedItem{f.Name, f.SHA256, f.DurationMS, f.Changed, ""}
		if withSQL {
			item.SQL = string(plan.Pending[i].SQL)
		}
		doc.Files = append(doc.Files, item)
	}
	for _, r := range plan.Rows {
		doc.Rows = append(doc.Rows, rowsItem(r))
	}
	if err == nil {
		doc.ForeignKeys = "ok"
	}
	return doc
}

func (s *migrations) printPlan(plan migrate.Plan, withSQL bool, err error) error {
	doc := s.planDoc(plan, withSQL, err)
	if s.term.JSON {
		if err == nil {
			s.term.PrintJSON(doc)
		}
		return s.withDoc(err, doc)
	}
	for i, f := range doc.Files {
		fmt.Fprintf(s.term.Stdout, "would apply %s: %s changed, %.1f ms\n", f.Name, wording.Count(int(f.RowsChanged), "row"), f.DurationMS)
		if withSQL {
			fmt.Fprint(s.term.Stdout, indented(string(plan.Pending[i].SQL), "    "))
		}
	}
	printChanges(s.cli, doc.Schema)
	for _, r := range doc.Rows {
		fmt.Fprintf(s.term.Stdout, "rows of %s: %d, then %d\n", r.Table, r.Before, r.After)
	}
	s.term.ProgressWarnings(doc.Warnings)
	switch {
	case err != nil:
		return err
	case len(doc.Pending) == 0:
		s.nothingToApply()
	default:
		fmt.Fprintln(s.term.Stdout, "foreign keys hold")
	}
	return nil
}

// printChanges prints a schema's differences as a diff is read.
func printChanges(c *cli, changes []changeItem) {
	for _, change := range changes {
		fmt.Fprintf(c.term.Stdout, "%s %s %s\n", change.Change, change.Type, change.Name)
		fmt.Fprint(c.term.Stdout, indented(change.Before, "  - "), indented(change.After, "  + "))
	}
}

// indented puts text before every line.
func indented(text, before string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(before + strings.TrimRight(line, "\r\n") + "\n")
	}
	return out.String()
}
