package migrate

import (
	"context"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// tableShape is a table of the author as SQLite describes it.
type tableShape struct {
	name                  string
	virtual, withoutRowid bool
	columns               []shapeColumn // also generated ones, which hold no values of their own
}

type shapeColumn struct {
	name, affinity string
	notNull        bool
	key            int  // its place in the primary key, from 1; 0 for none
	rowid          bool // it is another name of the rowid, as INTEGER PRIMARY KEY is
	generated      bool
}

// key returns the columns of the primary key in their order.
func (t *tableShape) key() []shapeColumn {
	var list []shapeColumn
	for _, c := range t.columns {
		if c.key > 0 {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b shapeColumn) int { return a.key - b.key })
	return list
}

func (t *tableShape) column(name string) (shapeColumn, bool) {
	for _, c := range t.columns {
		if dbfile.SameName(c.name, name) {
			return c, true
		}
	}
	return shapeColumn{}, false
}

// readShapes describes the tables of the author in a schema of the connection, by name.
func readShapes(ctx context.Context, db querier, schema string) ([]*tableShape, error) {
	rows, err := db.QueryContext(ctx, `SELECT t.name, t.type = 'virtual', t.wr, c.name, c.type, c."notnull", c.pk, c.hidden > 1
		FROM pragma_table_list AS t, pragma_table_xinfo(t.name, t.schema) AS c
		WHERE t.schema = ? AND t.type IN ('table', 'virtual') AND `+authorTable+` AND c.hidden <> 1 ORDER BY t.name, c.cid`, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*tableShape
	for rows.Next() {
		var t tableShape
		var c shapeColumn
		var declared string
		if err := rows.Scan(&t.name, &t.virtual, &t.withoutRowid, &c.name, &declared, &c.notNull, &c.key, &c.generated); err != nil {
			return nil, err
		}
		c.affinity = affinity(declared)
		c.rowid = strings.EqualFold(declared, "INTEGER") && c.key == 1 && !t.withoutRowid
		if n := len(list); n == 0 || list[n-1].name != t.name {
			list = append(list, &t)
		}
		last := list[len(list)-1]
		last.columns = append(last.columns, c)
	}
	return list, rows.Err()
}

// authorTable is the condition for a table t of the author, not of SQLite or the platform.
const authorTable = `t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT LIKE '\_pages\_%' ESCAPE '\'`

// columnNames lists the columns of a table in their order.
func columnNames(ctx context.Context, db querier, table string) ([]string, error) {
	return readStrings(ctx, db, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", table)
}

func readStrings(ctx context.Context, db querier, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// affinity returns the affinity of a declared type (https://www.sqlite.org/datatype3.html, section 3.1).
func affinity(declared string) string {
	declared = strings.ToUpper(declared)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(declared, w) })
	}
	switch {
	case has("INT"):
		return "INTEGER"
	case has("CHAR", "CLOB", "TEXT"):
		return "TEXT"
	case declared == "" || has("BLOB"):
		return "BLOB"
	case has("REAL", "FLOA", "DOUB"): //nolint:misspell // SQLite looks for these four letters
		return "REAL"
	default:
		return "NUMERIC"
	}
}
