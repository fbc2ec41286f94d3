package publish

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file enforces a rule: no row is lost unless a person named its table, on the command line, by typing it, or in a reviewed comment of
// the migration.

// addMigrated adds the effects of the migrations on the site's data.
func (t *planText) addMigrated(p *deploy.Plan) {
	for _, l := range p.DataLoss {
		allowed := ""
		if l.Allowed {
			allowed = "; a comment in the migration allows it"
		}
		t.add("31;1", "! %s (%s, %s:%d%s)", l.Of(), l.Cause, l.File, l.Line, allowed)
		t.add("31", "    %s", l.Statement)
	}
	r := p.Rehearsal
	for _, c := range r.Tables {
		t.add("", "  rows of %s: %d, then %d", c.Table, c.Before, c.After)
	}
	for _, w := range r.Warnings {
		t.add("33", "warning: %s", w)
	}
	switch r.State {
	case toolapi.RehearsalDone:
		var ms float64
		for _, f := range r.Files {
			ms += f.Milliseconds
		}
		if n := len(r.Files); n > 0 {
			t.add("", "rehearsed on a copy of the site's database: %s in %.0f ms", wording.Count(n, "migration"), math.Ceil(ms))
		}
		if r.Locked > 0 {
			t.add("", "  visitors' writes will wait: the migrations hold the write lock for %.0f ms", math.Ceil(r.Locked))
		}
	case toolapi.RehearsalNotNeeded:
	case toolapi.RehearsalSkipped:
		t.add("33;1", "not rehearsed: %s", r.Reason)
	}
}

// nameLosses makes a person name the tables of losses without permission: it asks at a terminal; elsewhere it fails with the command that
// allows them. It returns the tables that may lose rows.
func nameLosses(
	ctx context.Context, t *terminal.Terminal, lost []toolapi.DataLoss, allowed toolapi.TableNames, ask bool, command string,
) (toolapi.TableNames, error) {
	unnamed := toolapi.LosingTables(toolapi.UnallowedLosses(lost, allowed))
	if len(unnamed) == 0 {
		return allowed, nil
	}
	if !ask || !t.Interactive() {
		return nil, lossFailure(lost, allowed, command)
	}
	named := slices.Clone(allowed)
	for _, table := range unnamed {
		what := inWords(toolapi.SumLosses(lossesOf(lost, table)))
		fmt.Fprintf(t.Stderr, "%s %s. Type the name of the table to continue: ", t.Paint("31;1", "!"), wording.Printable(what))
		typed, err := t.ReadLine(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || !(toolapi.TableNames{table}).Contains(typed) {
			return nil, lossFailure(lost, allowed, command)
		}
		named = append(named, table)
	}
	return named, nil
}

// lossFailure refuses losses without permission.
func lossFailure(lost []toolapi.DataLoss, allowed toolapi.TableNames, command string) error {
	needless := allowed.Needless(lost)
	flags := slices.DeleteFunc(slices.Clone(allowed), func(table string) bool { return needless.Contains(table) })
	lost = toolapi.UnallowedLosses(lost, allowed)
	tables := toolapi.LosingTables(lost)
	flags = append(flags, tables...)
	comment := "; or write the comment " + wording.Printable(migrate.LossComment(tables...)) + " above the statement"
	if strings.HasPrefix(command, "pages confirm") { // the migration is uploaded
		comment = ""
	}
	return &failure.Error{
		Exit: failure.ExitRefused, Code: toolapi.CodeDataLoss,
		Message: "the migrations delete rows or values: " + wording.Printable(inWords(toolapi.SumLosses(lost))),
		Fix:     "to allow it: " + command + wording.Printable(lossFlags(flags)) + comment,
		Detail:  &failure.Detail{DataLoss: lost},
	}
}

// addNeedless adds the tables that are allowed to lose rows and lose none to the refusal of losses: their names may be mistyped.
func addNeedless(err error, allowed toolapi.TableNames, lost []toolapi.DataLoss) error {
	names := allowed.Needless(lost)
	if refused, ok := errors.AsType[*failure.Error](err); ok && refused.Code == toolapi.CodeDataLoss && len(names) > 0 {
		refused.Message += "; nothing is lost of " + wording.Printable(strings.Join(names, ", ")) + ", which is allowed to lose rows"
	}
	return err
}

// lossFlags returns the flags that allow tables to lose rows, with a space before each.
func lossFlags(tables toolapi.TableNames) string {
	var b strings.Builder
	for _, table := range tables {
		b.WriteString(" --allow-data-loss " + wording.ShellWord(table))
	}
	return b.String()
}

// inWords describes losses in one line.
func inWords(sums []toolapi.LossOf) string {
	parts := make([]string, len(sums))
	for i, sum := range sums {
		parts[i] = sum.String()
	}
	return strings.Join(parts, ", ")
}

// lossesOf returns the losses of one table.
func lossesOf(all []toolapi.DataLoss, table string) []toolapi.DataLoss {
	return slices.DeleteFunc(slices.Clone(all), func(l toolapi.DataLoss) bool {
		return !(toolapi.TableNames{table}).Contains(l.Table)
	})
}
