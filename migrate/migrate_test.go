package migrate_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate"
)

// options are those of most tests: one fixed time.
var options = migrate.Options{Now: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }, Tool: "test"}

func dsn(path string) string {
	return "file:" + path + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate"
}

func openPath(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(t testing.TB) *sql.DB {
	t.Helper()
	return openPath(t, filepath.Join(t.TempDir(), "site.db"))
}

// list makes files of "name", "sql" pairs.
func list(pairs ...string) []migrate.File {
	var files []migrate.File
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, migrate.File{Name: pairs[i], SQL: []byte(pairs[i+1])})
	}
	return files
}

func apply(t testing.TB, db *sql.DB, files []migrate.File) migrate.Result {
	t.Helper()
	result, err := migrate.Apply(t.Context(), db, files, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// codes gives "code" or "file:line:col code" of each error in err.
func codes(err error) string {
	var all migrate.Errors
	if one := (*migrate.Error)(nil); !errors.As(err, &all) && errors.As(err, &one) {
		all = migrate.Errors{one}
	}
	var out []string
	for _, e := range all {
		if pos := e.Pos.String(); pos != "-" {
			out = append(out, pos+" "+e.Code)
		} else {
			out = append(out, e.Code)
		}
	}
	if err != nil && out == nil {
		return "untyped: " + err.Error()
	}
	return strings.Join(out, ", ")
}

// dump is the schema and the ledger as text.
func dump(t testing.TB, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query("SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_pages_migrations' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}

func ledger(t testing.TB, db *sql.DB) string {
	t.Helper()
	status, err := migrate.Plan(t.Context(), db, nil, options)
	var out []string
	for _, e := range status.Applied {
		out = append(out, fmt.Sprintf("%d:%s", e.N, e.Name))
	}
	if err != nil && !strings.Contains(codes(err), migrate.CodeMissing) {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestApplyTwice(t *testing.T) {
	db := open(t)
	files := list("0002_b.sql", "CREATE TABLE b(x)", "0001_a.sql", "CREATE TABLE a(x);", "0003_c.sql", "INSERT INTO a SELECT 1; INSERT INTO b VALUES (2);")
	result := apply(t, db, files)
	if len(result.Applied) != 3 || result.Applied[0].Name != "0001_a.sql" || result.Applied[2].N != 3 {
		t.Errorf("applied %+v", result.Applied)
	}
	if again := apply(t, db, files); len(again.Applied) != 0 {
		t.Errorf("second run applied %+v", again.Applied)
	}
	status, err := migrate.Plan(t.Context(), db, files, options)
	if err != nil || len(status.Pending) != 0 || len(status.Applied) != 3 {
		t.Fatalf("plan: %+v, %v", status, err)
	}
	want := migrate.Entry{Name: "0001_a.sql", SHA256: files[1].Sum(), N: 1, AppliedAt: options.Now(), Tool: "test"}
	if got := status.Applied[0]; got != want {
		t.Errorf("ledger has %+v, want %+v", got, want)
	}
}

func TestDrift(t *testing.T) {
	const a, b = "CREATE TABLE a(x);\n", "CREATE TABLE b(\n  x\n);\n"
	tests := []struct {
		name  string
		files []migrate.File
		want  string
	}{
		{"unchanged", list("1.sql", a, "3.sql", b), ""},
		{"byte", list("1.sql", "CREATE TABLE a(y);\n", "3.sql", b), "1.sql migration_checksum_mismatch"},
		{"CRLF", list("1.sql", a, "3.sql", strings.ReplaceAll(b, "\n", "\r\n")), ""},
		{"BOM", list("1.sql", "\xef\xbb\xbf"+a, "3.sql", b), ""},
		{"final newline", list("1.sql", strings.TrimSpace(a), "3.sql", b), "1.sql migration_checksum_mismatch"},
		{"gone", list("3.sql", b), "1.sql migration_missing"},
		{"renamed", list("2.sql", a, "3.sql", b), "1.sql migration_missing, 2.sql migration_out_of_order"},
		{"early", list("1.sql", a, "2.sql", "SELECT 1", "3.sql", b), "2.sql migration_out_of_order"},
		{"several", list("1.sql", b, "3.sql", a), "1.sql migration_checksum_mismatch, 3.sql migration_checksum_mismatch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", a, "3.sql", b))
			_, planned := migrate.Plan(t.Context(), db, tt.files, options)
			_, applied := migrate.Apply(t.Context(), db, tt.files, options)
			if got := codes(planned); got != tt.want {
				t.Errorf("plan: %q, want %q", got, tt.want)
			}
			if got := codes(applied); got != tt.want {
				t.Errorf("apply: %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOutOfOrderAllowed(t *testing.T) {
	db := open(t)
	apply(t, db, list("1.sql", "CREATE TABLE a(x)", "3.sql", "CREATE TABLE c(x)"))
	o := options
	o.AllowOutOfOrder = true
	files := list("1.sql", "CREATE TABLE a(x)", "2.sql", "CREATE TABLE b(x)", "3.sql", "CREATE TABLE c(x)")
	result, err := migrate.Apply(t.Context(), db, files, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Warnings) != 1 || result.Warnings[0].Code != migrate.CodeOutOfOrder {
		t.Errorf("warnings %+v", result.Warnings)
	}
	if got := ledger(t, db); got != "1:1.sql 2:3.sql 3:2.sql" {
		t.Errorf("ledger %q", got)
	}
	apply(t, db, files)
}

func TestFailurePosition(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"CREATE TABL a(x);\nSELECT 1;\nSELECT 2;", `2.sql:1:8: near "TABL": syntax error`},
		{"CREATE TABLE a(x);\n\nINSERT INTO nowhere\n  VALUES (1);\nSELECT 1;", `2.sql:3:13: no such table: nowhere`},
		{"CREATE TABLE a(x);\nINSERT INTO a VALUES (1);\n  SELECT y FROM a;", `2.sql:3:10: no such column: y`},
		{"CREATE TABLE a(x UNIQUE);\r\nINSERT INTO a VALUES ('é'), (2);\r\nSELECT 'ü'; INSERT INTO a VALUES (2);", `2.sql:3:13: UNIQUE constraint failed: a.x`},
		{"-- c\n/* ; \n ; */ SELECT ';', a;", `2.sql:3:19: no such column: a`},
		{"\xef\xbb\xbfSELECT", `2.sql:1:1: incomplete input`},
		{"SELECT 1;\rSELECT 2;\rSELECT x x x FRO;", `2.sql:3:1: near "x": syntax error`},
		{"CREATE TABLE a(x);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\n  SELECT CASE WHEN 1 THEN 2 END;\nEND;\nDROP TABLE zzz;", `2.sql:6:12: no such table: zzz`},
		{"CREATE TABLE a(x);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;", `2.sql:2:1: incomplete input`},
		{"SELECT 1;;\n; DROP TABLE zzz", `2.sql:2:14: no such table: zzz`},
		{"SELECT 1;\nSELECT 'it''s\n;", `2.sql:2:8: the quote that begins here never ends`},
		{"SELECT 1;\n /* open ; SELECT 2;", `2.sql:2:2: the comment that begins here never ends`},
		{"SELECT [a", `2.sql:1:8: the quote that begins here never ends`},
		{"SELECT 1 -- a\r SELECT 2", `2.sql:1:10: the comment's line ends in a carriage return alone, which does not end a "--" comment`},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			db := open(t)
			_, err := migrate.Apply(t.Context(), db, list("1.sql", "CREATE TABLE keep(x)", "2.sql", tt.sql, "3.sql", "CREATE TABLE never(x)"), options)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if got := dump(t, db) + "; " + ledger(t, db); got != "table keep; 1:1.sql" {
				t.Errorf("database holds %s", got)
			}
			if result, err := migrate.Apply(t.Context(), db, list("1.sql", "CREATE TABLE keep(x)", "2.sql", "SELECT 1"), options); err != nil || len(result.Applied) != 1 {
				t.Errorf("repaired file: %+v, %v", result, err)
			}
		})
	}
}

func TestForbidden(t *testing.T) {
	stray := filepath.Join(t.TempDir(), "stray.db")
	statements := []string{
		"COMMIT", "END", "ROLLBACK", "BEGIN", "SAVEPOINT x", "RELEASE x", "ROLLBACK; BEGIN", "/*x*/commit", "cOmMiT",
		"VACUUM", "VACUUM INTO '" + stray + "'", "ATTACH '" + stray + "' AS y", "DETACH main",
		"PRAGMA journal_mode=WAL", "PRAGMA foreign_keys=OFF", "PRAGMA synchronous=OFF", "PRAGMA page_size=512", "PRAGMA writable_schema=1",
		"PRAGMA trusted_schema=1", "PRAGMA temp_store_directory='/tmp'", "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA wal_checkpoint", "PRAGMA key='x'",
		"PRAGMA user_version=3", "SELECT load_extension('x')",
		"DELETE FROM _pages_migrations", "DROP TABLE _pages_migrations", "ALTER TABLE _PAGES_migrations ADD COLUMN z",
		"UPDATE _pages_migrations SET n=9", "INSERT INTO _pages_migrations VALUES ('x','x',1,'x','x')", "CREATE INDEX i ON _pages_migrations(n)",
		"CREATE TRIGGER t AFTER INSERT ON _pages_migrations BEGIN SELECT 1; END", "CREATE TABLE _pages_x(y)",
		"CREATE TEMP TABLE x(y)", "CREATE TEMP VIEW x AS SELECT 1", "CREATE VIRTUAL TABLE x USING dbstat",
		"SELECT ?1", "SELECT :name", "SELECT @x", "SELECT $x", "SELECT ?",
	}
	for _, statement := range statements {
		t.Run(statement, func(t *testing.T) {
			db := open(t)
			_, err := migrate.Apply(t.Context(), db, list("1.sql", "CREATE TABLE a(x);\n "+statement+";\nINSERT INTO a VALUES (1);"), options)
			if got := codes(err); !strings.HasPrefix(got, "1.sql:2:") || !strings.HasSuffix(got, migrate.CodeStatementForbidden) {
				t.Errorf("got %s: %v", got, err)
			}
			if got := dump(t, db) + ledger(t, db); got != "" {
				t.Errorf("database holds %s", got)
			}
		})
	}
	if found, _ := filepath.Glob(stray + "*"); found != nil {
		t.Errorf("a statement made %q", found)
	}
}

func TestForeignKeysFix(t *testing.T) {
	_, err := migrate.Apply(t.Context(), open(t), list("1.sql", "PRAGMA foreign_keys=OFF"), options)
	var e *migrate.Error
	if !errors.As(err, &e) || !strings.Contains(e.Fix, "defer_foreign_keys") {
		t.Errorf("fix of %v", err)
	}
}

func TestAllowed(t *testing.T) {
	const a = "CREATE TABLE a(x);\n"
	tests := []struct{ sql, want string }{
		{a + "PRAGMA defer_foreign_keys=ON;PRAGMA table_info(a);PRAGMA foreign_key_check;PRAGMA optimize;PRAGMA user_version;SELECT * FROM pragma_table_info('a');", "table a"},
		{a + "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT CASE WHEN 1 THEN CASE 2 WHEN 2 THEN 3 END END; END;INSERT INTO a VALUES (1);", "table a, trigger t"},
		{a + "/*x*/ CREATE TRIGGER IF NOT EXISTS \"end;\" AFTER INSERT ON a BEGIN UPDATE a SET x=';END;'; END\n;", "table a, trigger end;"},
		{a + "INSERT INTO a VALUES ('x;y''z');", "table a"},
		{a + "CREATE TABLE \"b;c\"(`d;e`, [f;g]); -- it's;\n/* \" ; */ INSERT INTO a VALUES (1);", "table a, table b;c"},
		{"\xef\xbb\xbf" + a, "table a"},
		{strings.ReplaceAll(a+"INSERT INTO a VALUES (1);\n", "\n", "\r\n"), "table a"},
		{"CREATE TABLE a(x);\rINSERT INTO a VALUES (1);\r", "table a"},
		{"CREATE TABLE a(x)", "table a"},
		{"-- nothing", ""},
		{"", ""},
		{" \n\t", ""},
		{";;", ""},
		{"CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('hello'); SELECT * FROM f WHERE f MATCH 'hello';", "table f, table f_config, table f_content, table f_data, table f_docsize, table f_idx"},
		{"CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3);", "table r, table r_node, table r_parent, table r_rowid"},
		{"CREATE TABLE a(x TEXT, y TEXT GENERATED ALWAYS AS (json_extract(x,'$.k')) STORED) STRICT; INSERT INTO a(x) VALUES ('{}') RETURNING *;", "table a"},
		{"CREATE TABLE a(x PRIMARY KEY) WITHOUT ROWID; CREATE VIEW v AS SELECT x FROM a; CREATE INDEX i ON a(x) WHERE x > 1;", "index i, table a, view v"},
		{"CREATE TABLE a(x); ALTER TABLE a RENAME TO b; ALTER TABLE b ADD COLUMN y; ALTER TABLE b DROP COLUMN x; ANALYZE; REINDEX;", "table b"},
	}
	for _, tt := range tests {
		t.Run(tt.sql, func(t *testing.T) {
			db := open(t)
			_, err := migrate.Apply(t.Context(), db, list("1.sql", tt.sql), options)
			if err != nil {
				t.Fatal(err)
			}
			if got := dump(t, db); got != tt.want {
				t.Errorf("schema %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRollbackConflict(t *testing.T) {
	for _, statement := range []string{
		"INSERT OR ROLLBACK INTO a VALUES (1)",
		"CREATE TRIGGER t BEFORE INSERT ON a BEGIN SELECT RAISE(ROLLBACK, 'no'); END; INSERT INTO a VALUES (2)",
	} {
		db := open(t)
		first := "CREATE TABLE a(x UNIQUE); INSERT INTO a VALUES (1);"
		_, err := migrate.Apply(t.Context(), db, list("1.sql", first, "2.sql", statement), options)
		if got := codes(err); !strings.HasSuffix(got, migrate.CodeFailed) {
			t.Errorf("%s: %s", statement, got)
		}
		if got := dump(t, db) + "; " + ledger(t, db); got != "table a; 1:1.sql" {
			t.Errorf("%s: database holds %s", statement, got)
		}
		apply(t, db, list("1.sql", first, "2.sql", "INSERT INTO a VALUES (2)"))
	}
}

func TestForeignKeys(t *testing.T) {
	const schema = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id));\n"
	tests := []struct{ sql, want string }{
		{schema + "INSERT INTO c VALUES (7, 1);", "1.sql:2:1: FOREIGN KEY constraint failed"},
		{schema + "PRAGMA defer_foreign_keys=ON; INSERT INTO c VALUES (7, 1);", `1.sql: row 7 of "c" names a row of "p" that does not exist`},
	}
	for _, tt := range tests {
		db := open(t)
		_, err := migrate.Apply(t.Context(), db, list("1.sql", tt.sql), options)
		if err == nil || err.Error() != tt.want || !strings.HasSuffix(codes(err), migrate.CodeForeignKeys) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
		if got := dump(t, db) + ledger(t, db); got != "" {
			t.Errorf("database holds %s", got)
		}
	}
	apply(t, open(t), list("1.sql", schema+"PRAGMA defer_foreign_keys=ON; INSERT INTO c VALUES (7, 1); INSERT INTO p VALUES (1);"))
}

func TestTables(t *testing.T) {
	o := options
	o.Tables = []string{"POSTS", "leads"}
	db := open(t)
	result, err := migrate.Apply(t.Context(), db, list("1.sql", "CREATE TABLE posts(x)"), o)
	if got := codes(err); got != migrate.CodeTableMissing || len(result.Applied) != 1 {
		t.Errorf("got %s, %+v", got, result)
	}
	if _, err := migrate.Apply(t.Context(), db, list("1.sql", "CREATE TABLE posts(x)", "2.sql", "CREATE VIEW leads AS SELECT 1"), o); err != nil {
		t.Error(err)
	}
}
