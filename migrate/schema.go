package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// Object is one table, index, view or trigger.
type Object struct {
	Kind  string // "table", "index", "view" or "trigger"
	Name  string
	Table string // the table of an index or trigger, otherwise Name
	SQL   string // the statement that creates it
}

// Change is one difference between two schemas.
type Change struct {
	Kind, Name    string
	Before, After string // the statements; "" for none
}

// readSchema returns the objects of migrations, without those of SQLite and of the platform and without shadow
// tables. Tables come with their indexes, then views, then triggers, each by name, so that two databases with the
// same objects have the same list.
func readSchema(ctx context.Context, db querier) ([]Object, error) {
	rows, err := db.QueryContext(ctx, `SELECT type, name, tbl_name, sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND tbl_name NOT LIKE '\_pages\_%' ESCAPE '\'
		AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
		ORDER BY type = 'trigger', type = 'view', tbl_name, type = 'index', name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Object
	for rows.Next() {
		var o Object
		if err := rows.Scan(&o.Kind, &o.Name, &o.Table, &o.SQL); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, rows.Err()
}

// diff returns the differences of two schemas, ignoring space and comments.
func diff(before, after []Object) []Change {
	type key struct{ kind, name string }
	there := map[key]string{}
	for _, o := range after {
		there[key{o.Kind, o.Name}] = o.SQL
	}
	var changes []Change
	for _, o := range before {
		k := key{o.Kind, o.Name}
		sql, ok := there[k]
		delete(there, k)
		if !ok || normalizeSQL(sql) != normalizeSQL(o.SQL) {
			changes = append(changes, Change{o.Kind, o.Name, o.SQL, sql})
		}
	}
	for _, o := range after {
		if _, added := there[key{o.Kind, o.Name}]; added {
			changes = append(changes, Change{o.Kind, o.Name, "", o.SQL})
		}
	}
	return changes
}

// normalizeSQL returns a statement with one space between its tokens.
func normalizeSQL(sql string) string {
	var out strings.Builder
	src := []byte(sql)
	for pos := 0; pos < len(src); {
		t := sqltext.Next(src, pos)
		pos = t.End
		if t.Kind != sqltext.Space {
			out.Write(src[t.Start:t.End])
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// Schema returns the schema of the database as a script that creates it. It fails while migrations are pending, since
// the schema would not match the folder's files.
func (m *Migrator) Schema(ctx context.Context) (string, error) {
	status, err := m.Status(ctx)
	if err == nil {
		err = status.Refusal()
	}
	if err != nil {
		return "", err
	}
	if n := len(status.Pending); n > 0 {
		left := status.Pending[0].Name + " is not applied yet"
		if n > 1 {
			left = fmt.Sprintf("%s and %d more are not applied yet", status.Pending[0].Name, n-1)
		}
		return "", refuse(CodePending, left, "run pages migrate first")
	}
	objects, err := readSchema(ctx, m.db)
	if err != nil {
		return "", databaseError("the schema cannot be read", err)
	}
	var out strings.Builder
	for i, o := range objects {
		if i > 0 && o.Kind != "index" {
			out.WriteByte('\n')
		}
		out.WriteString(Ended(o.SQL))
	}
	return out.String(), nil
}

// Ended returns a statement of the schema with its semicolon, outside a comment at its end.
func Ended(sql string) string {
	if last := sql[strings.LastIndexByte(sql, '\n')+1:]; strings.Contains(last, "--") {
		return sql + "\n;\n"
	}
	return sql + ";\n"
}

// rowCounts counts the rows of each table.
func rowCounts(ctx context.Context, db *sql.DB, objects []Object) (map[string]int64, error) {
	counts := map[string]int64{}
	for _, o := range objects {
		if o.Kind != "table" {
			continue
		}
		var n int64
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+dbfile.QuoteName(o.Name)).Scan(&n); err != nil {
			return nil, databaseError("the rows cannot be counted", err)
		}
		counts[o.Name] = n
	}
	return counts, nil
}

// RowCount is the number of rows of a table before and after a run; 0 if the table does not exist.
type RowCount struct {
	Table         string
	Before, After int64
}

func pairCounts(before, after map[string]int64) []RowCount {
	var list []RowCount
	for name, n := range before {
		list = append(list, RowCount{name, n, after[name]})
	}
	for name, n := range after {
		if _, old := before[name]; !old {
			list = append(list, RowCount{name, 0, n})
		}
	}
	slices.SortFunc(list, func(a, b RowCount) int { return strings.Compare(a.Table, b.Table) })
	return list
}
