package migrate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file finds the losses of a run. It compares the database after the run with the copy from before, attached as "was", and blames the
// statements that a watcher followed. A renamed table is the same table; a table that is created under the name of a dropped one replaces
// it. A row is the same row if its rowid is the same, or its primary key after rows were restored or copied; without a primary key, its
// values.

// account is the comparison of one run.
type account struct {
	ctx     context.Context
	db      *sql.DB
	w       *watcher
	rows    map[string]int64       // of each table before the run
	now     map[string]*tableShape // by folded name
	actions map[string]map[string]bool
	parents map[string][]string // by table, the tables whose deleted rows delete its rows; folded names
	steps   map[*object][]*step // that changed rows of a table, in order
	lost    map[lossKey]int64
	counted []Notice // for tables whose rows could not be matched
}

type lossKey struct {
	step          *step
	table         *object
	column, cause string
}

// newAccount begins a comparison.
func newAccount(ctx context.Context, db *sql.DB, w *watcher, rows map[string]int64) (*account, error) {
	a := &account{
		ctx: ctx, db: db, w: w, rows: rows, now: map[string]*tableShape{}, actions: map[string]map[string]bool{},
		parents: map[string][]string{},
		steps:   map[*object][]*step{}, lost: map[lossKey]int64{},
	}
	shapes, err := readShapes(ctx, db, "main")
	if err != nil {
		return nil, err
	}
	for _, s := range shapes {
		a.now[dbfile.FoldName(s.name)] = s
	}
	for _, s := range w.steps {
		for o := range s.effects {
			a.steps[o] = append(a.steps[o], s)
		}
	}
	return a, a.readActions()
}

// readActions reads the actions of foreign keys on the rows of each table when their parents are deleted, and to columns of them
// when those are updated, too.
func (a *account) readActions() error {
	rows, err := a.db.QueryContext(a.ctx, `SELECT t.name, k."table", k."from", k.on_delete, k.on_update FROM pragma_table_list AS t,
		pragma_foreign_key_list(t.name, t.schema) AS k WHERE t.schema = 'was'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, parent, column, deleted, updated string
		if err := rows.Scan(&table, &parent, &column, &deleted, &updated); err != nil {
			return err
		}
		if deleted == "CASCADE" {
			a.parents[table] = append(a.parents[table], dbfile.FoldName(parent))
		}
		if a.actions[table] == nil {
			a.actions[table] = map[string]bool{}
		}
		a.actions[table][deleted+" "+dbfile.FoldName(column)] = true
		a.actions[table][updated+" "+dbfile.FoldName(column)] = true
	}
	return rows.Err()
}

// compare compares all tables.
func (a *account) compare() error {
	for _, o := range a.w.before {
		if a.rows[o.origin] == 0 {
			continue
		}
		if err := a.table(o); err != nil {
			return err
		}
	}
	return nil
}

func (a *account) add(s *step, o *object, column, cause string, rows int64) {
	if rows > 0 && s != nil {
		a.lost[lossKey{s, o, column, cause}] += rows
	}
}

// last returns the table that replaced o in the end: one that still exists, or the one that was dropped last.
func (o *object) last() *object {
	for o.dropped != nil && o.heir != nil {
		o = o.heir
	}
	return o
}

// successor returns the table that holds the rows of o now, and whether it is o itself; nil for none.
func (a *account) successor(o *object) (to *tableShape, same bool) {
	last := o.last()
	if last.dropped != nil {
		return nil, false
	}
	return a.now[dbfile.FoldName(last.name)], last == o
}

// trace follows a column from before the run to its present name, "" for a dropped one. kept means that it is the same
// column of the same table, not a replacement; blamed is the statement that dropped or replaced it.
func (o *object) trace(column string) (name string, kept bool, blamed *step) {
	kept, name = true, column
	for {
		next := o.nameOf(name)
		if next == "" {
			kept, blamed = false, cmp.Or(o.gone[name], blamed)
			if !slices.Contains(o.columns, trackedColumn{"", name}) {
				return "", false, blamed
			}
			next = name
		}
		name = next
		if o.dropped == nil || o.heir == nil {
			return name, kept, blamed
		}
		kept, blamed, o = false, o.dropped, o.heir
	}
}

func (a *account) table(o *object) error {
	to, same := a.successor(o)
	switch {
	case to == nil:
		a.whole(o)
		return nil
	case o.shape.virtual || to.virtual:
		return a.virtual(o, to)
	case same && len(a.steps[o]) == 0 && len(o.gone) == 0:
		return nil
	}
	p, err := a.pair(o, to, same)
	if err != nil {
		return err
	}
	if same {
		err = a.deleted(&p)
	} else {
		err = a.remade(p)
	}
	if err == nil {
		err = a.values(p)
	}
	return err
}

// whole handles a table that was dropped with all its rows.
func (a *account) whole(o *object) {
	left := a.rows[o.origin]
	for _, d := range a.deletions(o, o) {
		a.add(d.step, o, "", d.cause, min(d.rows, left))
		left -= min(d.rows, left)
	}
	a.drops(o, left)
}

// drops blames DROP TABLE for rows: of the table itself, or of a replacement with fewer rows.
func (a *account) drops(o *object, left int64) {
	for x := o; x.dropped != nil && x.heir != nil && x.heir.dropped != nil; x = x.heir {
		n := min(left, max(x.held-x.heir.held, 0))
		a.add(x.dropped, o, "", LossDrop, n)
		left -= n
	}
	last := o.dropped
	for x := o; x.dropped != nil; x = x.heir {
		if last = x.dropped; x.heir == nil {
			break
		}
	}
	a.add(last, o, "", LossDrop, left)
}

// deletion holds the rows from before the run that one statement deleted from a table.
type deletion struct {
	step  *step
	cause string
	rows  int64
	ids   *rowset
	again *rowset // ids of rows of the run
}

// deletions lists the deletions from a table and its predecessors.
func (a *account) deletions(o, first *object) (list []deletion) {
	for _, s := range a.steps[o] {
		e := s.effects[o]
		direct := LossReplace
		if s.deletes[o] {
			direct = LossDelete
		}
		nested := LossTrigger
		if a.cascaded(s, o, first) {
			nested = LossCascade
		}
		list = append(list,
			deletion{s, direct, e.direct.members + e.deletedDirect, &e.direct, &e.againDirect},
			deletion{s, nested, e.nested.members + e.deletedNested, &e.nested, &e.againNested})
	}
	return slices.DeleteFunc(list, func(d deletion) bool { return d.rows+d.again.members == 0 })
}

// cascaded reports whether a statement deleted rows whose foreign keys delete rows of o. Otherwise a trigger did it.
func (a *account) cascaded(s *step, o, first *object) bool {
	parent := func(p *object) bool {
		return slices.ContainsFunc(append(slices.Clone(p.names), p.name, p.origin), func(name string) bool {
			return slices.Contains(a.parents[first.origin], dbfile.FoldName(name))
		})
	}
	if s.dropping != nil && parent(s.dropping) {
		return true
	}
	for p, e := range s.effects {
		deleted := e.direct.members + e.againDirect.members + e.deletedDirect
		if p != o { // otherwise a trigger deleted only rows of o
			deleted += e.nested.members + e.againNested.members + e.deletedNested
		}
		if deleted > 0 && parent(p) {
			return true
		}
	}
	return false
}

// virtual handles a table of fts5 or rtree, for which only the number of rows is known.
func (a *account) virtual(o *object, to *tableShape) error {
	var n int64
	if err := a.db.QueryRowContext(a.ctx, "SELECT count(*) FROM main."+dbfile.QuoteName(to.name)).Scan(&n); err != nil {
		return err
	}
	var blamed, matters *step
	cause := LossDelete
	for _, s := range a.w.steps {
		if s.deletes[o] || s.inserts[o] {
			blamed = s
		}
		if s.deletes[o] {
			matters = s
		}
	}
	if o.dropped != nil {
		blamed, cause = o.dropped, LossDrop
		matters = blamed
	}
	a.noteCounted(o, matters)
	a.add(blamed, o, "", cause, a.rows[o.origin]-n)
	return nil
}

// noteCounted warns that the loss of a step is not exact, because the rows of the table could be counted but not matched. A nil
// step gets no warning.
func (a *account) noteCounted(o *object, s *step) {
	if s == nil {
		return
	}
	a.counted = append(a.counted, Notice{
		Name: s.file.Name, Pos: position(s.file.path(), s.file.SQL, s.span.start), Code: CodeLossCounted,
		Msg: fmt.Sprintf("the rows of %q are only counted, not compared one by one: it may lose more than the number shown", o.origin),
	})
}

// pair is a table from before the run, o in SQL, and the table with its rows now, n.
type pair struct {
	*object
	to     *tableShape
	same   bool
	key    string // the condition that rows have the same primary key; "" without a key to compare
	row    string // key, and where rows came from elsewhere all values too
	values string // the condition that compares values; "" where rows have no identity
	others rowset // rows that are lost, though another has their key
}

func (a *account) pair(o *object, to *tableShape, same bool) (pair, error) {
	p := pair{object: o, to: to, same: same}
	var conditions []string
	for _, c := range o.shape.key() {
		name, _, _ := o.trace(c.name)
		other, there := to.column(name)
		if !there || other.key == 0 || other.affinity != c.affinity {
			conditions = nil
			break
		}
		conditions = append(conditions, "n."+dbfile.QuoteName(other.name)+" IS o."+dbfile.QuoteName(c.name))
	}
	if len(conditions) > 0 && len(conditions) == len(to.key()) {
		p.key = strings.Join(conditions, " AND ")
		p.row = p.key
		if !a.copied(p) {
			p.row += p.sameValues()
		}
	}
	was, is := rowidOf(o.shape), rowidOf(to)
	row := "n." + is + " = o." + was
	if was == "" || is == "" {
		row = ""
	}
	var err error
	switch keyed := len(o.shape.key())+len(to.key()) > 0; {
	case !same && !keyed && row != "":
		var aligned bool
		aligned, err = a.aligned(o, to, was, is)
		if aligned {
			p.values = row
		}
	case !same:
		p.values = p.row
	case o.keyMoved:
	case o.shape.withoutRowid || o.writes > 0 && len(a.deletions(o, o)) > 0 && p.key != "":
		if !a.keyUpdated(o) {
			p.values = p.key
		}
	default:
		p.values = row
	}
	return p, err
}

// copied reports whether the run copied rows from the old table to the new one, perhaps through others. Then rows with the same primary key
// are the same, even with other values.
func (a *account) copied(p pair) bool {
	last := p.last()
	from := map[*object]bool{p.object: true}
	reads := func(s *step) bool {
		for o := range s.reads {
			if from[o] {
				return true
			}
		}
		return false
	}
	for _, s := range a.w.steps {
		if !reads(s) {
			continue
		}
		for o := range s.inserts {
			if o == last {
				return true
			}
			from[o] = true
		}
		for _, o := range a.w.made {
			if o.madeBy == s {
				if o == last {
					return true
				}
				from[o] = true
			}
		}
	}
	return false
}

// replaced reports whether every deletion from a table also inserted a replacement.
func (a *account) replaced(o *object) bool {
	return !slices.ContainsFunc(a.deletions(o, o), func(d deletion) bool { return d.cause != LossReplace })
}

// sameValues is the condition that all values are the same.
func (p pair) sameValues() string {
	var out strings.Builder
	for _, c := range p.shape.columns {
		name, _, _ := p.trace(c.name)
		if other, there := p.to.column(name); there && !c.generated && !other.generated {
			out.WriteString(" AND n." + dbfile.QuoteName(other.name) + " IS o." + dbfile.QuoteName(c.name))
		}
	}
	return out.String()
}

// aligned reports whether two tables without primary keys have the same rowids.
func (a *account) aligned(o *object, to *tableShape, was, is string) (bool, error) {
	const ids = "(SELECT count(*) || ' ' || ifnull(min(%[1]s), '') || ' ' || ifnull(max(%[1]s), '') FROM %[2]s)"
	n, err := a.count("SELECT " + fmt.Sprintf(ids, was, "was."+dbfile.QuoteName(o.origin)) + " = " +
		fmt.Sprintf(ids, is, "main."+dbfile.QuoteName(to.name)))
	return n == 1, err
}

// keyUpdated reports whether an UPDATE may have changed the primary key of rows.
func (a *account) keyUpdated(o *object) bool {
	return slices.ContainsFunc(a.steps[o], func(s *step) bool {
		return slices.ContainsFunc(o.shape.key(), func(c shapeColumn) bool { return s.updates[o][c.name] })
	})
}

// rowidOf returns a name for the rowid of a table; "" for none.
func rowidOf(t *tableShape) string {
	if t.withoutRowid {
		return ""
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if _, taken := t.column(name); !taken {
			return name
		}
	}
	return ""
}

// matched joins the rows from before and after the run.
func (p pair) matched(on string) string {
	if p.others.members > 0 && p.others.members <= fewRows {
		ids := strings.ReplaceAll(fmt.Sprint(p.others.list()), " ", ", ")
		on += " AND o." + rowidOf(p.shape) + " NOT IN (" + strings.Trim(ids, "[]") + ")"
	}
	return " FROM was." + dbfile.QuoteName(p.origin) + " AS o CROSS JOIN main." + dbfile.QuoteName(p.to.name) + " AS n ON " + on
}

// missing selects rows without a counterpart that meets a condition in the new table.
func (p pair) missing(what, condition string) string {
	return "SELECT " + what + " FROM was." + dbfile.QuoteName(p.origin) + " AS o WHERE NOT " + p.exists(condition)
}

func (p pair) exists(condition string) string {
	return "EXISTS (SELECT 1 FROM main." + dbfile.QuoteName(p.to.name) + " AS n WHERE " + condition + ")"
}

func (a *account) count(query string) (n int64, err error) {
	err = a.db.QueryRowContext(a.ctx, query).Scan(&n)
	return n, err
}

// eachRow calls fn with each rowid that a query selects, and whether its second column is true.
func (a *account) eachRow(query string, fn func(id int64, more bool)) error {
	rows, err := a.db.QueryContext(a.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var more bool
		if err := rows.Scan(&id, &more); err != nil {
			return err
		}
		fn(id, more)
	}
	return rows.Err()
}

// deleted handles a table that still exists: it lost the rows that statements deleted and the run did not restore.
func (a *account) deleted(p *pair) error {
	deletions := a.deletions(p.object, p.object)
	switch rowid := rowidOf(p.shape); {
	case len(deletions) == 0:
		return nil
	case p.writes == 0:
		a.spread(p.object, deletions, math.MaxInt64)
		return nil
	case rowid == "" || p.shape.withoutRowid:
		left := int64(math.MaxInt64)
		if p.key == "" || a.keyUpdated(p.object) {
			a.noteCounted(p.object, deletions[len(deletions)-1].step)
		}
		if p.key != "" && !a.keyUpdated(p.object) {
			var err error
			condition := p.row
			if a.replaced(p.object) {
				condition = p.key
			}
			if left, err = a.count(p.missing("count(*)", condition)); err != nil {
				return err
			}
		}
		a.spread(p.object, deletions, left)
		return nil
	case p.key != "" && p.row == p.key && len(deletions) == 1 && deletions[0].rows == a.rows[p.origin]:
		lost, err := a.count(p.missing("count(*)", p.row)) // one statement deleted all rows
		a.add(deletions[0].step, p.object, "", deletions[0].cause, lost)
		return err
	case p.key != "":
		rows := newDeletedRows(p.object, deletions)
		return a.eachRow(p.missing("o."+rowid+", "+p.exists(p.key), p.row), func(id int64, hasKey bool) {
			if d := rows.last(id); d != nil && !(hasKey && d.cause == LossReplace) {
				a.add(d.step, p.object, "", d.cause, 1)
				if hasKey {
					p.others.add(id)
				}
			}
		})
	default:
		return a.notPutBack(*p, deletions, rowid)
	}
}

// spread blames deletions, in order, for at most a number of rows, and returns the number left.
func (a *account) spread(o *object, deletions []deletion, left int64) int64 {
	for _, d := range deletions {
		n := min(d.rows, left)
		a.add(d.step, o, "", d.cause, n)
		left -= n
	}
	return left
}

// notPutBack is deleted for a table without a primary key: a row counts as restored if a row with its values was inserted.
func (a *account) notPutBack(p pair, deletions []deletion, rowid string) error {
	var was, is []string
	for _, c := range p.shape.columns {
		if name := p.nameOf(c.name); name != "" && !c.generated {
			was, is = append(was, dbfile.QuoteName(c.name)), append(is, dbfile.QuoteName(name))
		}
	}
	back := map[[16]byte]int{}
	err := a.eachValues("SELECT "+rowidOf(p.to)+", "+strings.Join(is, ", ")+" FROM main."+dbfile.QuoteName(p.to.name),
		p.inserted.has, func(_ int64, values [16]byte) { back[values]++ })
	if err != nil {
		return err
	}
	rows := newDeletedRows(p.object, deletions)
	return a.eachValues("SELECT "+rowid+", "+strings.Join(was, ", ")+" FROM was."+dbfile.QuoteName(p.origin),
		rows.has, func(id int64, values [16]byte) {
			if back[values] > 0 {
				back[values]--
				return
			}
			if d := rows.last(id); d != nil {
				a.add(d.step, p.object, "", d.cause, 1)
			}
		})
}

// eachValues calls fn with the rowid and a digest of the other values of the rows of a query that wanted has.
func (a *account) eachValues(query string, wanted func(id int64) bool, fn func(id int64, values [16]byte)) error {
	rows, err := a.db.QueryContext(a.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		id, _ := values[0].(int64)
		if !wanted(id) {
			continue
		}
		digest := sha256.New()
		for _, v := range values[1:] {
			fmt.Fprintf(digest, "%T %v\x00", v, v)
		}
		fn(id, [16]byte(digest.Sum(nil)[:16]))
	}
	return rows.Err()
}

// remade handles a rebuilt table: it lost the rows that were not copied.
func (a *account) remade(p pair) error {
	deletions := a.deletions(p.object, p.object)
	if p.key == "" {
		if p.values == "" {
			a.noteCounted(p.object, p.dropped)
		}
		n, err := a.count("SELECT count(*) FROM main." + dbfile.QuoteName(p.to.name))
		if err == nil {
			a.drops(p.object, a.spread(p.object, deletions, max(a.rows[p.origin]-n, 0)))
		}
		return err
	}
	kept, err := a.count("SELECT count(*)" + p.matched(p.row))
	if err != nil || kept == a.rows[p.origin] {
		return err
	}
	rowid := rowidOf(p.shape)
	if rowid == "" {
		a.drops(p.object, a.spread(p.object, deletions, a.rows[p.origin]-kept))
		return nil
	}
	// A row deleted from the copy was a row from before the run too, where its key is its rowid.
	if slices.ContainsFunc(p.to.key(), func(c shapeColumn) bool { return c.rowid }) {
		for x := p.heir; x != nil; x = x.heir {
			deletions = append(deletions, a.deletions(x, p.object)...)
		}
	}
	var dropped int64
	rows := newDeletedRows(p.object, deletions)
	err = a.eachRow(p.missing("o."+rowid+", 0", p.row), func(id int64, _ bool) {
		if d := rows.last(id); d != nil {
			a.add(d.step, p.object, "", d.cause, 1)
		} else {
			dropped++
		}
	})
	a.drops(p.object, dropped)
	return err
}
