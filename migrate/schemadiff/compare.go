package schemadiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// The values of [Change.Change].
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
	Renamed = "renamed"
	Rebuilt = "rebuilt" // a table that is rebuilt because another is
)

// Change is one difference between two schemas.
type Change struct {
	Change        string // one of the constants
	Type          string // one of the Kind constants
	Table         string // the table of a column, constraint, index or trigger; otherwise ""
	Name          string // for a constraint, its text
	Text          string // the change as an imperative: "add the column people.email"
	Before, After string // the definitions; "" for none
}

// Compare returns the changes that lead from one schema to another, none when their structure is the same.
func Compare(from, to *Schema) []Change {
	var list []Change
	for _, t := range from.tables {
		if to.table(t.name) == nil {
			list = append(list, t.removed())
		}
	}
	for _, t := range to.tables {
		list = append(list, t.changes(from.table(t.name))...)
	}
	for _, o := range from.objects {
		if to.object(o.key()) == nil {
			list = append(list, o.change(Removed, o.sql, ""))
		}
	}
	for _, o := range to.objects {
		switch old := from.object(o.key()); {
		case old == nil:
			list = append(list, o.change(Added, "", o.sql))
		case old.form != o.form:
			list = append(list, o.change(Changed, old.sql, o.sql))
		}
	}
	return list
}

// orders are the imperatives of changes.
var orders = map[string]string{Added: "add", Removed: "remove", Changed: "change"}

func (o *object) change(what, before, after string) Change {
	c := Change{Change: what, Type: o.kind, Name: o.name, Before: before, After: after}
	c.Text = fmt.Sprintf("%s the %s %s", orders[what], o.kind, quoted(o.name))
	if o.kind != KindView {
		c.Table = o.table
		c.Text += " on " + quoted(o.table)
	}
	return c
}

func (t *table) removed() Change {
	return Change{
		Change: Removed, Type: KindTable, Name: t.name, Before: t.sql,
		Text: fmt.Sprintf("remove the table %s, with its rows", quoted(t.name)),
	}
}

// changes returns the changes from an older form of the table, nil for none, to t.
func (t *table) changes(old *table) []Change {
	switch {
	case old == nil:
		return []Change{{Change: Added, Type: KindTable, Name: t.name, After: t.sql, Text: "add the table " + quoted(t.name)}}
	case t.virtual != old.virtual || t.virtual && t.form != old.form:
		return []Change{{
			Change: Changed, Type: KindTable, Name: t.name, Before: old.sql, After: t.sql,
			Text: "change the table " + quoted(t.name),
		}}
	case t.virtual:
		return nil
	}
	var list []Change
	for _, c := range old.columns {
		if t.column(c.name) == nil {
			list = append(list, Change{
				Change: Removed, Type: KindColumn, Table: t.name, Name: c.name, Before: c.text,
				Text: "remove the column " + t.nameOf(c) + c.withValues(),
			})
		}
	}
	for _, c := range t.columns {
		if change, differs := t.columnChange(old.column(c.name), c); differs {
			list = append(list, change)
		}
	}
	for _, r := range without(old.rules, t.rules) {
		list = append(list, t.ruleChange(Removed, r))
	}
	for _, r := range without(t.rules, old.rules) {
		list = append(list, t.ruleChange(Added, r))
	}
	return list
}

func (t *table) nameOf(c *column) string { return quoted(t.name) + "." + quoted(c.name) }

func (c *column) withValues() string {
	if c.generated {
		return ""
	}
	return ", with its values"
}

func (t *table) ruleChange(what string, r rule) Change {
	change := Change{Change: what, Type: KindRule, Table: t.name, Name: r.text}
	if change.After = r.text; what == Removed {
		change.Before, change.After = r.text, ""
	}
	change.Text = fmt.Sprintf("%s %s %s %s", orders[what], r.text, map[string]string{Added: "to", Removed: "from"}[what], quoted(t.name))
	return change
}

// without returns the rules of a that b lacks.
func without(a, b []rule) []rule {
	left := map[string]int{}
	for _, r := range b {
		left[r.form]++
	}
	var list []rule
	for _, r := range a {
		if left[r.form]--; left[r.form] < 0 {
			list = append(list, r)
		}
	}
	return list
}

// columnChange returns the change from an older form of a column, nil for none.
func (t *table) columnChange(old, c *column) (Change, bool) {
	change := Change{Type: KindColumn, Table: t.name, Name: c.name, After: c.text}
	if old == nil {
		change.Change, change.Text = Added, "add the column "+t.nameOf(c)
		return change, true
	}
	change.Before = old.text
	if old.name != c.name {
		change.Change = Renamed
		change.Text = fmt.Sprintf("rename the column %s to %s", t.nameOf(old), quoted(c.name))
		if old.facts == c.facts {
			return change, true
		}
	}
	if old.facts == c.facts {
		return change, false
	}
	change.Change = Changed
	change.Text = fmt.Sprintf("change the column %s: %s", t.nameOf(c), strings.Join(factChanges(old, c), ", "))
	return change, true
}

func factChanges(old, c *column) []string {
	var list []string
	for i := range c.facts {
		before, after := old.fact(i), c.fact(i)
		switch {
		case old.facts[i] == c.facts[i]:
		case before == "":
			list = append(list, after+" is added")
		case after == "":
			list = append(list, before+" is removed")
		default:
			list = append(list, before+" becomes "+after)
		}
	}
	return list
}

// fact returns a fact as an author would write it.
func (c *column) fact(i int) string {
	switch i {
	case factType:
		if c.kind == "" {
			return "no type"
		}
		return strings.ToUpper(c.kind)
	case factDefault:
		if !c.hasDefault {
			return ""
		}
		return "DEFAULT " + oneLine(c.defaultValue)
	case factGenerated:
		return c.facts[i]
	default:
		return strings.ToUpper(c.facts[i])
	}
}

// Reordered returns the tables with the same columns in another order, which is not a difference: an added column comes
// last.
func Reordered(from, to *Schema) []string {
	var list []string
	for _, t := range to.tables {
		old := from.table(t.name)
		if old == nil || t.virtual || len(t.columns) != len(old.columns) {
			continue
		}
		equal := slices.EqualFunc(t.columns, old.columns, func(a, b *column) bool { return dbfile.SameName(a.name, b.name) })
		has := func(c *column) bool { return old.column(c.name) == nil }
		if !equal && !slices.ContainsFunc(t.columns, has) {
			list = append(list, t.name)
		}
	}
	return list
}
