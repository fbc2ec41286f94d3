package migrate_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate"
)

// options are those of most tests: one fixed time.
var options = migrate.Options{Now: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }, Tool: "test"}

func dsn(path string) string {
	return "file:" + path +
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate"
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

// folder is a file system whose root holds the files.
func folder(files []migrate.File) fstest.MapFS {
	fsys := fstest.MapFS{".": {Mode: fs.ModeDir | 0o755}}
	for _, f := range files {
		fsys[f.Name] = &fstest.MapFile{Data: f.SQL, Mode: 0o644}
	}
	return fsys
}

func migrator(db *sql.DB, files []migrate.File, o migrate.Options) *migrate.Migrator {
	return migrate.New(db, folder(files), o)
}

func apply(t testing.TB, db *sql.DB, files []migrate.File) migrate.Result {
	t.Helper()
	result, err := migrator(db, files, options).Apply(t.Context())
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
	rows, err := db.Query("SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' " +
		"AND name <> '_pages_migrations' ORDER BY 1")
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
	status, err := migrator(db, nil, options).Status(t.Context())
	var out []string
	for _, e := range status.Applied {
		out = append(out, fmt.Sprintf("%d:%s", e.Position, e.Name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestApplyTwice(t *testing.T) {
	db := open(t)
	files := list(
		"0002_b.sql", "CREATE TABLE b(x)", "0001_a.sql", "CREATE TABLE a(x);", "0003_c.sql",
		"INSERT INTO a SELECT 1; INSERT INTO b VALUES (2);",
	)
	result := apply(t, db, files)
	if len(result.Applied) != 3 || result.Applied[0].Name != "0001_a.sql" || result.Applied[2].Position != 3 {
		t.Errorf("applied %+v", result.Applied)
	}
	if again := apply(t, db, files); len(again.Applied) != 0 {
		t.Errorf("second run applied %+v", again.Applied)
	}
	status, err := migrator(db, files, options).Status(t.Context())
	if err != nil || len(status.Pending) != 0 || len(status.Applied) != 3 {
		t.Fatalf("plan: %+v, %v", status, err)
	}
	want := migrate.Entry{Name: "0001_a.sql", SHA256: files[1].Sum(), Position: 1, AppliedAt: options.Now(), Tool: "test"}
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
		{"M-003 unchanged", list("1.sql", a, "3.sql", b), ""},
		{"M-003 byte", list("1.sql", "CREATE TABLE a(y);\n", "3.sql", b), "1.sql migration_checksum_mismatch"},
		{"M-003 CRLF", list("1.sql", a, "3.sql", strings.ReplaceAll(b, "\n", "\r\n")), ""},
		{"M-003 BOM", list("1.sql", "\xef\xbb\xbf"+a, "3.sql", b), ""},
		{"M-003 final newline", list("1.sql", strings.TrimSpace(a), "3.sql", b), "1.sql migration_checksum_mismatch"},
		{"M-004 deleted", list("3.sql", b), "1.sql migration_missing"},
		{"M-004 renamed", list("2.sql", a, "3.sql", b), "1.sql migration_missing, 2.sql migration_out_of_order"},
		{"M-005 early", list("1.sql", a, "2.sql", "SELECT 1", "3.sql", b), "2.sql migration_out_of_order"},
		{"several", list("1.sql", b, "3.sql", a), "1.sql migration_checksum_mismatch, 3.sql migration_checksum_mismatch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", a, "3.sql", b))
			_, planned := migrator(db, tt.files, options).Plan(t.Context())
			_, applied := migrator(db, tt.files, options).Apply(t.Context())
			if got := codes(planned); got != tt.want {
				t.Errorf("plan: %q, want %q", got, tt.want)
			}
			if got := codes(applied); got != tt.want {
				t.Errorf("apply: %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRenamed: the error about a renamed, applied file names the new file and the fix: rename it back.
func TestRenamed(t *testing.T) {
	const a, b = "CREATE TABLE a(x);", "CREATE TABLE b(x);"
	const again = `rename it to "1.sql" again: an applied migration keeps its name`
	db := open(t)
	apply(t, db, list("1.sql", a, "3.sql", b))
	for renamed, want := range map[string]string{
		"2.sql": `the migration is applied, and its file now has the name "2.sql"; ` + again + "\n" +
			`the new migration sorts before "3.sql", which is already applied; rename it to "1.sql", the name under which it was applied`,
		"4.sql": `the migration is applied, and its file now has the name "4.sql"; ` + again,
	} {
		_, err := migrator(db, list(renamed, a, "3.sql", b), options).Apply(t.Context())
		all, ok := errors.AsType[migrate.Errors](err)
		if one, alone := errors.AsType[*migrate.Error](err); !ok && alone {
			all = migrate.Errors{one}
		}
		var got []string
		for _, e := range all {
			got = append(got, e.Msg+"; "+e.Fix)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got\n%s\nwant\n%s", renamed, strings.Join(got, "\n"), want)
		}
	}
}

func TestOutOfOrderAllowed(t *testing.T) {
	db := open(t)
	apply(t, db, list("1.sql", "CREATE TABLE a(x)", "3.sql", "CREATE TABLE c(x)"))
	o := options
	o.AllowOutOfOrder = true
	files := list("1.sql", "CREATE TABLE a(x)", "2.sql", "CREATE TABLE b(x)", "3.sql", "CREATE TABLE c(x)")
	result, err := migrator(db, files, o).Apply(t.Context())
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
	const ran, unread = "table keep; 1:1.sql", "; " // a text is refused before any file runs
	tests := []struct{ name, sql, want, left string }{
		{"M-010 first", "CREATE TABL a(x);\nSELECT 1;\nSELECT 2;", `2.sql:1:8: near "TABL": syntax error`, ran},
		{"M-010 middle", "CREATE TABLE a(x);\n\nINSERT INTO nowhere\n  VALUES (1);\nSELECT 1;", `2.sql:3:13: no such table: nowhere`, ran},
		{"M-010 last", "CREATE TABLE a(x);\nINSERT INTO a VALUES (1);\n  SELECT y FROM a;", `2.sql:3:10: no such column: y`, ran},
		{
			"CRLF",
			"CREATE TABLE a(x UNIQUE);\r\nINSERT INTO a VALUES ('é'), (2);\r\nSELECT 'ü'; INSERT INTO a VALUES (2);",
			`2.sql:3:13: UNIQUE constraint failed: a.x`, ran,
		},
		{"comment", "-- c\n/* ; \n ; */ SELECT ';', a;", `2.sql:3:19: no such column: a`, ran},
		{"BOM", "\xef\xbb\xbfSELECT", `2.sql:1:1: incomplete input`, ran},
		{"CR", "SELECT 1;\rSELECT 2;\rSELECT x x x FRO;", `2.sql:3:1: near "x": syntax error`, ran},
		{
			"after a trigger",
			"CREATE TABLE a(x);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\n  SELECT CASE WHEN 1 THEN 2 " +
				"END;\nEND;\nDROP TABLE zzz;",
			`2.sql:6:12: no such table: zzz`, ran,
		},
		{"half a trigger", "CREATE TABLE a(x);\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;", `2.sql:2:1: incomplete input`, ran},
		{"empty statements", "SELECT 1;;\n; DROP TABLE zzz", `2.sql:2:14: no such table: zzz`, ran},
		{"M-022 string", "SELECT 1;\nSELECT 'it''s\n;", `2.sql:2:8: the quote that begins here never ends`, unread},
		{"M-022 comment", "SELECT 1;\n /* open ; SELECT 2;", `2.sql:2:2: the comment that begins here never ends`, unread},
		{"bracket", "SELECT [a", `2.sql:1:8: the quote that begins here never ends`, unread},
		{
			"CR in a comment", "SELECT 1 -- a\r SELECT 2",
			`2.sql:1:10: the comment's line ends in a carriage return alone, which does not end a "--" comment`, unread,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			result, err := migrator(
				db, list("1.sql", "CREATE TABLE keep(x)", "2.sql", tt.sql, "3.sql", "CREATE TABLE never(x)"), options,
			).Apply(t.Context())
			if says := result.Stands(); tt.left == ran &&
				says != "2.sql was rolled back; 1.sql stays applied; 3.sql did not run" {
				t.Errorf("stands: %s", says)
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if got := dump(t, db) + "; " + ledger(t, db); got != tt.left {
				t.Errorf("database holds %s", got)
			}
			if _, err := migrator(
				db, list("1.sql", "CREATE TABLE keep(x)", "2.sql", "SELECT 1"), options,
			).Apply(t.Context()); err != nil || ledger(t, db) != "1:1.sql 2:2.sql" {
				t.Errorf("repaired file: %+v, %v", result, err)
			}
		})
	}
}

func TestForbidden(t *testing.T) {
	stray := filepath.Join(t.TempDir(), "stray.db")
	tests := []struct {
		id, code   string
		statements []string
	}{
		{"M-011", migrate.CodeStatementForbidden, []string{
			"COMMIT", "END", "ROLLBACK", "BEGIN", "SAVEPOINT x", "RELEASE x", "ROLLBACK; BEGIN", "/*x*/commit",
			"cOmMiT",
		}},
		{"M-012", migrate.CodeVacuum, []string{"VACUUM", "VACUUM INTO '" + stray + "'", "vacuum main"}},
		{"M-012", migrate.CodeAttach, []string{"ATTACH '" + stray + "' AS y", "DETACH main"}},
		{"M-013", migrate.CodePragma, []string{
			"PRAGMA journal_mode=WAL", "PRAGMA foreign_keys=maybe", "PRAGMA synchronous=OFF", "PRAGMA page_size=512",
			"PRAGMA writable_schema=1",
			"PRAGMA trusted_schema=1", "PRAGMA temp_store_directory='/tmp'", "PRAGMA locking_mode=EXCLUSIVE",
			"PRAGMA wal_checkpoint", "PRAGMA key='x'",
			"PRAGMA user_version=3", "PRAGMA main.journal_mode", "SELECT * FROM pragma_journal_mode",
		}},
		{"M-015", migrate.CodeFunction, []string{
			"SELECT load_extension('x')", "SELECT writefile('" + stray + "', 'x')", "SELECT readfile('/etc/passwd')",
			"SELECT fts3_tokenizer('simple')",
		}},
		{"M-016", migrate.CodeLedger, []string{
			"DELETE FROM _pages_migrations", "DROP TABLE _pages_migrations", "ALTER TABLE _PAGES_migrations ADD COLUMN z",
			"UPDATE _pages_migrations SET position=9", "INSERT INTO _pages_migrations VALUES ('x','x',1,'x',1,'x')",
			"CREATE INDEX i ON _pages_migrations(position)",
			"CREATE TRIGGER t AFTER INSERT ON _pages_migrations BEGIN SELECT 1; END", "CREATE TABLE _pages_x(y)",
			"CREATE TABLE _cf_x(y)", "ALTER TABLE a RENAME TO _CF_a",
			"ALTER TABLE a RENAME TO _pages_a", "ALTER TABLE a RENAME TO\"_PAGES_a\"",
			"alter table main.a rename to /* x */ [_pages_a] -- y\n",
		}},
		{"M-023", migrate.CodeParameter, []string{"SELECT ?1", "SELECT :name", "SELECT @x", "SELECT $x", "SELECT ?"}},
		{"temporary", migrate.CodeTemporary, []string{
			"CREATE TEMP TABLE x(y)", "CREATE TEMP VIEW x AS SELECT 1", "CREATE TABLE temp.x(y)",
		}},
		{"module", migrate.CodeModule, []string{
			"CREATE VIRTUAL TABLE x USING dbstat", "CREATE TABLE b AS SELECT * FROM sqlite_dbpage",
			"UPDATE SQLITE_dbpage SET data = zeroblob(4096)",
			"DELETE FROM sqlite_dbpage", "SELECT * FROM dbstat",
		}},
	}
	for _, tt := range tests {
		for _, statement := range tt.statements {
			t.Run(tt.id+" "+statement, func(t *testing.T) {
				db := open(t)
				_, err := migrator(
					db, list("1.sql", "CREATE TABLE a(x);\n "+statement+";\nINSERT INTO a VALUES (1);"), options,
				).Apply(t.Context())
				if got := codes(err); !strings.HasPrefix(got, "1.sql:2:") || !strings.HasSuffix(got, tt.code) {
					t.Errorf("got %s: %v", got, err)
				}
				if e, ok := errors.AsType[*migrate.Error](err); !ok || e.Fix == "" {
					t.Errorf("no way out of %v", err)
				}
				if got := dump(t, db) + ledger(t, db); got != "" {
					t.Errorf("database holds %s", got)
				}
			})
		}
	}
	if found, _ := filepath.Glob(stray + "*"); found != nil {
		t.Errorf("a statement made %q", found)
	}
}

// TestDefensive: a file cannot write to the internal tables of virtual tables; after the file, they can be written again.
func TestDefensive(t *testing.T) {
	const begin = "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('some words');\nCREATE VIRTUAL TABLE r " +
		"USING rtree(id, x, y);\n"
	for _, statement := range []string{
		"UPDATE f_data SET block = randomblob(100)", "DELETE FROM f_idx", "INSERT INTO r_node VALUES (9, x'00')",
		"DROP TABLE f_content",
	} {
		t.Run(statement, func(t *testing.T) {
			db := open(t)
			_, err := migrator(db, list("1.sql", begin+statement), options).Apply(t.Context())
			if got := codes(err); got != "1.sql:3:1 "+migrate.CodeFailed {
				t.Errorf("%s: got %q: %v", statement, got, err)
			}
			if got := dump(t, db); got != "" {
				t.Errorf("%s: database holds %s", statement, got)
			}
		})
	}
	db := open(t)
	apply(t, db, list("1.sql", begin+"INSERT INTO f(f) VALUES ('rebuild'); ALTER TABLE f RENAME TO g; DROP TABLE r;"))
	db.SetMaxOpenConns(1)
	execute(t, db, "UPDATE g_data SET block = block")
}

// TestSettings: a file may set pragmas of the connection, and the next file starts with the old values; PRAGMA foreign_keys
// has no effect and gets one warning for each file.
func TestSettings(t *testing.T) {
	const rebuild = "CREATE TABLE p2(id INTEGER PRIMARY KEY);\nDROP TABLE p;\nALTER TABLE p2 RENAME TO p;\n"
	const off = "PRAGMA foreign_keys = OFF has no effect in a migration: foreign keys stay enforced, and ON DELETE " +
		"runs when a table is dropped"
	db := open(t)
	files := list(
		"1.sql", "PRAGMA foreign_keys = ON;\nCREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p ON DELETE CASCADE);"+
			"INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);",
		"2.sql", "PRAGMA foreign_keys=OFF;--> statement-breakpoint\n"+rebuild+"PRAGMA foreign_keys=ON;",
		"3.sql", "PRAGMA legacy_alter_table = ON; PRAGMA recursive_triggers = ON; PRAGMA case_sensitive_like = ON; "+
			"PRAGMA ignore_check_constraints = ON; PRAGMA reverse_unordered_selects = ON; PRAGMA index_xinfo(x); PRAGMA foreign_keys;\n"+
			"CREATE TABLE k(x CHECK (x > 0)); INSERT INTO k VALUES (-1); CREATE TABLE l AS SELECT 'A' LIKE 'a' AS x;",
		"4.sql", "INSERT INTO l SELECT 'A' LIKE 'a';",
	)
	result := apply(t, db, files)
	var got []string
	for _, n := range result.Warnings {
		got = append(got, n.Pos.String()+" "+n.Code+" "+n.Msg)
	}
	want := []string{
		"1.sql:1:1 " + migrate.CodePragmaIdle + " PRAGMA foreign_keys = ON changes nothing: foreign keys are always enforced",
		"2.sql:1:1 " + migrate.CodePragmaIdle + " " + off,
		"2.sql:3:1 " + migrate.CodeCascade + ` dropping "p" deleted 1 row of "c" (ON DELETE CASCADE); copy it to another table ` +
			"before it, and restore it after it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := one(t, db, "SELECT group_concat(x) FROM l"); got != "0,1" {
		t.Errorf("LIKE in the third file and in the fourth: %s", got)
	}
	_, err := migrator(db, append(files, list("5.sql", "INSERT INTO k VALUES (-2)")...), options).Apply(t.Context())
	if got := codes(err); got != "5.sql:1:1 "+migrate.CodeFailed {
		t.Errorf("a check after the file that ignored it: %v", err)
	}
}

// TestKeysFix: rows without a parent are refused at once in spite of PRAGMA foreign_keys = OFF; another pragma defers that.
func TestKeysFix(t *testing.T) {
	_, err := migrator(open(t), list("1.sql", "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p); "+
		"INSERT INTO p VALUES (1); INSERT INTO c VALUES (1); PRAGMA foreign_keys=OFF;\nDROP TABLE p;"), options).Apply(t.Context())
	var e *migrate.Error
	if !errors.As(err, &e) || e.Code != migrate.CodeForeignKeys || !strings.Contains(e.Fix, "PRAGMA defer_foreign_keys = ON in "+
		"place of PRAGMA foreign_keys = OFF") {
		t.Errorf("%v", err)
	}
}

func TestAllowed(t *testing.T) {
	const a = "CREATE TABLE a(x);\n"
	tests := []struct{ name, sql, want string }{
		{
			"M-014 pragmas",
			a +
				"PRAGMA defer_foreign_keys=ON;PRAGMA table_info(a);PRAGMA foreign_key_check;PRAGMA optimize;PRAGMA " +
				"user_version;SELECT * FROM pragma_table_info('a');",
			"table a",
		},
		{
			"M-020 trigger and CASE",
			a +
				"CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; SELECT CASE WHEN 1 THEN CASE 2 WHEN 2 THEN 3 END " +
				"END; END;INSERT INTO a VALUES (1);",
			"table a, trigger t",
		},
		{
			"M-020 quoted trigger",
			a + "/*x*/ CREATE TRIGGER IF NOT EXISTS \"end;\" AFTER INSERT ON a BEGIN UPDATE a SET x=';END;'; END\n;",
			"table a, trigger end;",
		},
		{"M-020 string", a + "INSERT INTO a VALUES ('x;y''z');", "table a"},
		{
			"M-020 quoted names and comments",
			a + "CREATE TABLE \"b;c\"(`d;e`, [f;g]); -- it's;\n/* \" ; */ INSERT INTO a VALUES (1);",
			"table a, table b;c",
		},
		{"M-021 BOM", "\xef\xbb\xbf" + a, "table a"},
		{"M-021 CRLF", strings.ReplaceAll(a+"INSERT INTO a VALUES (1);\n", "\n", "\r\n"), "table a"},
		{"M-021 CR", "CREATE TABLE a(x);\rINSERT INTO a VALUES (1);\r", "table a"},
		{"M-021 no final newline", "CREATE TABLE a(x)", "table a"},
		{"M-021 comment only", "-- nothing", ""},
		{"M-021 empty", "", ""},
		{"M-021 whitespace", " \n\t", ""},
		{"M-021 semicolons", ";;", ""},
		{
			"M-025 FTS5",
			"CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('hello'); SELECT * FROM f WHERE f MATCH 'hello';",
			"table f, table f_config, table f_content, table f_data, table f_docsize, table f_idx",
		},
		{
			"rtree", "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 2, 3);",
			"table r, table r_node, table r_parent, table r_rowid",
		},
		{
			"M-025 JSON, generated columns, STRICT, RETURNING",
			"CREATE TABLE a(x TEXT, y TEXT GENERATED ALWAYS AS (json_extract(x,'$.k')) STORED) STRICT; INSERT INTO " +
				"a(x) VALUES ('{}') RETURNING *;",
			"table a",
		},
		{
			"M-025 WITHOUT ROWID, view, partial index",
			"CREATE TABLE a(x PRIMARY KEY) WITHOUT ROWID; CREATE VIEW v AS SELECT x FROM a; CREATE INDEX i ON a(x) WHERE x > 1;",
			"index i, table a, view v",
		},
		{
			"ALTER",
			"CREATE TABLE a(x); ALTER TABLE a RENAME TO b; ALTER TABLE b ADD COLUMN y; ALTER TABLE b DROP COLUMN x; ANALYZE; REINDEX;",
			"table b",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			_, err := migrator(db, list("1.sql", tt.sql), options).Apply(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := ledger(t, db); got != "1:1.sql" {
				t.Errorf("ledger %q", got)
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
		_, err := migrator(db, list("1.sql", first, "2.sql", statement), options).Apply(t.Context())
		if got := codes(err); !strings.HasSuffix(got, migrate.CodeFailed) {
			t.Errorf("%s: %s", statement, got)
		}
		if got := dump(t, db) + "; " + ledger(t, db); got != "table a; 1:1.sql" {
			t.Errorf("%s: database holds %s", statement, got)
		}
		apply(t, db, list("1.sql", first, "2.sql", "INSERT INTO a VALUES (2)"))
	}
}

// TestRenameFix: a trigger that names a rebuilt table must be dropped before.
func TestRenameFix(t *testing.T) {
	const made = "CREATE TABLE a(b); CREATE TABLE l(n); CREATE TRIGGER t AFTER INSERT ON l BEGIN UPDATE a SET b = 1; " +
		"END; CREATE TABLE a2(b); DROP TABLE a; ALTER TABLE a2 RENAME TO a;"
	_, err := migrator(open(t), list("1.sql", made), options).Apply(t.Context())
	var e *migrate.Error
	if !errors.As(err, &e) || e.Fix != "drop the trigger t before the table is dropped, and create it again at the end of the file" {
		t.Errorf("%v", err)
	}
}

// TestForeignKeysFromBefore: the file that breaks a key need not be the one that has the word.
func TestForeignKeysFromBefore(t *testing.T) {
	const schema = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(id INTEGER PRIMARY KEY, p references p(id));"
	const orphan = "PRAGMA defer_foreign_keys=ON; INSERT INTO c VALUES (7, 1);"
	const want = `orphan.sql: row 7 of "c" names a row of "p" that does not exist`
	tests := map[string]func(db *sql.DB) error{
		"an earlier file of the run": func(db *sql.DB) error {
			_, err := migrator(db, list("1.sql", schema, "orphan.sql", orphan), options).Apply(t.Context())
			return err
		},
		"an earlier run": func(db *sql.DB) error {
			apply(t, db, list("1.sql", schema))
			_, err := migrator(db, list("1.sql", schema, "orphan.sql", orphan), options).Apply(t.Context())
			return err
		},
		"somebody between two files": func(db *sql.DB) error {
			files := list("1.sql", "CREATE TABLE a(x)", "orphan.sql", orphan)
			o := options
			o.Progress = func(p migrate.Progress) {
				if p.Done == 1 {
					if _, err := db.Exec(schema); err != nil {
						t.Error(err)
					}
				}
			}
			_, err := migrator(db, files, o).Apply(t.Context())
			return err
		},
	}
	for name, run := range tests {
		if err := run(open(t)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

func TestTables(t *testing.T) {
	o := options
	o.Tables = []string{"POSTS", "leads"}
	db := open(t)
	result, err := migrator(db, list("1.sql", "CREATE TABLE posts(x)"), o).Apply(t.Context())
	if got := codes(err); got != migrate.CodeTableMissing || len(result.Applied) != 1 {
		t.Errorf("got %s, %+v", got, result)
	}
	if _, err := migrator(
		db, list("1.sql", "CREATE TABLE posts(x)", "2.sql", "CREATE VIEW leads AS SELECT 1"), o,
	).Apply(t.Context()); err != nil {
		t.Error(err)
	}
}
