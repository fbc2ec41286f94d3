package transfer_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// newDB opens an empty database as the command does for import and dump.
func newDB(t *testing.T, name string) *d1.Console {
	t.Helper()
	return openDB(t, filepath.Join(t.TempDir(), name), d1.ConsoleOptions{Unbounded: true, KeysLater: true})
}

func openDB(t *testing.T, path string, o d1.ConsoleOptions) *d1.Console {
	t.Helper()
	db, err := sql.Open(
		"sqlite",
		(&url.URL{
			Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path),
			RawQuery: "_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)",
		}).String(),
	)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d1.NewConsole(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Close(), db.Close() })
	return c
}

func script(t *testing.T, db *d1.Console, text string) {
	t.Helper()
	if _, err := transfer.Script(t.Context(), db, "test.sql", strings.NewReader(text), transfer.ScriptOptions{
		Dump: true, CheckKeys: true,
	}); err != nil {
		t.Fatal(err)
	}
}

func dump(t *testing.T, db *d1.Console, o transfer.DumpOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := transfer.Dump(t.Context(), db, &out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// all is everything in a database: the schema, and each value with its storage class and rowid, as SQLite says it.
// The samples of ANALYZE are left out: not every SQLite knows it.
func all(t *testing.T, db *d1.Console) string {
	t.Helper()
	var b strings.Builder
	var tables []string
	rows := func(query string, each func(v []any)) {
		if _, err := db.Run(t.Context(), query, nil, nil, func(v []any) error { each(v); return nil }); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	rows("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' AND type <> 'index' "+
		"OR sql IS NOT NULL ORDER BY type, name", func(v []any) {
		fmt.Fprintf(&b, "%q\n", v)
	})
	rows("PRAGMA table_list", func(v []any) {
		if kind := v[2]; v[0] == "main" && (kind == "table" || kind == "shadow") && v[1] != "sqlite_schema" && v[1] != "sqlite_stat4" {
			tables = append(tables, fmt.Sprint(v[1]))
		}
	})
	for _, table := range tables {
		quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
		var columns []string
		rows("PRAGMA table_xinfo("+quoted+")", func(v []any) {
			name := `"` + strings.ReplaceAll(fmt.Sprint(v[1]), `"`, `""`) + `"`
			columns = append(columns, "typeof("+name+")", "hex("+name+")", "quote("+name+")")
		})
		order := "rowid"
		if _, err := db.Run(t.Context(), "SELECT rowid FROM "+quoted, nil, nil, nil); err != nil {
			order = "1, 2, 3"
		} else {
			columns = append(columns, "rowid")
		}
		rows("SELECT "+strings.Join(columns, ", ")+" FROM "+quoted+" ORDER BY "+order, func(v []any) {
			fmt.Fprintf(&b, "%s %q\n", table, v)
		})
	}
	return b.String()
}

// hostile is a schema with objects that dumps forget.
const hostile = `
CREATE TABLE "a ""quoted"" name
with a line
end; -- and a comment" ("col;umn" TEXT, 'single' BLOB, [brackets] REAL, ` + "`back``tick`" + ` INTEGER, "select" ANY);
INSERT INTO "a ""quoted"" name
with a line
end; -- and a comment" VALUES ('it''s', X'', 1.0, -9223372036854775808, NULL),
  (CAST(X'6100620d0a' AS TEXT), X'00ff27', 1e999, 9223372036854775807, -1e999),
  (CAST(X'ff80' AS TEXT), 'text in a blob column', 5e-324, 0, 1.7976931348623157e308), ('
.quit
/
go
', NULL, -0.0, 1, 'é😀');
CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
INSERT INTO auto VALUES (7, 1), (100, 2);
DELETE FROM auto WHERE id = 100;
CREATE TABLE descending (id INTEGER PRIMARY KEY DESC, v);
INSERT INTO descending(rowid, id, v) VALUES (5, 50, 'x'), (9, 10, 'y');
CREATE TABLE gaps (v TEXT);
INSERT INTO gaps(rowid, v) VALUES (-3, 'minus'), (10, 'ten'), (4611686018427387904, 'far');
CREATE TABLE shadowed (rowid TEXT, _rowid_ TEXT);
INSERT INTO shadowed(oid, rowid, _rowid_) VALUES (42, 'a', 'b');
CREATE TABLE hidden (rowid, oid, _rowid_);
INSERT INTO hidden VALUES (1, 2, 3);
CREATE TABLE bare (k TEXT, n INTEGER, v, PRIMARY KEY (k, n)) WITHOUT ROWID;
INSERT INTO bare VALUES ('b', 2, X'01'), ('a', 1, 0.1);
CREATE TABLE strict (i INTEGER, t TEXT, a ANY) STRICT;
INSERT INTO strict VALUES (1, '1', '1'), (2, '2', 2);
CREATE TABLE made (a INTEGER, b GENERATED ALWAYS AS (a * 2) STORED, c TEXT, d AS (c || '!') VIRTUAL, e);
INSERT INTO made (a, c, e) VALUES (1, 'x', 9), (2, 'y', NULL);
CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) ON DELETE CASCADE);
CREATE TABLE parent (id INTEGER PRIMARY KEY);
INSERT INTO parent VALUES (1), (2);
INSERT INTO child VALUES (10, 1), (11, NULL);
CREATE TABLE log (line TEXT);
CREATE TRIGGER "first;" AFTER INSERT ON gaps BEGIN INSERT INTO log VALUES ('first; ' || new.v); SELECT CASE WHEN 1 THEN 2 END; END;
CREATE TRIGGER second AFTER INSERT ON gaps BEGIN INSERT INTO log VALUES ('second'); END;
INSERT INTO gaps(rowid, v) VALUES (11, 'logged');
CREATE VIEW seen AS SELECT v /* ; */ FROM gaps -- the end;
;
CREATE TRIGGER through INSTEAD OF INSERT ON seen BEGIN INSERT INTO gaps (v) VALUES (new.v); END;
CREATE UNIQUE INDEX "an index" ON gaps (lower(v)) WHERE v IS NOT NULL;
CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize = 'porter unicode61');
INSERT INTO words(rowid, title, body) VALUES (3, 'Rowing', 'boats and oars'), (8, 'Sailing', 'boats; and winds');
DELETE FROM words WHERE rowid = 3;
INSERT INTO words(words, rank) VALUES ('rank', 'bm25(10.0, 5.0)');
CREATE VIRTUAL TABLE words_b USING fts5(x, content='', contentless_delete=1);
INSERT INTO words_b(rowid, x) VALUES (77, 'contentless');
CREATE VIRTUAL TABLE over USING fts5(v, content='gaps', content_rowid='rowid');
INSERT INTO over(over) VALUES ('rebuild');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1, +note TEXT);
INSERT INTO boxes VALUES (1, 0, 1, 0, 1, 'unit'), (2, 5, 6, 5, 6.5, NULL);
ANALYZE;
`

// TestRoundTrip: reading returns the written values, and their dump is the same text.
func TestRoundTrip(t *testing.T) {
	from := newDB(t, "from.db")
	script(t, from, hostile)
	want, text := all(t, from), dump(t, from, transfer.DumpOptions{})
	to := newDB(t, "to.db")
	script(t, to, text)
	differ(t, "read back", all(t, to), want)
	differ(t, "the second dump", dump(t, to, transfer.DumpOptions{}), text)
	script(t, to, `INSERT INTO auto (v) VALUES (3); INSERT INTO seen (v) VALUES ('through')`)
	for query, want := range map[string]string{
		"SELECT max(id) FROM auto":                                    "[101]",
		"SELECT group_concat(line) FROM log":                          "[second,first; logged,second,first; through]",
		"SELECT rowid FROM words WHERE words MATCH 'boat'":            "[8]",
		"SELECT rowid FROM words_b WHERE words_b MATCH 'contentless'": "[77]",
		"SELECT rowid FROM over WHERE over MATCH 'logged'":            "[11]",
		"SELECT id FROM boxes WHERE x0 > 4":                           "[2]",
		"PRAGMA quick_check":                                          "[ok]",
	} {
		t.Run(query, func(t *testing.T) {
			var got []any
			if _, err := to.Run(t.Context(), query, nil, nil, func(v []any) error { got = append(got, v...); return nil }); err != nil ||
				fmt.Sprint(got) != want {
				t.Errorf("%s: %v, %v; want %s", query, got, err, want)
			}
		})
	}
}

// differ returns the lines of a text that differ from the expected ones.
func differ(t *testing.T, what, got, want string) {
	t.Helper()
	there := strings.Split(got, "\n")
	for line := range strings.SplitSeq(want, "\n") {
		if i := slices.Index(there, line); i >= 0 {
			there = slices.Delete(there, i, i+1)
			continue
		}
		t.Errorf("%s: missing %s", what, line)
	}
	if len(there) > 0 {
		t.Errorf("%s: too much: %q", what, there)
	}
}

// TestNumbers: every REAL is read back as the same bits.
func TestNumbers(t *testing.T) {
	from, to := newDB(t, "from.db"), newDB(t, "to.db")
	script(t, from, "CREATE TABLE t (v)")
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		f := math.Float64frombits(random.Uint64())
		if math.IsNaN(f) {
			continue // SQLite keeps none
		}
		if _, err := from.Run(t.Context(), "INSERT INTO t VALUES (?)", []any{f}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	script(t, to, dump(t, from, transfer.DumpOptions{}))
	bits := func(db *d1.Console) (list []uint64) {
		if _, err := db.Run(t.Context(), "SELECT v FROM t ORDER BY rowid", nil, nil, func(v []any) error {
			f, _ := v[0].(float64) // 0 is not among them
			list = append(list, math.Float64bits(f))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	want, got := bits(from), bits(to)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%x was read back as %x", want[i], got[i])
		}
	}
}

func TestDumpPart(t *testing.T) {
	db := newDB(t, "from.db")
	script(t, db, hostile)
	if text := dump(t, db, transfer.DumpOptions{NoData: true}); strings.Contains(text, "INSERT INTO \"auto\"") ||
		!strings.Contains(text, "CREATE TABLE auto") {
		t.Errorf("without data:\n%s", text)
	}
	text := dump(t, db, transfer.DumpOptions{Tables: []string{"AUTO", "words"}})
	to := newDB(t, "to.db")
	script(t, to, text)
	for _, want := range []string{"CREATE TABLE auto", "'auto',100", "CREATE VIRTUAL TABLE words ", `"words_data"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "gaps") {
		t.Errorf("too much:\n%s", text)
	}
	var out bytes.Buffer
	err := transfer.Dump(t.Context(), db, &out, transfer.DumpOptions{Tables: []string{"nowhere"}})
	if e, ok := errors.AsType[*transfer.Error](err); !ok || e.Code != transfer.CodeTable {
		t.Errorf("a table that is not there: %v", err)
	}
}

// scripts are refused texts with their messages.
var scripts = []struct{ text, want string }{
	{"SELECT 1;\nINSERT INTO nowhere VALUES (1);", "x.sql:2:13: no such table: nowhere"},
	{"\ufeffSELECT é, nope FROM t", "x.sql:1:8: no such column: é"},
	{"SELECT 'a\nb',\r\n  nope;", "x.sql:3:3: no such column: nope"},
	{"INSERT INTO t VALUES (1); SELEC 2", `x.sql:1:27: near "SELEC": syntax error`},
	{"INSERT INTO t VALUES (1); INSERT INTO t VALUES ('x", "x.sql:1:49: the quote that begins here never ends"},
	{"/* open", "x.sql:1:1: the comment that begins here never ends"},
	{"SELECT 1;\nSELECT \x00;", "x.sql:2:8: the SQL has a NUL byte"},
	{"SELECT '\xff';", "x.sql:1:9: the byte 0xff is not UTF-8"},
	{
		"INSERT INTO t VALUES (1); ROLLBACK;",
		"x.sql:1:27: not authorized: it is in a transaction of its own already; leave BEGIN, COMMIT, ROLLBACK and SAVEPOINT out",
	},
	{"ATTACH 'x' AS y", "x.sql:1:1: not authorized: other databases cannot be attached, nor this one copied"},
	{"CREATE TEMP TABLE x (y)", "x.sql:1:1: not authorized: temporary tables, views, triggers and indexes are not available"},
	{"PRAGMA writable_schema=ON", `x.sql:1:1: not authorized: PRAGMA "writable_schema" is not available`},
	{"INSERT OR ROLLBACK INTO t VALUES (NULL)", "x.sql:1:1: NOT NULL constraint failed: t.v"},
	{"INSERT INTO t VALUES (?)", "x.sql:1:1: parameters of the statement: 1; values that are given: 0"},
	{
		"INSERT INTO child VALUES (5); INSERT INTO child VALUES (6)",
		`row 1 of "child" names a row of "parent" that does not exist, and 1 more`,
	},
}

func TestScriptRefused(t *testing.T) {
	for _, c := range scripts {
		db := openDB(t, filepath.Join(t.TempDir(), "x.db"), d1.ConsoleOptions{})
		script(
			t, db,
			"CREATE TABLE t (v NOT NULL); CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (p REFERENCES parent (id))",
		)
		_, err := transfer.Script(t.Context(), db, "x.sql", strings.NewReader(c.text), transfer.ScriptOptions{})
		if err == nil || firstOf(err) != c.want {
			t.Errorf("%q: %v\nwant %s", c.text, err, c.want)
		}
		if got := all(t, db); strings.Contains(got, "t [") || strings.Contains(got, "child [\"") {
			t.Errorf("%q left\n%s", c.text, got)
		}
	}
}

// TestScriptMakesTableAnew: a script rebuilds a table with referring rows in the usual steps. SQLite still counts the rows as orphans when
// all of them have their parent.
func TestScriptMakesTableAnew(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "anew.db"), d1.ConsoleOptions{})
	run := func(text string) error {
		_, err := transfer.Script(t.Context(), db, "test.sql", strings.NewReader(text), transfer.ScriptOptions{})
		return err
	}
	for _, text := range []string{
		"CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p (id)); INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)",
		"CREATE TABLE p2 (id INTEGER PRIMARY KEY, x); INSERT INTO p2 (id) SELECT id FROM p; DROP TABLE p; ALTER TABLE p2 RENAME TO p",
	} {
		if err := run(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := run("CREATE TABLE p2 (id INTEGER PRIMARY KEY); DROP TABLE p; ALTER TABLE p2 RENAME TO p"); err == nil ||
		!strings.Contains(err.Error(), `row 1 of "c" names a row of "p"`) {
		t.Errorf("without its rows: %v", err)
	}
}

func firstOf(err error) string {
	if e, ok := errors.AsType[*transfer.Error](err); ok {
		return e.Error()
	}
	return err.Error()
}

// FuzzScript: no text causes a panic, and a refusal's position is inside the text.
func FuzzScript(f *testing.F) {
	for _, c := range scripts {
		f.Add(c.text)
	}
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, text string) {
		db := openDB(t, filepath.Join(t.TempDir(), "x.db"), d1.ConsoleOptions{})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		_, err := transfer.Script(ctx, db, "x.sql", strings.NewReader(text), transfer.ScriptOptions{})
		if e, ok := errors.AsType[*transfer.Error](err); ok && e.Pos.IsValid() {
			if lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r"); e.Pos.Line > lines || e.Pos.Column < 1 {
				t.Errorf("%v is outside of %d lines", e.Pos, lines)
			}
		}
		if !db.Idle() {
			t.Error("a transaction is open")
		}
	})
}

// csvs are files for the table t (n INTEGER, s TEXT, x, made AS (n) STORED), and the rows or the refusal.
var csvs = []struct{ text, want string }{
	{"n,s,x\n1,a,b\n", `[1 "a" "b"]`},
	{"\ufeffs,n\r\nhello,2\r\n\r\nbye,3", `[2 "hello" <nil>] [3 "bye" <nil>]`},
	{"n,s\r1,a\r2,b\r", `[1 "a" <nil>] [2 "b" <nil>]`},
	{"S,\"x\"\n,\n\"\",\"\"\n", `[<nil> <nil> <nil>] [<nil> "" ""]`},
	{"s,x\n\"a \"\"b\"\"\nc\r\nd\",\" , \"\n", `[<nil> "a \"b\"\nc\r\nd" " , "]`},
	{"s\na\x00b\n", `[<nil> "a\x00b" <nil>]`},
	{"n,x\n007,007\n1.5,1.5\nten,\n", `[7 <nil> "007"] [1.5 <nil> "1.5"] ["ten" <nil> <nil>]`},
	{"s\n=cmd|'/c calc'!A1\n", `[<nil> "=cmd|'/c calc'!A1" <nil>]`},
	{"n,s,x\n", ""},
	{"", "x.csv:1:1: the file is empty"},
	{"n,nope\n", `x.csv:1:3: the table "t" has no column "nope" that can be written`},
	{"n,made\n", `x.csv:1:3: the table "t" has no column "made" that can be written`},
	{"n,N\n", `x.csv:1:3: the column "N" is named twice`},
	{"n,s\n1,a\n2\n", "x.csv:3:1: the record has 1 fields, but the first line names 2 columns"},
	{"n,s\n1,a\n2,b,c\n", "x.csv:3:1: the record has 3 fields, but the first line names 2 columns"},
	{"s\n\"a\nb\nc", "x.csv:2:1: the quote that begins this field never ends"},
	{"s\n\"a\"b\n", `x.csv:2:4: "b" follows the quote that ends a field`},
	{"s\na\"b\n", "x.csv:2:2: a quote inside a field that does not begin with a quote"},
	{"n,s\n1,é\n2,\xff\n", "x.csv:3:3: the field is not UTF-8"},
	{"n,s\n1,ok\n2,refused\n", "x.csv:3:3: CHECK constraint failed: not refused"},
	{"n,s\n1,ok\n1,ok\n3,\"\n\n\n\",\n", "x.csv:4:1: the record has 3 fields, but the first line names 2 columns"},
}

func TestCSV(t *testing.T) {
	for _, c := range csvs {
		db := openDB(t, filepath.Join(t.TempDir(), "x.db"), d1.ConsoleOptions{Unbounded: true})
		script(t, db, "CREATE TABLE t (n INTEGER, s TEXT, x, made AS (n) STORED, CONSTRAINT \"not refused\" CHECK (s <> 'refused'))")
		_, err := transfer.CSV(t.Context(), db, "x.csv", "t", strings.NewReader(c.text))
		var got []string
		if _, e := db.Run(t.Context(), "SELECT n, s, x FROM t", nil, nil, func(v []any) error {
			got = append(got, strings.ReplaceAll(fmt.Sprintf("%#v", v), "interface {}(nil)", "<nil>"))
			return nil
		}); e != nil {
			t.Fatal(e)
		}
		rows := strings.Join(got, " ")
		rows = strings.NewReplacer("[]interface {}{", "[", ", ", " ", "}", "]").Replace(rows)
		if strings.HasPrefix(c.want, "x.csv") {
			if err == nil || firstOf(err) != c.want && !strings.HasSuffix(c.want, "not refused") || rows != "" {
				t.Errorf("%q: %v, left %q\nwant %s", c.text, err, rows, c.want)
			}
			continue
		}
		want := strings.NewReplacer(", ", " ").Replace(c.want)
		if err != nil || rows != want {
			t.Errorf("%q: %s, %v\nwant %s", c.text, rows, err, want)
		}
	}
	db := newDB(t, "x.db")
	script(t, db, "CREATE TABLE there (n)")
	_, err := transfer.CSV(t.Context(), db, "x.csv", "t", strings.NewReader("a\n1\n"))
	if e, ok := errors.AsType[*transfer.Error](err); !ok || e.Code != transfer.CodeTable || !strings.Contains(e.Fix, "there") {
		t.Errorf("no such table: %v", err)
	}
}

// FuzzCSV: no file causes a panic, and each is read as a whole or not at all.
func FuzzCSV(f *testing.F) {
	for _, c := range csvs {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		db := newDB(t, "x.db")
		script(t, db, "CREATE TABLE t (n INTEGER, s TEXT, x)")
		rows, err := transfer.CSV(t.Context(), db, "x.csv", "t", strings.NewReader(text))
		var there int64
		if _, e := db.Run(t.Context(), "SELECT count(*) FROM t", nil, nil, func(v []any) error {
			there, _ = v[0].(int64)
			return nil
		}); e != nil {
			t.Fatal(e)
		}
		if there != rows || err != nil && there != 0 {
			t.Errorf("%d rows said, %d there, %v", rows, there, err)
		}
	})
}
