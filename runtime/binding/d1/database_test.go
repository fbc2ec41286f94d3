package d1

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

func testDSN(path string) string {
	return "file:" + path +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate"
}

func openSQL(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", testDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func newDatabase(t testing.TB, o Options) *Database {
	t.Helper()
	d := New(openSQL(t, filepath.Join(t.TempDir(), "site.db")), o)
	t.Cleanup(func() { d.Close() })
	return d
}

// askSQL returns the JSON of q in a shape, or the error's text.
func askSQL(t testing.TB, d *Database, shape resultShape, text string, params ...any) string {
	t.Helper()
	out, err := d.query(t.Context(), Query{text, params}, shape, "")
	if err != nil {
		return err.Error()
	}
	if !json.Valid(out.bytes()) {
		t.Errorf("%s: not JSON: %s", text, out.bytes())
	}
	return string(out.bytes())
}

type sqlMeta struct {
	lastRow, size, read, written int
	changed                      bool
}

// askMeta returns the meta of a D1Result.
func askMeta(t testing.TB, d *Database, text string) sqlMeta {
	t.Helper()
	var m sqlMeta
	var duration, changes float64
	var rows json.RawMessage
	out := askSQL(t, d, shapeAll, text)
	if err := json.Unmarshal([]byte(out), &[]any{
		&rows, &duration, &changes, &m.lastRow, &m.changed, &m.size, &m.read, &m.written,
	}); err != nil {
		t.Fatalf("%s: %s: %v", text, out, err)
	}
	return m
}

func setupSQL(t testing.TB, d *Database, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := d.query(t.Context(), Query{SQL: s}, shapeAll, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDatabaseValues(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE v(i INTEGER, r REAL, s TEXT, b BLOB, at DATETIME, on_ BOOLEAN, any)")
	tests := []struct {
		sql    string
		params []any
		want   string
	}{
		{"SELECT typeof(?), ?, typeof(?)", []any{42.0, 42.0, "x"}, `[["real",42,"text"]]`},
		{
			"SELECT 1, 1.5, 'a', NULL, x'00ff', 9223372036854775807, 9e999, -9e999", nil,
			`[[1,1.5,"a",null,[0,255],9223372036854775807,null,null]]`,
		},
		{
			"INSERT INTO v VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *, typeof(i), typeof(any)",
			[]any{1.0, 1.0, 1.0, []byte{1, 2}, "2024-01-02 03:04:05", 1.0, 7.0},
			`[[1,1,"1.0",[1,2],"2024-01-02 03:04:05",1,7,"integer","real"]]`,
		},
		{"SELECT at, on_ FROM v", nil, `[["2024-01-02 03:04:05",1]]`},
		{"SELECT ?", []any{"\x00\"\\\n\u2028é\xff"}, "[[\"\\u0000\\\"\\\\\\u000a\u2028é\uFFFD\"]]"},
		{"SELECT CAST(x'ff41' AS TEXT), '', x''", nil, "[[\"\uFFFDA\",\"\",[]]]"},
		{"SELECT CAST(x'fffee28241' AS TEXT), CAST(x'f09f98' AS TEXT)", nil, "[[\"\uFFFD\uFFFD\uFFFDA\",\"\uFFFD\"]]"},
		{"SELECT ?, ?, ?", []any{nil, "", []byte{}}, `[[null,"",[]]]`},
		{"SELECT ?2, ?1", []any{1.0, 2.0}, `[[2,1]]`},
		{"SELECT 1 WHERE 0", nil, `[]`},
		{"SELECT 1; SELECT 2; ", nil, `[[2]]`},
		{"/* ; */ SELECT 1 /* ; */ -- ;", nil, `[[1]]`},
		{"INSERT INTO v(i) VALUES (9); SELECT i FROM v WHERE i = ?", []any{9.0}, `[[9]]`},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			if got := askSQL(t, d, shapeRaw, tt.sql, tt.params...); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.sql, got, tt.want)
			}
		})
	}
}

func TestDatabaseShapes(t *testing.T) {
	d := newDatabase(t, Options{})
	const two = "SELECT 1 AS a, 2 AS b, 3 AS a UNION ALL SELECT 4, 5, 6"
	tests := []struct {
		shape resultShape
		want  string
	}{
		{shapeRaw, `[[1,2,3],[4,5,6]]`},
		{shapeRawNamed, `[["a","b","a"],[1,2,3],[4,5,6]]`},
		{shapeFirst, `{"a":1,"b":2,"a":3}`}, // JSON.parse keeps the last
		{shapeNone, `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if got := askSQL(t, d, tt.shape, two); got != tt.want {
				t.Errorf("shape %d: %s, want %s", tt.shape, got, tt.want)
			}
		})
	}
	if got := askSQL(t, d, shapeRawNamed, "SELECT 1 AS x WHERE 0"); got != `[["x"]]` {
		t.Error(got)
	}
	if got := askSQL(t, d, shapeFirst, "SELECT 1 WHERE 0"); got != "null" {
		t.Error(got)
	}
	for column, want := range map[string]string{"a": "3", "b": "2", "c": "Error: D1_COLUMN_NOTFOUND: Column not found (c)"} {
		out, err := d.query(t.Context(), Query{SQL: two}, shapeColumn, column)
		if got := string(out.bytes()); got != want && (err == nil || err.Error() != want) {
			t.Errorf("%s: %s, %v", column, got, err)
		}
	}
	setupSQL(t, d, "CREATE TABLE n(x)")
	if got := askSQL(t, d, shapeFirst, "INSERT INTO n VALUES (1), (2), (3) RETURNING x"); got != `{"x":1}` {
		t.Error(got)
	}
	if got := askSQL(t, d, shapeRaw, "SELECT count(*) FROM n"); got != `[[3]]` {
		t.Errorf("a write that first() cut short: %s", got)
	}
}

// TestDatabaseLongValues: a value written in pieces reads the same as one written at once.
func TestDatabaseLongValues(t *testing.T) {
	d := newDatabase(t, Options{})
	for _, s := range []string{
		strings.Repeat("x", jsonSpill), strings.Repeat("é", 300_000), "x" + strings.Repeat("😀", 200_000), strings.Repeat("\"\n\\", 100_000),
	} {
		var rows [][]string
		if err := json.Unmarshal([]byte(askSQL(t, d, shapeRaw, "SELECT ?, 'a' UNION ALL SELECT 'b', 'c'", s)), &rows); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 2 || rows[0][0] != s || rows[0][1] != "a" || rows[1][1] != "c" {
			t.Errorf("%.10q of %d bytes is not what it was", s, len(s))
		}
	}
	var blob [][][]int
	if err := json.Unmarshal([]byte(askSQL(t, d, shapeRaw, "SELECT CAST(? AS BLOB)", strings.Repeat("xyz", 100_000))), &blob); err != nil {
		t.Fatal(err)
	}
	if got := blob[0][0]; len(got) != 300_000 || got[jsonPiece] != int("xyz"[jsonPiece%3]) {
		t.Errorf("a BLOB of %d bytes", len(got))
	}
	ill := strings.Repeat("\xf0\x9f", 100_000)
	want, got := hostcall.AppendJSONString(nil, ill), jsonText{buffer: bufferOf(t.Context())}
	if err := got.writeString([]byte(ill)); err != nil {
		t.Fatal(err)
	}
	if whole, err := got.finish(nil); err != nil || string(whole.bytes()) != string(want) {
		t.Errorf("ill-formed text in pieces is another, %v", err)
	}
	if got := askSQL(
		t, d, shapeRaw, "SELECT ?", strings.Repeat("x", 5<<20),
	); !strings.Contains(got, "string or blob too big: SQLITE_TOOBIG") {
		t.Errorf("%.100s", got)
	}
}

func TestDatabaseMeta(t *testing.T) {
	clock := time.Unix(0, 0)
	d := newDatabase(t, Options{Now: func() time.Time { clock = clock.Add(1500 * time.Microsecond); return clock }})
	steps := []struct{ sql, want string }{
		{"CREATE TABLE a(id INTEGER PRIMARY KEY, x)", `],1.5,0,0,true,8192,1,0]`},
		{"INSERT INTO a(x) VALUES (1), (2)", `],1.5,2,2,true,8192,0,2]`},
		{"SELECT * FROM a", `],1.5,0,2,false,8192,2,0]`},
		{"DELETE FROM a WHERE id = 1", `],1.5,1,2,true,8192,`},
		{"UPDATE a SET x = 3 WHERE id = 99", `],1.5,0,2,false,8192,`},
	}
	for _, step := range steps {
		got := askSQL(t, d, shapeAll, step.sql)
		if !strings.Contains(got, step.want) {
			t.Errorf("%s\n got %s\nwant %s", step.sql, got, step.want)
		}
	}
	if got := askSQL(t, d, shapeAll, "SELECT id, x FROM a"); !strings.HasPrefix(got, `[[{"id":2,"x":2}],`) {
		t.Error(got)
	}
}

// The counts are those that production's engine gave for the same statements.
func TestDatabaseCost(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(
		t, d, "CREATE TABLE m(id INTEGER PRIMARY KEY, x, y)", "CREATE TABLE k(a TEXT PRIMARY KEY, b) WITHOUT ROWID",
		"CREATE TABLE u(a TEXT PRIMARY KEY, b UNIQUE)",
	)
	insert := "INSERT INTO m(x) VALUES (1), (2), (3), (4), (5), (6), (7), (8)"
	steps := []struct {
		sql           string
		read, written int
	}{
		{insert, 0, 8},
		{"SELECT 1", 0, 0},
		{"VALUES (1), (2)", 0, 0},
		{"SELECT * FROM m", 8, 0},
		{"SELECT * FROM m LIMIT 2", 2, 0},
		{"SELECT * FROM m WHERE id = 3", 1, 0},
		{"SELECT * FROM m WHERE id = 99", 1, 0},
		{"SELECT * FROM m WHERE x = 3", 8, 0},
		{"SELECT count(*) FROM m", 8, 0},
		{"SELECT max(x) FROM m", 8, 0},
		{"SELECT * FROM m ORDER BY x", 16, 0},
		{"SELECT * FROM json_each('[1,2,3]')", 3, 0},
		{"PRAGMA table_info(m)", 0, 0},
		{"UPDATE m SET x = 9 WHERE id = 1", 1, 1},
		{"UPDATE m SET x = 9 WHERE id = 99", 1, 0},
		{"UPDATE m SET x = x + 1", 8, 8},
		{"CREATE INDEX mx ON m(x)", -1, 0},
		{insert, 0, 16}, // the index is known to a statement that was compiled before it
		{"UPDATE m SET y = 1 WHERE id = 1", 1, 1},
		{"UPDATE m SET x = 70 WHERE id = 2", 1, 2},
		{"CREATE INDEX my ON m(id, y)", -1, 0},
		{"INSERT INTO m(x) VALUES (8)", 0, 3},
		{"UPDATE m SET id = 100 WHERE id = 2", -1, 3},
		{"DELETE FROM m WHERE id = 1", 1, 1},
		{"INSERT INTO k VALUES ('a', 1), ('b', 2)", 0, 2},
		{"UPDATE k SET b = 3 WHERE a = 'a'", 1, 1},
		{"INSERT INTO u VALUES ('a', 1)", 0, 3},
	}
	for _, step := range steps {
		got := askMeta(t, d, step.sql)
		if step.read >= 0 && got.read != step.read || got.written != step.written {
			t.Errorf("%s: %d read, %d written, want %d and %d", step.sql, got.read, got.written, step.read, step.written)
		}
	}
}

func TestDatabaseErrors(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE a(x UNIQUE NOT NULL)", "INSERT INTO a VALUES (1)")
	tests := []struct {
		sql    string
		params []any
		want   string
	}{
		{"SELEC 1", nil, `near "SELEC": syntax error at offset 0: SQLITE_ERROR`},
		{"SELECT * FROM nope", nil, "no such table: nope: SQLITE_ERROR"},
		{"INSERT INTO a VALUES (1)", nil, "UNIQUE constraint failed: a.x: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)"},
		{"INSERT INTO a VALUES (NULL)", nil, "NOT NULL constraint failed: a.x: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)"},
		{"SELECT ?, ?", []any{1.0}, "Wrong number of parameter bindings for SQL query."},
		{"SELECT ?", []any{1.0, 2.0}, "Wrong number of parameter bindings for SQL query."},
		{
			"SELECT ?; SELECT ?",
			[]any{1.0},
			"When executing multiple SQL statements in a single call, only the last statement can have parameters.",
		},
		{"", nil, "No SQL statements detected."},
		{"-- nothing\n", nil, "No SQL statements detected."},
		{";", nil, "SQL code did not contain a statement."},
		{"/* nothing */", nil, "SQL code did not contain a statement."},
		{"SELECT 1; -- one", nil, "SQL code did not contain a statement."},
		{"SELECT json_pretty('[]')", nil, `not authorized to use function: json_pretty at offset 7: SQLITE_ERROR`},
		{"SELECT 1\x00, 2", nil, "the SQL has a NUL character: SQLITE_ERROR"},
		{"SELECT '" + strings.Repeat("x", 100_000) + "'", nil, "statement too long: SQLITE_TOOBIG"},
		{"SELECT length(randomblob(5000000))", nil, "string or blob too big: SQLITE_TOOBIG"},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			_, err := d.query(t.Context(), Query{tt.sql, tt.params}, shapeAll, "")
			var e *engine.Error
			if !errors.As(err, &e) {
				t.Errorf("%.40s: %v", tt.sql, err)
				return
			}
			cause, ok := e.Props[0].Value.(*engine.Error)
			if e.Message != "D1_ERROR: "+tt.want || !ok || cause.Message != tt.want {
				t.Errorf("%.40s\n got %s\nwant D1_ERROR: %s", tt.sql, e.Message, tt.want)
			}
		})
	}
	if got := askSQL(t, d, shapeRaw, "INSERT INTO a VALUES (5); SELEC"); !strings.Contains(got, "syntax error") {
		t.Error(got)
	}
	if got := askSQL(t, d, shapeRaw, "SELECT x FROM a"); got != "[[1]]" {
		t.Errorf("the first of two statements stayed: %s", got)
	}
}

func TestDatabaseSandbox(t *testing.T) {
	dir := t.TempDir()
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE a(x)")
	if err := d.withConnection(t.Context(), func(context.Context) error {
		return d.handle.runTrusted("CREATE TABLE _pages_migrations(name)")
	}); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"ATTACH '" + dir + "/x.db' AS x", "VACUUM INTO '" + dir + "/x.db'", "VACUUM", "DETACH main",
		"BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "END", "SELECT 1; COMMIT",
		"PRAGMA journal_mode=DELETE", "PRAGMA writable_schema=1", "PRAGMA synchronous=OFF",
		"PRAGMA temp_store_directory='/'", "PRAGMA page_size=512",
		"PRAGMA query_only=0", "PRAGMA page_count", "PRAGMA user_version=1", "SELECT * FROM pragma_database_list",
		"CREATE TEMP TABLE t(x)", "CREATE TEMP VIEW t AS SELECT 1", "CREATE VIRTUAL TABLE t USING dbstat",
		"CREATE VIRTUAL TABLE t USING fts4(x)",
		"SELECT load_extension('x')", "SELECT sqlite_version()", "SELECT sqlite_compileoption_get(0)",
		"SELECT writefile('" + dir + "/x','y')",
		"INSERT INTO _pages_migrations VALUES ('x')", "DELETE FROM _pages_migrations", "DROP TABLE _PAGES_migrations",
		"ALTER TABLE _pages_migrations ADD y",
		"CREATE TRIGGER t AFTER INSERT ON _pages_migrations BEGIN SELECT 1; END", "CREATE TABLE _pages_x(y)",
		"INSERT INTO sqlite_schema VALUES (1,2,3,4,5)", "DELETE FROM sqlite_schema",
		"ALTER TABLE a RENAME TO _pages_x", "ALTER TABLE a RENAME TO/**/[_Pages_x]",
		"ALTER TABLE a RENAME TO \"_cf_x\"", "CREATE TABLE _cf_x(y)",
		"SELECT * FROM sqlite_dbpage", "SELECT * FROM dbstat", "UPDATE sqlite_dbpage SET data = x'00'",
		"SELECT * FROM main.sqlite_dbpage('main')",
		"SELECT soundex('a')", "SELECT sqlite_offset(x) FROM a", "SELECT unistr('a')", "SELECT if(1, 2, 3)", "SELECT geopoly_area('x')",
		"PRAGMA table_info", "PRAGMA foreign_keys=maybe", "PRAGMA temp.table_info(a)", "PRAGMA optimize(all)", "PRAGMA index_list",
	} {
		t.Run(statement, func(t *testing.T) {
			if got := askSQL(t, d, shapeRaw, statement); !strings.HasPrefix(got, "Error: D1_ERROR: ") {
				t.Errorf("%s: %s", statement, got)
			}
		})
	}
	for _, statement := range []string{
		"PRAGMA table_info(a)", "PRAGMA foreign_keys=OFF", "PRAGMA foreign_keys='no'", "PRAGMA quick_check(a)",
		"PRAGMA quick_check(1)", "PRAGMA optimize(0x10002)",
		"CREATE TABLE my_pages_x(y)", "ALTER TABLE my_pages_x ADD COLUMN the_cf_y",
		"ALTER TABLE my_pages_x RENAME TO plain", "ALTER TABLE plain RENAME COLUMN y TO z",
		"PRAGMA defer_foreign_keys=ON", "PRAGMA page_size", "PRAGMA optimize",
		"SELECT * FROM pragma_table_list", "CREATE VIRTUAL TABLE f USING fts5(x)", "INSERT INTO f VALUES ('hello')",
		"SELECT * FROM f('hello')",
		"SELECT json_extract('{\"a\":1}', '$.a'), sqrt(2), date('now'), row_number() OVER () FROM a", "SELECT * FROM sqlite_schema",
	} {
		t.Run(statement, func(t *testing.T) {
			if got := askSQL(t, d, shapeRaw, statement); strings.HasPrefix(got, "Error: ") {
				t.Errorf("%s: %s", statement, got)
			}
		})
	}
	if got := askSQL(t, d, shapeRaw, "PRAGMA foreign_keys"); got != "[[1]]" {
		t.Errorf("a setting outlived its query: %s", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("a statement made %v", left)
	}
}

// A failed statement leaves no trace, with any conflict clause.
func TestDatabaseFails(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(
		t, d, "CREATE TABLE a(x UNIQUE)", "CREATE TABLE b(x)",
		"CREATE TRIGGER t BEFORE INSERT ON b WHEN new.x = 2 BEGIN SELECT RAISE(FAIL, 'no'); END",
	)
	for _, text := range []string{
		"INSERT OR FAIL INTO a VALUES (1), (2), (1)", "INSERT OR ROLLBACK INTO a VALUES (1), (1)",
		"INSERT OR ABORT INTO a VALUES (1), (1)", "INSERT INTO b VALUES (1), (2)",
	} {
		t.Run(text, func(t *testing.T) {
			if got := askSQL(t, d, shapeRaw, text); !strings.Contains(got, "SQLITE_CONSTRAINT") {
				t.Errorf("%s: %s", text, got)
			}
			if got := askSQL(t, d, shapeRaw, "SELECT x FROM a UNION ALL SELECT x FROM b"); got != "[]" {
				t.Errorf("%s left %s", text, got)
			}
		})
	}
}

// A PRAGMA with more after it is inside a transaction, where foreign keys stay enforced.
func TestDatabaseForeignKeys(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE a(id INTEGER PRIMARY KEY)", "CREATE TABLE b(a REFERENCES a(id))")
	const refused = "Error: D1_ERROR: FOREIGN KEY constraint failed: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_FOREIGNKEY)"
	for text, want := range map[string]string{
		"PRAGMA foreign_keys=OFF; INSERT INTO b VALUES (1)":                                refused,
		"PRAGMA defer_foreign_keys=ON; INSERT INTO b VALUES (1)":                           refused,
		"PRAGMA defer_foreign_keys=ON; INSERT INTO b VALUES (2); INSERT INTO a VALUES (2)": "[]",
	} {
		if got := askSQL(t, d, shapeRaw, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if _, err := d.exec(t.Context(), "PRAGMA foreign_keys=OFF\nINSERT INTO b VALUES (1)"); err == nil {
		t.Error("exec went past a foreign key")
	}
	if got := askSQL(t, d, shapeRaw, "SELECT a FROM b"); got != "[[2]]" {
		t.Error(got)
	}
}

func TestDatabaseReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "project.db")
	writer := New(openSQL(t, path), Options{})
	defer writer.Close()
	setupSQL(t, writer, "CREATE TABLE a(x)", "INSERT INTO a VALUES (1)")
	reader := New(openSQL(t, path), Options{ReadOnly: true})
	defer reader.Close()
	for _, statement := range []string{
		"INSERT INTO a VALUES (2)", "CREATE TABLE b(x)", "DROP TABLE a", "SELECT 1; DELETE FROM a",
		"UPDATE a SET x = 2 RETURNING x",
	} {
		t.Run(statement, func(t *testing.T) {
			want := `Error: D1_ERROR: attempt to write a readonly database: the manifest gives this site "read" access only: ` +
				"SQLITE_READONLY"
			if got := askSQL(t, reader, shapeRaw, statement); got != want {
				t.Errorf("%s: %s", statement, got)
			}
		})
	}
	out, err := reader.batch(t.Context(), []Query{{SQL: "SELECT x FROM a"}, {SQL: "SELECT count(*) AS n FROM a"}})
	if err != nil || !strings.Contains(string(out.bytes()), `,[[{"n":1}],`) {
		t.Errorf("%s, %v", out.bytes(), err)
	}
}

func TestDatabaseBatch(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE a(x UNIQUE)")
	insert := func(x float64) Query { return Query{"INSERT INTO a VALUES (?)", []any{x}} }
	if _, err := d.batch(t.Context(), []Query{insert(1), insert(2), {SQL: "SELECT * FROM a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.batch(t.Context(), []Query{insert(3), insert(1)}); err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Errorf("got %v", err)
	}
	if _, err := d.batch(t.Context(), []Query{{SQL: "INSERT OR ROLLBACK INTO a VALUES (1)"}, insert(4)}); err == nil {
		t.Error("a batch went on after its transaction was gone")
	}
	if _, err := d.batch(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "No SQL statements detected.") {
		t.Errorf("got %v", err)
	}
	// Each is within the bound.
	large := slices.Repeat([]Query{{SQL: "SELECT hex(zeroblob(1900000)) FROM (VALUES (1), (2), (3), (4), (5))"}}, 5)
	if _, err := d.batch(t.Context(), append([]Query{insert(5)}, large...)); err == nil ||
		!strings.Contains(err.Error(), errResultSize.Error()) {
		t.Errorf("results of 95 MB: got %v", err)
	}
	if got := askSQL(t, d, shapeRaw, "SELECT x FROM a"); got != "[[1],[2]]" {
		t.Errorf("the table holds %s", got)
	}
}

func TestDatabaseExec(t *testing.T) {
	d := newDatabase(t, Options{})
	out, err := d.exec(t.Context(), "\nCREATE TABLE a(x);\r\n-- none\n\nINSERT INTO a VALUES (1)\n")
	if err != nil || !strings.HasPrefix(string(out.bytes()), `{"count":2,"duration":`) {
		t.Errorf("%s, %v", out.bytes(), err)
	}
	_, err = d.exec(t.Context(), "INSERT INTO a VALUES (2);\nINSERT INTO b VALUES (1);")
	if want := "Error: D1_EXEC_ERROR: Error in line 2: INSERT INTO b VALUES (1);: no such table: b: SQLITE_ERROR"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = d.exec(t.Context(), "CREATE TABLE c(\n x)")
	if err == nil || !strings.Contains(err.Error(), "Error in line 1: CREATE TABLE c(: incomplete input") {
		t.Errorf("got %v", err)
	}
	if got := askSQL(t, d, shapeRaw, "SELECT x FROM a"); got != "[[1]]" {
		t.Errorf("the table holds %s", got)
	}
}

// endlessTail gives one row at once and then never ends.
const endlessTail = "SELECT 1 UNION ALL SELECT sum(x) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 " +
	"FROM n) SELECT x FROM n)"

func TestDatabaseStops(t *testing.T) {
	d := newDatabase(t, Options{Timeout: 50 * time.Millisecond})
	_, err := d.query(t.Context(), Query{SQL: endlessTail}, shapeAll, "")
	if err == nil || !strings.Contains(err.Error(), "limit of 50ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.query(ctx, Query{SQL: endlessTail}, shapeAll, ""); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v", err)
	}
	_, err = d.batch(t.Context(), []Query{{SQL: "CREATE TABLE gone(x)"}, {SQL: endlessTail}})
	if err == nil {
		t.Error("an endless batch ended")
	}
	if got := askSQL(t, d, shapeRaw, "SELECT count(*) FROM sqlite_schema"); got != "[[0]]" {
		t.Errorf("a stopped batch left %s", got)
	}
}

func TestDatabaseConcurrent(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE a(n INTEGER)", "INSERT INTO a VALUES (0)")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				text := fmt.Sprintf("UPDATE a SET n = n + 1 /* %d %d */", i, j) // more texts than the cache holds
				if _, err := d.query(t.Context(), Query{SQL: text}, shapeAll, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := askSQL(t, d, shapeRaw, "SELECT n FROM a"); got != "[[160]]" {
		t.Error(got)
	}
}

// A migration changes a table while the Worker's statements are prepared.
func TestDatabaseSchemaChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	d := New(openSQL(t, path), Options{})
	defer d.Close()
	setupSQL(t, d, "CREATE TABLE a(x)", "INSERT INTO a VALUES (1)")
	for _, step := range []struct{ change, want string }{
		{"", `{"x":1}`},
		{"ALTER TABLE a ADD COLUMN y DEFAULT 2", `{"x":1,"y":2}`},
		{"ALTER TABLE a DROP COLUMN x", `{"y":2}`},
		{"DROP TABLE a", "Error: D1_ERROR: no such table: a: SQLITE_ERROR"},
	} {
		if _, err := openSQL(t, path).Exec(step.change); err != nil {
			t.Fatal(err)
		}
		if got := askSQL(t, d, shapeFirst, "SELECT * FROM a"); got != step.want {
			t.Errorf("after %q: %s, want %s", step.change, got, step.want)
		}
	}
}

func TestDatabaseClose(t *testing.T) {
	pool := openSQL(t, filepath.Join(t.TempDir(), "site.db"))
	d := New(pool, Options{})
	setupSQL(t, d, "CREATE TABLE a(x)")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := askSQL(t, d, shapeRaw, "SELECT 1"); !strings.Contains(got, "the database is closed") {
		t.Error(got)
	}
	// The pool's next user meets neither the guard nor the limits.
	if _, err := pool.Exec("BEGIN; COMMIT; PRAGMA user_version=7"); err != nil {
		t.Error(err)
	}
}

func FuzzDatabase(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1", "COMMIT", "INSERT INTO a VALUES (1); ROLLBACK; BEGIN", "ATTACH 'x' AS y", ";", "/*", "SELECT ?1",
		"PRAGMA foreign_keys=0",
		"CREATE TABLE b AS SELECT 1", "SELECT CAST(x'ff' AS TEXT)", "EXPLAIN SELECT 1",
		"CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT RAISE(ROLLBACK, 'x'); END; INSERT INTO a VALUES (1)",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	d := New(openSQL(f, filepath.Join(dir, "site.db")), Options{Timeout: 200 * time.Millisecond})
	f.Cleanup(func() { d.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		askSQL(t, d, shapeAll, text)
		if got := askSQL(t, d, shapeRaw, "PRAGMA foreign_keys"); got != "[[1]]" && !strings.Contains(got, "limit of") {
			t.Fatalf("%q left foreign_keys %s", text, got)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 3 {
			t.Fatalf("%q made %v", text, entries)
		}
	})
}

// TestDatabaseReaders: a query that takes without end keeps neither the writer nor other
// queries waiting, and reads see all writes before them.
func TestDatabaseReaders(t *testing.T) {
	d := newDatabase(t, Options{})
	setupSQL(t, d, "CREATE TABLE r(id INTEGER PRIMARY KEY, x)")
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range maxReaders - 1 {
		group.Go(func() {
			_, err := d.query(
				ctx, Query{SQL: "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT max(n) FROM n"},
				shapeAll, "",
			)
			if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), context.Canceled.Error())) {
				t.Errorf("the query without an end: %v", err)
			}
		})
	}
	for len(d.readers.free) > 1 {
		runtime.Gosched()
	}
	steps := []struct{ sql, want string }{
		{"INSERT INTO r(x) VALUES ('a') RETURNING id", `[[1]]`},
		{"SELECT count(*), max(x) FROM r", `[[1,"a"]]`},
		{"INSERT INTO r(x) VALUES ('b'), ('c')", `[]`},
		{"SELECT count(*), max(x) FROM r", `[[3,"c"]]`},
		{"SELECT last_insert_rowid(), changes(), id FROM r WHERE id = 3", `[[3,2,3]]`},
		{" \n with a as (select 1 as x) INSERT INTO r(x) SELECT x FROM a RETURNING id", `[[4]]`},
		{"SELECT x FROM r WHERE id = 4", `[[1]]`},
		{"ALTER TABLE r ADD COLUMN y DEFAULT 'y'", `[]`},
		{"SELECT * FROM r WHERE id = 4", `[[4,1,"y"]]`},
		{"VALUES (1), (2)", `[[1],[2]]`},
		{"SELECT nonsense FROM r", "Error: D1_ERROR: no such column: nonsense at offset 7: SQLITE_ERROR"},
	}
	for _, step := range steps {
		if got := askSQL(t, d, shapeRaw, step.sql); got != step.want {
			t.Errorf("%s: %s, want %s", step.sql, got, step.want)
		}
	}
	for range 2 {
		if got := askMeta(t, d, "SELECT x FROM r"); got.lastRow != 4 || got.changed || got.size != 8192 {
			t.Errorf("%+v", got)
		}
		setupSQL(t, d, "UPDATE r SET x = 'd' WHERE id = 1")
	}
	cancel()
	group.Wait()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := askSQL(t, d, shapeRaw, "SELECT 1"); got != "Error: D1_ERROR: the database is closed" {
		t.Error(got)
	}
}

// TestDatabaseMade: the error names an object of a migration that a Worker may not use when the Worker uses it.
func TestDatabaseMade(t *testing.T) {
	pool := openSQL(t, filepath.Join(t.TempDir(), "site.db"))
	for _, statement := range []string{
		"CREATE TABLE a(x, y DEFAULT (sqlite_version()))", "CREATE TABLE plain(x UNIQUE)",
		"CREATE VIEW v AS SELECT sqlite_source_id() AS s FROM a",
		"CREATE TRIGGER t AFTER UPDATE ON plain BEGIN INSERT INTO a(x, y) VALUES (sqlite_version(), 1); END",
	} {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	d := New(pool, Options{})
	t.Cleanup(func() { d.Close() })
	const refused = "Error: D1_ERROR: not authorized to use function: "
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM v", refused + `sqlite_source_id (in the view or trigger "v"): SQLITE_ERROR`},
		{"UPDATE plain SET x = 1", refused + `sqlite_version (in the view or trigger "t"): SQLITE_ERROR`},
		{"INSERT INTO a(x) VALUES (1)", refused + `sqlite_version: SQLITE_ERROR`},
		{"INSERT INTO a(x, y) VALUES (1, 2)", "[]"},
		{"INSERT INTO plain VALUES (1)", "[]"},
		{"SELECT s FROM v", refused + `sqlite_source_id (in the view or trigger "v"): SQLITE_ERROR`},
		{
			"INSERT INTO plain VALUES (1)",
			"Error: D1_ERROR: UNIQUE constraint failed: plain.x: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)",
		},
	} {
		t.Run(c.sql, func(t *testing.T) {
			if got := askSQL(t, d, shapeRaw, c.sql); got != c.want {
				t.Errorf("%s: %s, want %s", c.sql, got, c.want)
			}
		})
	}
}
