package migrate

import (
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// complete asks SQLite, as its shell does, whether the typed text is a complete statement.
func complete(t testing.TB, text string) bool {
	t.Helper()
	tls := libc.NewTLS()
	defer tls.Close()
	p, err := libc.CString(text)
	if err != nil {
		t.Fatal(err)
	}
	defer libc.Xfree(tls, p)
	return sqlite3.Xsqlite3_complete(tls, p) != 0
}

// FuzzScan checks that the stretches cover all of a file's tokens in order,
// that each ends just where SQLite finds a complete statement, and that every
// refusal points into the file.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"", ";", "SELECT 1", "SELECT 1;\nSELECT ';';", "a'b''c';d", "\"a;\"\"\";`;`;[;];",
		"CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END; SELECT 2;",
		"create temp trigger end after insert on a begin select case 1 when 2 then 3 end; end ;x;",
		"EXPLAIN CREATE TRIGGER t BEGIN ; END ; EXPLAIN QUERY PLAN SELECT 1;", "CREATE TABLE trigger(x); CREATE VIEW t AS SELECT 1;",
		"/* ; */ -- ;\n;", "/* open", "'open", "SELECT ?1, :a, @b, $c;", "\xef\xbb\xbfSELECT é;", "--a\rb", "x'00';", "1e5.3;", "/*/ ; */;",
		"EXPLAIN!CREATE TRIGGER t;SELECT 1; END; SELECT 2;", "EXPLAIN EXPLAIN CREATE TRIGGER t; x;", "QUERY CREATE TRIGGER t; x;",
		"CREATE TRIGGER t BEGIN SELECT 1;; END; SELECT 2;", "; CREATE TRIGGER x ; ;END;;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") || !utf8.ValidString(text) {
			return
		}
		file := File{Name: "f.sql", SQL: []byte(text)}
		spans, err := scan(file)
		if err != nil {
			if e := err; e.Pos.Offset < 0 || e.Pos.Offset >= len(text) || e.Pos.Line < 1 || e.Pos.Column < 1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		before := 0
		for _, s := range spans {
			if s.start < before || s.end <= s.start || s.end > len(text) {
				t.Fatalf("%q: spans %v", text, spans)
			}
			if gap := strings.Trim(text[before:s.start], "; \t\n\f\r"+sqltext.BOM); gap != "" && !strings.Contains(gap, "--") &&
				!strings.Contains(gap, "/*") {
				t.Fatalf("%q: %q is in no span", text, gap)
			}
			if part := text[s.start:s.end]; strings.HasSuffix(part, ";") && s.end < len(text) && !strings.Contains(text, sqltext.BOM) &&
				!complete(t, part) {
				t.Fatalf("%q: %q is not complete to SQLite", text, part)
			}
			before = s.end
		}
	})
}

// preparer compiles statements as sqlite3_prepare_v2 does, in a database with the table a.
type preparer struct {
	tls *libc.TLS
	db  uintptr
}

func newPreparer(t testing.TB) *preparer {
	t.Helper()
	p := &preparer{tls: libc.NewTLS()}
	out, name := libc.Xcalloc(p.tls, 1, 8), must(libc.CString(":memory:"))
	defer libc.Xfree(p.tls, out)
	defer libc.Xfree(p.tls, name)
	if rc := sqlite3.Xsqlite3_open(p.tls, name, out); rc != sqlite3.SQLITE_OK {
		t.Fatal(rc)
	}
	p.db = *(*uintptr)(pointer(out))
	t.Cleanup(func() {
		sqlite3.Xsqlite3_close(p.tls, p.db)
		p.tls.Close()
	})
	create := must(libc.CString("CREATE TABLE a(x); CREATE TABLE b(x, y);"))
	defer libc.Xfree(p.tls, create)
	if rc := sqlite3.Xsqlite3_exec(p.tls, p.db, create, 0, 0, 0); rc != sqlite3.SQLITE_OK {
		t.Fatal(rc)
	}
	return p
}

func must(p uintptr, err error) uintptr {
	if err != nil {
		panic(err) // out of memory
	}
	return p
}

func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// end is the offset at which SQLite ends the first statement of a text; empty is true without a statement, and ok is false if SQLite
// refuses it.
func (p *preparer) end(text string) (n int, empty, ok bool) {
	sql, out := must(libc.CString(text)), libc.Xcalloc(p.tls, 2, 8)
	defer libc.Xfree(p.tls, sql)
	defer libc.Xfree(p.tls, out)
	rc := sqlite3.Xsqlite3_prepare_v2(p.tls, p.db, sql, -1, out, out+8)
	statement, tail := *(*uintptr)(pointer(out)), *(*uintptr)(pointer(out + 8))
	sqlite3.Xsqlite3_finalize(p.tls, statement)
	return int(tail - sql), statement == 0, rc == sqlite3.SQLITE_OK
}

// FuzzEnds checks that each statement ends where SQLite's own compiler ends it, as far as that takes the text.
func FuzzEnds(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1; SELECT ';' ; -- ;\nSELECT \";\", `;`, [x] FROM a AS [;]; SELECT 2",
		"/* ; */ INSERT INTO a VALUES ('a;''b');;; DELETE FROM a",
		"CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; DELETE FROM a; END; SELECT 3;", "CREATE TABLE c(x CHECK (x <> ';')); SELECT 1",
		"create temp trigger t after insert on a begin select case 1 when 2 then 3 end; end ; select 1;",
		"EXPLAIN SELECT 1; EXPLAIN QUERY PLAN SELECT 1; PRAGMA user_version; SELECT 1",
		"EXPLAIN CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END; SELECT 1;",
		"CREATE TRIGGER \"begin;\" INSTEAD OF INSERT ON v BEGIN SELECT 1; END;", "SELECT x'00', 1e5, 0x1F, 1_000; SELECT 1;",
		"\xef\xbb\xbfSELECT 1;\xef\xbb\xbf SELECT 2", "SELECT 'é;ü' AS \"ß;\"; SELECT 1", "SELECT 1 --;\r; SELECT 2",
		"SELECT 1;\f\t\r\n\v SELECT 2;", "VACUUM; BEGIN; COMMIT; ANALYZE; REINDEX a;",
		"WITH t AS (SELECT 1) SELECT * FROM t; VALUES (1), (2); ALTER TABLE a ADD COLUMN z; DROP TABLE a; SELECT 1 -> '$';",
	} {
		f.Add(seed)
	}
	p := newPreparer(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") || !utf8.ValidString(text) {
			return
		}
		spans, refusal := scan(File{Name: "f.sql", SQL: []byte(text)})
		if refusal != nil {
			return
		}
		for at := 0; at < len(text); {
			n, empty, ok := p.end(text[at:])
			if !ok || n == 0 {
				return
			}
			at += n
			if empty {
				continue
			}
			if len(spans) == 0 || spans[0].end != at && strings.Trim(text[spans[0].end:at], " \t\n\f\r") != "" {
				t.Fatalf("%q: SQLite ends a statement at %d, and the spans left are %v", text, at, spans)
			}
			spans = spans[1:]
		}
	})
}

func TestStatementsAsSQLite(t *testing.T) {
	// Each piece is one statement to SQLite; joined, they must come apart again.
	pieces := []string{
		"SELECT ';' || \";\";", "CREATE TABLE \"trigger\"(a, b);",
		"CREATE TEMPORARY TRIGGER a AFTER INSERT ON b BEGIN SELECT 1; SELECT 2; END;",
		"EXPLAIN QUERY PLAN SELECT 1;",
		"CREATE TRIGGER [end;] AFTER INSERT ON b BEGIN SELECT CASE 1 WHEN 1 THEN ';' END; /* END; */ END /* ; */ ;",
		"INSERT INTO trigger VALUES (1);", "UPDATE end SET a = 1;",
	}
	spans, err := scan(File{SQL: []byte(strings.Join(pieces, "\n"))})
	if err != nil || len(spans) != len(pieces) {
		t.Fatalf("%v, %v", spans, err)
	}
	for i, s := range spans {
		if got := strings.Join(pieces, "\n")[s.start:s.end]; got != pieces[i] {
			t.Errorf("got %q, want %q", got, pieces[i])
		}
		if !complete(t, pieces[i]) {
			t.Errorf("%q is not complete", pieces[i])
		}
	}
}
