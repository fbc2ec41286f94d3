package migrate

import (
	"strings"
	"testing"
	"unicode/utf8"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// complete is what SQLite's shell asks before it runs what was typed.
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
			if gap := strings.Trim(text[before:s.start], "; \t\n\f\r"+bom); gap != "" && !strings.Contains(gap, "--") && !strings.Contains(gap, "/*") {
				t.Fatalf("%q: %q is in no span", text, gap)
			}
			if part := text[s.start:s.end]; strings.HasSuffix(part, ";") && s.end < len(text) && !strings.Contains(text, bom) && !complete(t, part) {
				t.Fatalf("%q: %q is not complete to SQLite", text, part)
			}
			before = s.end
		}
	})
}

func TestStatementsAsSQLite(t *testing.T) {
	// Each piece is one statement to SQLite; joined, they must come apart again.
	pieces := []string{
		"SELECT ';' || \";\";", "CREATE TABLE \"trigger\"(a, b);", "CREATE TEMPORARY TRIGGER a AFTER INSERT ON b BEGIN SELECT 1; SELECT 2; END;",
		"EXPLAIN QUERY PLAN SELECT 1;", "CREATE TRIGGER [end;] AFTER INSERT ON b BEGIN SELECT CASE 1 WHEN 1 THEN ';' END; /* END; */ END /* ; */ ;",
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
