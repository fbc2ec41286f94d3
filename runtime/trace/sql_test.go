package trace

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// statements have their texts without values.
var statements = map[string]string{
	"":                                               "",
	"SELECT 1":                                       "SELECT ?",
	"SELECT a1, b_2 FROM t3":                         "SELECT a1, b_2 FROM t3",
	"SELECT * FROM t WHERE a = ?1 AND b=:x":          "SELECT * FROM t WHERE a = ?1 AND b=:x",
	"SELECT 'it''s' || x'00ff' || X'0A'":             "SELECT ? || ? || ?",
	"SELECT 1.5e-3, .5, 0xFF-1, 1_000":               "SELECT ?, ?, ?-?, ?",
	"SELECT 'never ends":                             "SELECT ?",
	`SELECT "a", "the table" FROM "users"`:           `SELECT "a", ? FROM "users"`,
	"SELECT `a b`, [c 1] FROM t":                     "SELECT `a b`, [c 1] FROM t",
	"SELECT 1 -- ann@example.org\n, 2":               "SELECT ?  , ?",
	"/* trace */ SELECT a":                           "SELECT a",
	"SELECT ä7 FROM ö":                               "SELECT ä7 FROM ö",
	"WITH x AS (SELECT 12) SELECT * FROM x LIMIT 10": "WITH x AS (SELECT ?) SELECT * FROM x LIMIT ?",
}

func TestWithoutValues(t *testing.T) {
	for sql, want := range statements {
		if got := withoutValues(sql); got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}

func TestOperation(t *testing.T) {
	for sql, want := range map[string]string{
		"select 1": "SELECT", " -- a\n insert into t": "INSERT", "": "", "'a' 1": "", "(values (1))": "VALUES",
		strings.Repeat("a", 99): "AAAAAAAAAAAA",
	} {
		if got := verb(sql); got != want {
			t.Errorf("%q: %q, want %q", sql, got, want)
		}
	}
}

func FuzzWithoutValues(f *testing.F) {
	for sql := range statements {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		got := withoutValues(sql)
		if len(got) > 2*len(sql)+1 || utf8.ValidString(sql) && !utf8.ValidString(got) {
			t.Errorf("%q: %q", sql, got)
		}
		if strings.Contains(got, "'") && !strings.ContainsAny(sql, "`[") { // which begin names
			t.Errorf("%q holds a text: %q", sql, got)
		}
		_ = verb(sql)
	})
}
