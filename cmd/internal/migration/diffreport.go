package migration

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/schemadiff"
)

// DiffReport is the output of `pages migrate diff --json`.
type DiffReport struct {
	OK       bool         `json:"ok"`
	File     string       `json:"file"` // relative to the site's folder, with slashes; "" when none was written
	Changes  []DiffChange `json:"changes"`
	SQL      string       `json:"sql"`       // of the migration; "" without a difference
	Renames  []string     `json:"renames"`   // possible renames, in the form of --rename
	DataLoss []DataLoss   `json:"data_loss"` // of the present rows and values of the local database
	Losing   []string     `json:"losing"`    // tables that lose any rows or values they have, without permission
	Warnings []string     `json:"warnings"`
}

func (d *differ) report(made schemadiff.Script) DiffReport {
	doc := DiffReport{
		OK: true, Changes: diffChanges(made.Changes), SQL: made.SQL, Renames: []string{}, DataLoss: []DataLoss{}, Losing: []string{},
		Warnings: []string{},
	}
	for _, g := range made.Guesses {
		doc.Renames = append(doc.Renames, g.String())
	}
	for _, name := range made.Losing {
		if !d.isAllowed(name) {
			doc.Losing = append(doc.Losing, name)
		}
	}
	for _, name := range d.reordered {
		doc.Warnings = append(doc.Warnings, fmt.Sprintf("the columns of %s are in another order in %s, which is not a difference: "+
			"an added column comes last", name, filepath.Base(d.file)))
	}
	return doc
}

func (d *differ) isAllowed(table string) bool {
	return slices.ContainsFunc(d.o.AllowLoss, func(name string) bool { return dbfile.SameName(name, table) })
}

// printUnwritten prints that there is no difference or, with --check, that there is one.
func (d *differ) printUnwritten(made schemadiff.Script) error {
	made.Changes = slices.DeleteFunc(made.Changes, func(c schemadiff.Change) bool { return c.Change == schemadiff.Rebuilt })
	doc, shown := d.report(made), d.term.Shown(d.file)
	if len(made.Changes) == 0 {
		if d.term.JSON {
			d.term.PrintJSON(doc)
			return nil
		}
		d.term.ProgressWarnings(doc.Warnings)
		d.term.Progress("nothing to do: the migrations make the schema of %s", shown)
		return nil
	}
	err := failure.Refused("schema-ahead", fmt.Sprintf("%s has %s that no migration makes", shown,
		wording.Count(len(made.Changes), "change")), "pages migrate diff NAME writes the migration")
	if d.term.JSON {
		return d.printFailed(err, doc)
	}
	d.printDifferences(doc.Changes)
	return err
}

// plan runs the pending migrations and the new file on a copy of the local database. An allowed loss gets its comment.
func (d *differ) plan(ctx context.Context, file *migrate.File, made schemadiff.Script) (DiffReport, error) {
	doc := d.report(made)
	for {
		plan, failed, err := d.planOnce(ctx, *file)
		if err != nil {
			return doc, err
		}
		if failed != nil && plan.Failed == file.Name {
			return doc, failure.Refused("diff-fails",
				"the rows of the local database do not fit the new schema: "+wording.FirstLine(failed.Error()),
				"correct the rows first, fill them with --value, or take the SQL with --stdout and go on by hand")
		}
		if failed != nil {
			doc.Warnings = append(doc.Warnings, "with the new file, pages migrate would end with: "+wording.FirstLine(failed.Error()))
		}
		if plan.NotRehearsed != "" {
			doc.Warnings = append(doc.Warnings, "the effect of the migration on the local database is unknown: "+plan.NotRehearsed)
		}
		lost := slices.DeleteFunc(plan.Losses, func(l migrate.Loss) bool { return l.Name != file.Name })
		if d.allow(file, lost) {
			continue
		}
		doc.SQL, doc.DataLoss = string(file.SQL), dataLosses(lost)
		return doc, nil
	}
}

// planOnce returns the plan of a run, and its error.
func (d *differ) planOnce(ctx context.Context, file migrate.File) (plan migrate.Plan, failed, err error) {
	err = d.Read(ctx, migrate.Options{More: []migrate.File{file}}, func(m *migrate.Migrator) error {
		plan, failed = m.Plan(ctx)
		return ctx.Err()
	})
	return plan, failed, err
}

// allow writes comments above the statements that lose data of tables in --allow-data-loss; false if there are none.
func (d *differ) allow(file *migrate.File, lost []migrate.Loss) bool {
	lines := slices.Collect(strings.Lines(string(file.SQL)))
	changed := false
	for _, l := range slices.Backward(lost) {
		if l.Allowed || !d.isAllowed(l.Table) || l.Pos.Line < 1 || l.Pos.Line > len(lines) {
			continue
		}
		note := migrate.LossComment(l.Table) + "\n"
		if slices.Contains(lines[max(l.Pos.Line-3, 0):l.Pos.Line-1], note) {
			continue
		}
		lines = slices.Insert(lines, l.Pos.Line-1, note)
		changed = true
	}
	file.SQL = []byte(strings.Join(lines, ""))
	return changed
}

// print prints the report.
func (d *differ) print(doc DiffReport) {
	if d.term.JSON {
		d.term.PrintJSON(doc)
		return
	}
	if d.o.Stdout {
		fmt.Fprint(d.term.Stdout, doc.SQL)
	} else {
		fmt.Fprintln(d.term.Stdout, d.term.Shown(filepath.Join(d.Dir, filepath.FromSlash(doc.File))))
	}
	for _, c := range doc.Changes {
		d.term.Progress("  %s", wording.Printable(c.Text))
	}
	d.term.ProgressWarnings(doc.Warnings)
	for _, r := range doc.Renames {
		d.term.ProgressWarning("a removed and a new one are alike: if it is a rename, --rename %s keeps the values",
			wording.Printable(wording.ShellWord(r)))
	}
	told := map[string]bool{}
	for _, l := range doc.DataLoss {
		if l.Allowed {
			d.term.Progress("loses %s, as its comment says", wording.Printable(l.text()))
			continue
		}
		told[l.Table] = true
		d.term.Warn("it loses %s; --allow-data-loss %s writes the comment that allows it", wording.Printable(l.text()),
			wording.Printable(wording.ShellWord(l.Table)))
	}
	for _, name := range doc.Losing {
		if !told[name] {
			d.term.Warn("it loses rows or values of %s where there are any; --allow-data-loss %s writes the comment that allows it",
				wording.Printable(name), wording.Printable(wording.ShellWord(name)))
		}
	}
	if !d.o.Stdout {
		d.term.Progress("pages migrate applies it; pages migrate plan shows what it does first")
	}
}
