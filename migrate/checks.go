package migrate

import (
	"go/token"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// The kinds of a [Check].
const (
	CheckNotNull = "not null"
	CheckUnique  = "unique"
	CheckIndex   = "index"
)

// Check is a constraint that SQLite checked on the rows from before a run, or an index that it built over them. Other
// writers wait for it.
type Check struct {
	Kind    string // one of the Check constants
	Table   string // after the run
	Columns []string
	Index   string // its name; "" for NOT NULL
	Rows    int64  // of the table before the run

	Statement string         // the statement that asks for it, in one line, at most 200 characters
	Name      string         // the migration file
	Pos       token.Position // file and line of the statement
}

// by adds the statement that asks for a check.
func (c Check) by(s location) Check {
	if s.file.Name != "" {
		c.Statement, c.Name = oneLine(s.file.SQL[s.span.start:s.span.end]), s.file.Name
		c.Pos = position(s.file.path(), s.file.SQL, s.span.start)
	}
	return c
}

// maker returns the statement that created a table; the zero location for a table from before the run.
func (o *object) maker() location {
	if o.madeBy == nil {
		return location{}
	}
	return location{o.madeBy.file, o.madeBy.span}
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
				check := Check{Kind: CheckNotNull, Table: to.name, Columns: []string{c.name}, Rows: a.rows[o.origin]}
				list = append(list, check.by(o.last().maker()))
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

// indexes lists the indexes that the run built over a table.
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
			var columns *string // NULL for an index of expressions only
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
			check := Check{Kind: kind, Table: to.name, Columns: strings.Split(i.columns, "\n"), Index: i.name, Rows: a.rows[o.origin]}
			asks := o.last().maker()
			if i.origin == "c" {
				asks = a.w.indexed[dbfile.FoldName(i.name)]
			}
			list = append(list, check.by(asks))
		}
	}
	return list, err
}
