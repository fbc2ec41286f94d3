package migrate

import (
	"slices"
	"strings"
)

// The kinds of a [Check].
const (
	CheckNotNull = "not null"
	CheckUnique  = "unique"
	CheckIndex   = "index"
)

// Check is a promise about rows that were there before a run, which SQLite held them to, or an index that it sorted them
// into. While it does, nobody else writes.
type Check struct {
	Kind    string // one of the Check constants
	Table   string // after the run
	Columns []string
	Index   string // its name; "" for NOT NULL
	Rows    int64  // of the table before the run
}

// checks compares the tables before the run and after it.
func (a *account) checks() ([]Check, error) {
	var list []Check
	for _, o := range a.w.before {
		to, same := a.successor(o)
		if to == nil || to.virtual || a.rows[o.origin] == 0 {
			continue
		}
		for _, c := range to.columns {
			origin := c.name
			if same {
				origin = o.originOf(c.name)
			}
			if before, there := o.shape.column(origin); there && c.notNull && !before.notNull {
				list = append(list, Check{Kind: CheckNotNull, Table: to.name, Columns: []string{c.name}, Rows: a.rows[o.origin]})
			}
		}
		built, err := a.indexes(o, to, same)
		if err != nil {
			return nil, err
		}
		list = append(list, built...)
	}
	return list, nil
}

// indexes lists those that the run built over a table.
func (a *account) indexes(o *object, to *tableShape, same bool) (list []Check, err error) {
	const query = `SELECT l.name, l."unique", l.origin, (SELECT group_concat(name, char(10)) FROM pragma_index_info(l.name, l.schema))
		FROM (SELECT *, ? AS schema FROM pragma_index_list(?, ?)) AS l ORDER BY l.seq DESC`
	type index struct {
		name, origin string
		unique       bool
		columns      string
	}
	read := func(schema, table string) (found []index, err error) {
		rows, err := a.db.QueryContext(a.ctx, query, schema, table, schema)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var i index
			var columns *string // NULL for those of expressions alone
			if err := rows.Scan(&i.name, &i.unique, &i.origin, &columns); err != nil {
				return nil, err
			}
			if columns != nil {
				i.columns = *columns
			}
			found = append(found, i)
		}
		return found, rows.Err()
	}
	before, err := read("was", o.origin)
	if err != nil {
		return nil, err
	}
	after, err := read("main", to.name)
	for _, i := range after {
		stays := slices.ContainsFunc(before, func(b index) bool {
			return b.columns == i.columns && b.unique == i.unique && (b.name == i.name || b.origin != "c" && b.origin == i.origin)
		})
		kind := CheckIndex
		if i.unique {
			kind = CheckUnique
		}
		if !stays || !same && i.origin == "c" {
			list = append(list, Check{kind, to.name, strings.Split(i.columns, "\n"), i.name, a.rows[o.origin]})
		}
	}
	return list, err
}
