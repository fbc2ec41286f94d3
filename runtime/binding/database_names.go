package binding

import (
	"context"
	"encoding/json"
)

// This file names what is in a database, for what is said of names that are not in it.

// Tables are the tables and views of the author's own, in the order they were made, each with its columns. It
// is empty when they cannot be read.
func (d *Database) Tables(ctx context.Context) (names []string, columns map[string][]string) {
	const all = `SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
		WHERE s.type IN ('table', 'view') AND s.name NOT LIKE '\_%' ESCAPE '\' AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY s.rowid, c.cid`
	text, err := d.query(ctx, query{SQL: all}, shapeRaw, "")
	var rows [][2]string
	if err != nil || json.Unmarshal(text, &rows) != nil {
		return nil, nil
	}
	columns = map[string][]string{}
	for _, row := range rows {
		table, column := row[0], row[1]
		if columns[table] == nil {
			names = append(names, table)
		}
		columns[table] = append(columns[table], column)
	}
	return names, columns
}
