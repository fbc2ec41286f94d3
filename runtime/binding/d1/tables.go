package d1

import (
	"context"
	"encoding/json"
)

// This file names what is in a database, for what is said of names that are not in it.

// allNames asks for the tables and views of the author's own, in the order they were made, each with its columns.
const allNames = `SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
	WHERE s.type IN ('table', 'view') AND s.name NOT LIKE '\_pages\_%' ESCAPE '\'
	AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY s.rowid, c.cid`

// Tables are the tables and views of a database, in the order they were made.
type Tables struct {
	Names   []string
	Columns []string // of all of them
}

func (t *Tables) add(table, column string) {
	if n := len(t.Names); n == 0 || t.Names[n-1] != table {
		t.Names = append(t.Names, table)
	}
	t.Columns = append(t.Columns, column)
}

// Tables are those of the author's own. They are empty when they cannot be read.
func (d *Database) Tables(ctx context.Context) Tables {
	text, err := d.query(ctx, query{SQL: allNames}, shapeRaw, "")
	var rows [][2]string
	if err != nil || json.Unmarshal(text.bytes(), &rows) != nil {
		return Tables{}
	}
	var t Tables
	for _, row := range rows {
		t.add(row[0], row[1])
	}
	return t
}

// Tables are those of the author's own. They are empty when they cannot be read.
func (c *Console) Tables(ctx context.Context) Tables {
	var t Tables
	_, err := c.Run(ctx, allNames, nil, nil, func(v []any) error {
		table, _ := v[0].(string)
		column, _ := v[1].(string)
		t.add(table, column)
		return nil
	})
	if err != nil {
		return Tables{}
	}
	return t
}
