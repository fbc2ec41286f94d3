package schemadiff_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/schemadiff"
)

// TestRandomSchemas changes random schemas of filled databases by the script, and looks at each row.
func TestRandomSchemas(t *testing.T) {
	t.Run("some", func(t *testing.T) { randomSchemas(t, 0, 30) })
	t.Run("all", func(t *testing.T) {
		testmachine.Long(t)
		randomSchemas(t, 30, 330)
	})
}

func randomSchemas(t *testing.T, from, to uint64) {
	for seed := from; seed < to; seed++ {
		t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			old := newWorld(r)
			wanted, told := old.clone(), &edit{values: map[string]string{}}
			renamed := map[string]string{}
			for range 1 + r.IntN(8) {
				wanted.change(told, renamed)
			}
			told.finish(old, wanted, renamed)
			p := pair{from: old.sql(), to: wanted.sql(), rows: old.rows(), told: *told, renamed: renamed}
			p.run(t)
		})
	}
}

// finish drops renames of removed tables and columns, and gives values to columns that need them.
func (e *edit) finish(old, now *world, renamed map[string]string) {
	find := func(w *world, name string) *tbl {
		for _, t := range w.tables {
			if t.name == name {
				return t
			}
		}
		return nil
	}
	e.renames = slices.DeleteFunc(e.renames, func(r string) bool {
		name, to, _ := strings.Cut(r, "=")
		table, column, isColumn := strings.Cut(name, ".")
		if !isColumn {
			return find(now, to) == nil || find(old, name) == nil
		}
		t := find(now, table)
		return t == nil || !slices.ContainsFunc(t.cols, func(c *col) bool { return c.name == to }) || column == ""
	})
	for _, t := range now.tables {
		before := find(old, t.name)
		if from := renamed[t.name]; from != "" {
			before = find(old, from)
		}
		if before == nil || t.fts {
			continue
		}
		for _, c := range t.cols {
			name := c.name
			if from := renamed[t.name+"."+name]; from != "" {
				name = from
			}
			at := slices.IndexFunc(before.cols, func(o *col) bool { return o.name == name })
			if c.notNull && c.value == "" && c.generated == "" && (at < 0 || !before.cols[at].notNull) {
				e.values[t.name+"."+c.name] = map[string]string{"INTEGER": "42", "REAL": "2.5", "BLOB": "x'07'"}[c.kind]
				if c.kind == "TEXT" {
					e.values[t.name+"."+c.name] = "'new ' || uid"
				}
			}
		}
	}
}

// pair is two schemas, rows for the first, and the author's options.
type pair struct {
	from, to string
	rows     []string
	told     edit
	renamed  map[string]string // names of now, "table" or "table.column", with those of before
}

func (p pair) options() (o schemadiff.Options) {
	for _, r := range p.told.renames {
		name, to, _ := strings.Cut(r, "=")
		table, column, _ := strings.Cut(name, ".")
		o.Renames = append(o.Renames, schemadiff.Rename{Table: table, Column: column, To: to})
	}
	for name, value := range p.told.values {
		table, column, _ := strings.Cut(name, ".")
		o.Values = append(o.Values, schemadiff.Value{Table: table, Column: column, SQL: value})
	}
	return o
}

// schemaOf reads the schema that a script makes.
func schemaOf(t *testing.T, script string, use func(*sql.DB, *schemadiff.Schema)) {
	t.Helper()
	m := migrate.New(nil, nil, migrate.Options{More: []migrate.File{{Name: "schema.sql", SQL: []byte(script)}}})
	err := m.OnScratch(t.Context(), func(ctx context.Context, db *sql.DB) error {
		s, err := schemadiff.Read(ctx, db)
		if err == nil {
			use(db, s)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
}

// write returns the script of a pair.
func (p pair) write(t *testing.T) (made schemadiff.Script) {
	t.Helper()
	schemaOf(t, p.to, func(_ *sql.DB, wanted *schemadiff.Schema) {
		schemaOf(t, p.from, func(db *sql.DB, _ *schemadiff.Schema) {
			var err error
			if made, err = schemadiff.Write(t.Context(), db, wanted, p.options()); err != nil {
				t.Fatalf("%v\n--- from\n%s--- to\n%s", err, p.from, p.to)
			}
		})
	})
	return made
}

// run applies the script of a pair to a filled database.
func (p pair) run(t *testing.T) {
	t.Helper()
	made := p.write(t)
	db := filled(t, p)
	before := dump(t, db)
	files := fstest.MapFS{"1.sql": {Data: []byte(p.from)}, "2.sql": {Data: []byte(made.SQL)}}
	if _, err := migrate.New(db, files, migrate.Options{}).Apply(t.Context()); err != nil {
		t.Fatalf("%v\n--- from\n%s--- to\n%s--- script\n%s", err, p.from, p.to, made.SQL)
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\n--- from\n%s--- to\n%s--- script\n%s", append(args, p.from, p.to, made.SQL)...)
	}
	now, err := schemadiff.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	schemaOf(t, p.to, func(_ *sql.DB, wanted *schemadiff.Schema) {
		for _, c := range schemadiff.Compare(now, wanted) {
			fail("left to do: %s\n%s\n%s", c.Text, c.Before, c.After)
		}
	})
	for _, check := range []string{"PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
		rows := query(t, db, check)
		if len(rows) > 1 || len(rows) == 1 && fmt.Sprint(rows[0]) != "[ok]" {
			fail("%s: %v", check, rows)
		}
	}
	after := dump(t, db)
	for name, table := range after {
		from := name
		if old := p.renamed[name]; old != "" {
			from = old
		}
		if old, there := before[from]; there {
			if diff := table.lacks(old, func(column string) string {
				if was := p.renamed[name+"."+column]; was != "" {
					return was
				}
				return column
			}); diff != "" {
				fail("table %s: %s", name, diff)
			}
		}
	}
	for _, r := range query(t, db, "SELECT name FROM sqlite_schema WHERE type = 'view'") {
		query(t, db, "SELECT * FROM "+quote(fmt.Sprint(r[0])))
	}
}

func filled(t *testing.T, p pair) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "site.db")+"?_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	files := fstest.MapFS{"1.sql": {Data: []byte(p.from)}}
	if _, err := migrate.New(db, files, migrate.Options{}).Apply(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, p.from)
	}
	for _, row := range p.rows {
		_, err := db.ExecContext(t.Context(), row)
		isInsert := strings.HasPrefix(row, "INSERT") // others may meet RESTRICT
		if err != nil && (isInsert || !strings.Contains(err.Error(), "FOREIGN KEY")) {
			t.Fatalf("%v\n%s\n%s", err, row, p.from)
		}
	}
	return db
}

func query(t *testing.T, db *sql.DB, text string) (all [][]any) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer rows.Close()
	names, err := rows.Columns()
	for err == nil && rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		err = rows.Scan(into...)
		all = append(all, values)
	}
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return all
}

// content is the content of a table.
type content struct {
	columns  []string                  // without generated ones
	rows     map[string]map[string]any // by uid or id
	rowid    bool                      // each row has its rowid under ""
	sequence any
}

func dump(t *testing.T, db *sql.DB) map[string]content {
	t.Helper()
	all := map[string]content{}
	sequences := map[string]any{}
	if len(query(t, db, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'")) > 0 {
		for _, r := range query(t, db, "SELECT name, seq FROM sqlite_sequence") {
			sequences[fmt.Sprint(r[0])] = r[1]
		}
	}
	for _, r := range query(t, db, "SELECT name, wr FROM pragma_table_list WHERE type IN ('table', 'virtual') AND name NOT LIKE 'sqlite%' "+
		"AND name NOT LIKE '\\_pages%' ESCAPE '\\'") {
		name := fmt.Sprint(r[0])
		c := content{rows: map[string]map[string]any{}, rowid: r[1] == int64(0), sequence: sequences[name]}
		for _, column := range query(t, db, "SELECT name FROM pragma_table_xinfo("+sqlText(name)+") WHERE hidden = 0") {
			c.columns = append(c.columns, fmt.Sprint(column[0]))
		}
		list := "uid"
		switch {
		case slices.Contains(c.columns, "uid"):
		case slices.Contains(c.columns, "id"):
			list = "id"
		default: // a table between two others
			list = quote(c.columns[0]) + " || ' ' || " + quote(c.columns[1])
		}
		if c.rowid {
			list += ", rowid"
		}
		for _, column := range c.columns {
			list += ", " + quote(column)
		}
		for _, row := range query(t, db, "SELECT "+list+" FROM "+quote(name)) {
			values := map[string]any{}
			uid, rest := fmt.Sprint(row[0]), row[1:]
			if c.rowid {
				values[""], rest = rest[0], rest[1:]
			}
			for i, column := range c.columns {
				values[column] = rest[i]
			}
			c.rows[uid] = values
		}
		all[name] = c
	}
	return all
}

// lacks describes the losses from an older table; "" for none.
func (c content) lacks(old content, nameBefore func(string) string) string {
	if len(c.rows) != len(old.rows) {
		return fmt.Sprintf("%d rows, before it had %d", len(c.rows), len(old.rows))
	}
	if old.sequence != nil && c.sequence != nil && old.sequence != c.sequence {
		return fmt.Sprintf("AUTOINCREMENT goes on at %v, before at %v", c.sequence, old.sequence)
	}
	for uid, row := range c.rows {
		was, there := old.rows[uid]
		if !there {
			return "a row that was not there: " + uid
		}
		if c.rowid && old.rowid && row[""] != was[""] {
			return fmt.Sprintf("row %s has the rowid %v, before it was %v", uid, row[""], was[""])
		}
		for _, column := range c.columns {
			before := nameBefore(column)
			if !slices.Contains(old.columns, before) {
				continue
			}
			if was[before] != nil && !sameValue(row[column], was[before]) {
				return fmt.Sprintf("row %s: %s is %v, before it was %v", uid, column, row[column], was[before])
			}
		}
	}
	return ""
}

func sameValue(a, b any) bool {
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	}
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	if x == y {
		return true
	}
	p, err1 := strconv.ParseFloat(x, 64)
	q, err2 := strconv.ParseFloat(y, 64)
	return err1 == nil && err2 == nil && p == q
}
