package migrate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file compares the values of rows that exist before and after a run. A value is lost when its column was dropped, when
// it became NULL, when another type or a shorter text cut it, or when an UPDATE gave one value to all rows whose values
// differed. Other changes of values are the purpose of an UPDATE, not a loss.

// columnPair is a column from before the run and the column with its values now.
type columnPair struct {
	was, is string
	kept    bool  // it is the same column, under any name
	blamed  *step // the step that dropped or replaced the column

	changed, nulled int64 // rows with another value, and with none, not counting empty texts
}

func (a *account) values(p pair) error {
	var compared, gone []columnPair
	putBack := p.same && p.writes > 0 && len(a.deletions(p.object, p.object)) > 0
	for _, c := range p.shape.columns {
		if c.generated {
			continue
		}
		pair := columnPair{was: c.name}
		pair.is, pair.kept, pair.blamed = p.trace(c.name)
		if other, _ := p.to.column(pair.is); other.generated {
			continue
		}
		switch {
		case pair.is == "":
			gone = append(gone, pair)
		case !pair.kept || putBack || a.updated(p.object, c.name):
			compared = append(compared, pair)
		}
	}
	if err := a.changed(p, compared); err != nil {
		return err
	}
	if err := a.goneColumns(p, gone); err != nil {
		return err
	}
	for _, c := range compared {
		if c.changed == 0 {
			continue
		}
		if err := a.changedColumn(p, c); err != nil {
			return err
		}
	}
	return nil
}

func (a *account) updated(o *object, column string) bool {
	return slices.ContainsFunc(a.steps[o], func(s *step) bool { return s.updates[o][column] })
}

// changed counts the values of each column that changed or became NULL.
func (a *account) changed(p pair, columns []columnPair) error {
	if len(columns) == 0 || p.values == "" {
		return nil
	}
	var terms []string
	var into []any
	for i, c := range columns {
		terms = append(terms, "count(CASE WHEN "+differs(c)+" THEN 1 END)", "count(CASE WHEN "+nulled(c)+" THEN 1 END)")
		into = append(into, &columns[i].changed, &columns[i].nulled)
	}
	query := "SELECT " + strings.Join(terms, ", ") + p.matched(p.values)
	touched, args := a.touched(p, columns)
	return a.db.QueryRowContext(a.ctx, query+touched, args...).Scan(into...)
}

// nulled is the condition that a column had a value other than an empty text, and is NULL now.
func nulled(c columnPair) string {
	return "n." + dbfile.QuoteName(c.is) + " IS NULL AND o." + dbfile.QuoteName(c.was) + " <> ''"
}

// differs is the condition that the value of a column changed, byte by byte; 1 and 1.0 are the same.
func differs(c columnPair) string {
	was := dbfile.QuoteName(c.was)
	return "o." + was + " IS NOT NULL AND (+o." + was + " COLLATE BINARY) IS NOT (+n." + dbfile.QuoteName(c.is) + ")"
}

// fewRows is the number of rows up to which rows are compared one by one instead of the whole table.
const fewRows = 20_000

// touched restricts a comparison to the rows that were updated, when they are few.
func (a *account) touched(p pair, columns []columnPair) (condition string, args []any) {
	rowid := rowidOf(p.shape)
	if !p.same || rowid == "" || p.shape.withoutRowid || p.writes > 0 ||
		slices.ContainsFunc(columns, func(c columnPair) bool { return !c.kept }) {
		return "", nil
	}
	var all rowset
	for _, s := range a.steps[p.object] {
		all.addAll(&s.effects[p.object].updated)
		if all.members > fewRows {
			return "", nil
		}
	}
	text, err := json.Marshal(all.list())
	if err != nil {
		return "", nil
	}
	return " AND o." + rowid + " IN (SELECT value FROM json_each(?))", []any{string(text)}
}

// goneColumns counts the values of dropped columns, unless a new column has them all.
func (a *account) goneColumns(p pair, gone []columnPair) error {
	for _, c := range gone {
		column := "o." + dbfile.QuoteName(c.was)
		query := "SELECT count(" + column + ") FROM was." + dbfile.QuoteName(p.origin) + " AS o"
		if p.values != "" && (!p.same || len(a.deletions(p.object, p.object)) > 0) {
			query = "SELECT count(" + column + ")" + p.matched(p.values)
		}
		n, err := a.count(query)
		if err != nil {
			return err
		}
		moved, err := a.moved(p, c.was)
		if err != nil {
			return err
		}
		if !moved {
			a.add(c.blamed, p.object, c.was, LossColumn, n)
		}
	}
	return nil
}

// moved reports whether a new column holds all values of a dropped one.
func (a *account) moved(p pair, gone string) (bool, error) {
	if p.values == "" {
		return false, nil
	}
	old := map[string]bool{}
	for _, c := range p.shape.columns {
		name, _, _ := p.trace(c.name)
		old[name] = true
	}
	for _, c := range p.to.columns {
		if old[c.name] || c.generated {
			continue
		}
		n, err := a.count("SELECT EXISTS (SELECT 1" + p.matched(p.values) + " WHERE " + differs(columnPair{was: gone, is: c.name}) + ")")
		if err != nil || n == 0 {
			return n == 0, err
		}
	}
	return false, nil
}

// changedColumn classifies the changes to the values of a column, and blames a statement. It reads all rows only if necessary.
func (a *account) changedColumn(p pair, c columnPair) error {
	if a.actions[p.origin]["SET DEFAULT "+dbfile.FoldName(c.was)] && c.kept && a.nestedOnly(p.object, c.was) {
		return a.blameValues(p, c, differs(c), c.changed, LossSetNull)
	}
	uniform, err := a.uniform(p, c)
	if err != nil {
		return err
	}
	if uniform {
		return a.blameValues(p, c, differs(c), c.changed, LossUpdate)
	}
	if err := a.blameValues(p, c, nulled(c), c.nulled, ""); err != nil || c.changed == c.nulled {
		return err
	}
	how := cutSQL("o."+dbfile.QuoteName(c.was), "n."+dbfile.QuoteName(c.is))
	touched, args := a.touched(p, []columnPair{c})
	var other, cut int64
	err = a.db.QueryRowContext(a.ctx, "SELECT EXISTS (SELECT 1"+p.matched(p.values)+touched+" WHERE "+how+" = 2)", args...).Scan(&other)
	if err != nil || other != 0 {
		return err
	}
	err = a.db.QueryRowContext(a.ctx, "SELECT count(*)"+p.matched(p.values)+touched+" WHERE "+how+" = 1", args...).Scan(&cut)
	if err != nil {
		return err
	}
	return a.blameValues(p, c, how+" = 1", cut, LossNarrow)
}

// uniform reports whether a column now has one value in all rows, and had several before.
func (a *account) uniform(p pair, c columnPair) (bool, error) {
	rows := p.matched(p.values)
	differ := func(column string) string {
		return "EXISTS (SELECT 1" + rows + " WHERE " + column + " IS NOT (SELECT " + column + rows + " LIMIT 1))"
	}
	was, is := "o."+dbfile.QuoteName(c.was), "n."+dbfile.QuoteName(c.is)
	n, err := a.count("SELECT CASE WHEN " + differ(is) + " OR (SELECT " + is + rows + " LIMIT 1) IS NULL THEN 0 ELSE (SELECT ifnull(min(" +
		was + ") <> max(" + was + "), 0)" + rows + ") END")
	return n == 1, err
}

// nestedOnly reports whether only triggers and keys updated a column.
func (a *account) nestedOnly(o *object, column string) bool {
	return !slices.ContainsFunc(a.steps[o], func(s *step) bool { return s.updates[o][column] && s.effects[o].updatedDirect })
}

// blameValues adds rows to the last statement that changed their values.
func (a *account) blameValues(p pair, c columnPair, condition string, rows int64, cause string) error {
	if rows == 0 {
		return nil
	}
	if !c.kept {
		if cause != LossNarrow {
			cause = LossColumn
		}
		a.add(c.blamed, p.object, c.was, cause, rows)
		return nil
	}
	var suspects []*step
	for _, s := range a.steps[p.object] {
		if e := s.effects[p.object]; s.updates[p.object][c.was] || e.wrote > 0 {
			suspects = append(suspects, s)
		}
	}
	rowid := rowidOf(p.shape)
	if len(suspects) == 1 || rowid == "" || p.shape.withoutRowid {
		last := suspects[len(suspects)-1]
		a.add(last, p.object, c.was, a.causeOf(p.object, last, c.was, cause), rows)
		return nil
	}
	slices.Reverse(suspects)
	updated, inserted := make([]*rowset, len(suspects)), make([]*rowset, len(suspects))
	for i, s := range suspects {
		e := s.effects[p.object]
		updated[i], inserted[i] = &rowset{}, &e.inserted
		if s.updates[p.object][c.was] {
			updated[i] = &e.updated
		}
	}
	updates, inserts := newRowIndex(updated), newRowIndex(inserted)
	touched, args := a.touched(p, []columnPair{c})
	found, err := a.db.QueryContext(a.ctx, "SELECT o."+rowid+", n."+rowidOf(p.to)+p.matched(p.values)+touched+" WHERE "+condition, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var before, now int64
		if err := found.Scan(&before, &now); err != nil {
			return err
		}
		changed := []int{updates.first(now), updates.first(before), inserts.first(now)}
		changed = slices.DeleteFunc(changed, func(i int) bool { return i < 0 })
		if len(changed) > 0 {
			s := suspects[slices.Min(changed)]
			a.add(s, p.object, c.was, a.causeOf(p.object, s, c.was, cause), 1)
		}
	}
	return found.Err()
}

// causeOf returns the cause of a value that a statement changed, if it is not known yet.
func (a *account) causeOf(o *object, s *step, column, cause string) string {
	e := s.effects[o]
	setNull := a.actions[o.origin]["SET NULL "+dbfile.FoldName(column)] || a.actions[o.origin]["SET DEFAULT "+dbfile.FoldName(column)]
	switch {
	case cause == LossNarrow:
		return cause
	case e.updatedNested && !e.updatedDirect && setNull:
		return LossSetNull
	case e.updatedNested && !e.updatedDirect:
		return LossTrigger
	case e.wrote > 0 && !s.updates[o][column]:
		return LossReplace
	default:
		return LossUpdate
	}
}

// cutSQL is 1 when another type or a shorter text cut a value, 0 for the same value in another form, such as
// 42 for '42', and 2 for a different value.
func cutSQL(was, is string) string {
	const form = `CASE
WHEN %[1]s IS NULL OR %[2]s IS NULL OR (+%[1]s COLLATE BINARY) IS (+%[2]s) THEN 0
WHEN typeof(%[1]s) IN ('text', 'blob') AND typeof(%[1]s) = typeof(%[2]s) THEN
	CASE WHEN typeof(%[1]s) = 'text' AND rtrim(%[1]s) = %[2]s COLLATE BINARY THEN 0
	WHEN length(%[2]s) < length(%[1]s) AND substr(%[1]s, 1, length(%[2]s)) = %[2]s COLLATE BINARY THEN 1 ELSE 2 END
WHEN typeof(%[1]s) IN ('integer', 'real') AND typeof(%[2]s) IN ('integer', 'real') THEN
	CASE WHEN typeof(%[1]s) <> typeof(%[2]s) AND (abs(%[2]s - %[1]s) < 1 OR CAST(%[1]s AS INTEGER) = %[2]s) THEN 1 ELSE 2 END
WHEN typeof(%[1]s) = 'text' AND typeof(%[2]s) IN ('integer', 'real') THEN
	CASE WHEN %[1]s = '' THEN 0 WHEN CAST(%[2]s AS NUMERIC) = %[1]s AND %[1]s NOT GLOB '0[0-9]*' THEN 0
	WHEN %[2]s IN (CAST(%[1]s AS INTEGER), CAST(%[1]s AS REAL)) THEN 1 ELSE 2 END
WHEN CAST(%[1]s AS TEXT) = CAST(%[2]s AS TEXT) THEN 0
WHEN typeof(%[1]s) = 'blob' AND typeof(%[2]s) IN ('integer', 'real') AND %[2]s IN (CAST(%[1]s AS INTEGER), CAST(%[1]s AS REAL)) THEN 1
WHEN typeof(%[2]s) = 'text' AND substr(CAST(%[1]s AS TEXT), 1, length(%[2]s)) = %[2]s THEN 1
ELSE 2 END`
	return "(" + fmt.Sprintf(form, was, is) + ")"
}
