package rowlimit_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate/rowlimit"
)

const schema = `
CREATE TABLE q(id INTEGER PRIMARY KEY, a, b TEXT COLLATE NOCASE);
INSERT INTO q VALUES (1,3,'x'),(2,1,'Y'),(3,2,'z'),(4,1,'X'),(5,NULL,'y'),(6,3,NULL),(7,2,'w');
CREATE INDEX qa ON q(a);
CREATE TABLE "or der"("li mit" INT, "from" TEXT, rowid TEXT);
INSERT INTO "or der" VALUES (3,'c','r3'),(1,'a','r1'),(2,'b','r2'),(2,'d','r4');
CREATE TABLE w(k TEXT, n INT, v, PRIMARY KEY(k, n)) WITHOUT ROWID;
INSERT INTO w VALUES ('a',1,10),('a',2,20),('b',1,5),('b',2,30),('c',1,1);
CREATE TABLE one(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO one VALUES ('m',2),('n',1),('o',3);
CREATE TABLE s(qid INT, x);
INSERT INTO s VALUES (1,'s1'),(2,'s2'),(2,'s2'),(4,'s4'),(7,'s7');
CREATE TABLE log(t);
CREATE TRIGGER q_gone AFTER DELETE ON q BEGIN INSERT INTO log VALUES ('gone ' || old.id); END;
CREATE TRIGGER q_new AFTER UPDATE ON q BEGIN INSERT INTO log VALUES ('new ' || new.id); END;
CREATE TABLE parent(id INTEGER PRIMARY KEY, n);
CREATE TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent ON DELETE CASCADE);
INSERT INTO parent VALUES (1,3),(2,2),(3,1);
INSERT INTO child VALUES (1,1),(2,2),(3,2),(4,3);
CREATE TABLE strict_(id INTEGER PRIMARY KEY, t TEXT NOT NULL, u INT UNIQUE) STRICT;
INSERT INTO strict_ VALUES (1,'a',10),(2,'b',20),(3,'c',30);
CREATE VIRTUAL TABLE f USING fts5(t);
CREATE VIEW look AS SELECT id, a FROM q;
INSERT INTO f VALUES ('one fish'),('two fish'),('red fish'),('blue bird');
`

var tables = []string{`q`, `"or der"`, `w`, `one`, `s`, `log`, `parent`, `child`, `strict_`, `f`}

type testCase struct {
	sql  string
	args []any
}

// statements are the cases: all pairs of some heads and tails, and those with something of their own.
func statements() (cases []testCase) {
	add := func(sql string, args ...any) { cases = append(cases, testCase{sql, args}) }
	heads := []string{
		"DELETE FROM q %s", "DELETE FROM main.q AS t %s", "DELETE FROM q NOT INDEXED %s", "delete from [q] %s",
		"UPDATE q SET b = b || '!' %s", "UPDATE OR IGNORE q AS t SET a = a + 1, b = 'n' %s", "UPDATE q SET (a, b) = (9, 'p') %s",
		"WITH c AS (SELECT 2 AS n) DELETE FROM q %s",
	}
	wheres := []string{"", "WHERE a > 1", "WHERE a IS NOT DISTINCT FROM 1 OR b = 'Z'"}
	tails := []string{
		"ORDER BY a LIMIT 2", "ORDER BY b DESC, id LIMIT 3 OFFSET 1", "LIMIT 0", "ORDER BY id DESC LIMIT -1", "ORDER BY id LIMIT 1, 2",
		"ORDER BY CASE WHEN a = 1 THEN 0 ELSE id END, id LIMIT (SELECT 2)",
	}
	for _, head := range heads {
		for _, where := range wheres {
			for _, tail := range tails {
				add(fmt.Sprintf(head, where+" "+tail))
			}
		}
	}
	for _, text := range []string{
		`DELETE FROM q WHERE id IN (SELECT qid FROM s ORDER BY qid LIMIT 3) ORDER BY id DESC LIMIT 1`,
		`DELETE FROM q INDEXED BY qa WHERE a = 2 ORDER BY id LIMIT 1`,
		`UPDATE q INDEXED BY qa SET b = 'i' WHERE a = 2 ORDER BY id DESC LIMIT 1`,
		`DELETE FROM q WHERE a = 1 RETURNING id, b ORDER BY id LIMIT 1`,
		`UPDATE q SET a = 0 RETURNING id, a AS "was" ORDER BY id DESC LIMIT 2`,
		"DELETE FROM q -- ORDER BY\nWHERE a = 1 -- LIMIT 9\nORDER BY id /* LIMIT */ LIMIT 1 -- end",
		`DELETE FROM q WHERE b = 'ORDER BY LIMIT' OR b = 'x' ORDER BY id LIMIT 1;`,
		`DELETE FROM "or der" ORDER BY "li mit" DESC, "from" LIMIT 2`,
		"UPDATE `or der` SET \"from\" = 'new' WHERE \"li mit\" = 2 ORDER BY [from] DESC LIMIT 1",
		`UPDATE "or der" SET rowid = 'set' ORDER BY rowid DESC LIMIT 1`,
		`DELETE FROM w ORDER BY v DESC LIMIT 2`,
		`DELETE FROM main.w AS x WHERE x.n = 1 ORDER BY x.v LIMIT 1`,
		`UPDATE w SET v = v * 2 WHERE k <> 'c' ORDER BY v LIMIT 2 OFFSET 1`,
		`UPDATE w SET n = n + 10 ORDER BY v DESC LIMIT 3`,
		`UPDATE w SET v = 0 RETURNING k, n ORDER BY v LIMIT 2`,
		`DELETE FROM one ORDER BY v LIMIT 1`,
		`UPDATE one SET k = k || k ORDER BY v DESC LIMIT 2`,
		`UPDATE q SET b = s.x FROM s WHERE s.qid = q.id ORDER BY q.id DESC LIMIT 2`,
		`UPDATE q AS t SET b = s.x FROM s JOIN parent ON parent.id = s.qid WHERE s.qid = t.id ORDER BY t.id LIMIT 1`,
		`UPDATE q SET b = j.x FROM (SELECT qid, x FROM s ORDER BY qid DESC LIMIT 3) AS j WHERE j.qid = q.id ORDER BY q.id LIMIT 1`,
		`UPDATE w SET v = q.a FROM q WHERE q.id = w.n ORDER BY w.k, w.n LIMIT 3`,
		`DELETE FROM parent ORDER BY n DESC LIMIT 1`,
		`UPDATE parent SET n = 0 WHERE id IN (SELECT p FROM child GROUP BY p HAVING count(*) > 1) LIMIT 1`,
		`UPDATE OR REPLACE strict_ SET u = 30 ORDER BY id LIMIT 1`,
		`UPDATE OR IGNORE strict_ SET u = 30 ORDER BY id LIMIT 2`,
		`UPDATE strict_ SET u = 30 ORDER BY id LIMIT 1`,
		`UPDATE strict_ SET t = NULL ORDER BY id LIMIT 1`,
		`DELETE FROM f WHERE f MATCH 'fish' ORDER BY rowid DESC LIMIT 1`,
		`UPDATE f SET t = 'new fish' WHERE f MATCH 'fish' ORDER BY rank, rowid LIMIT 1`,
		`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3) DELETE FROM q WHERE id IN c ORDER BY id DESC LIMIT 2`,
		`WITH a AS (SELECT 1), b(x) AS MATERIALIZED (SELECT a FROM q WHERE id = 3)
UPDATE q SET b = 'w' WHERE a = (SELECT x FROM b) ORDER BY id LIMIT 1`,
		`DELETE FROM q WHERE EXISTS (SELECT 1 FROM s WHERE s.qid = q.id LIMIT 1) ORDER BY id LIMIT 2`,
		`DELETE FROM q ORDER BY (SELECT count(*) FROM s WHERE s.qid = q.id) DESC, id LIMIT 1`,
		`DELETE FROM q ORDER BY length(b), id LIMIT 1 + 1`,
		`DELETE FROM q ORDER BY random() LIMIT 7`,
		// refused, with the words of SQLite
		`DELETE FROM q ORDER BY a`,
		`UPDATE q SET a = 1 ORDER BY a`,
		`DELETE FROM q ORDER BY missing LIMIT 1`,
		`DELETE FROM q WHERE missing = 1 ORDER BY a LIMIT 1`,
		`UPDATE q SET missing = 1 LIMIT 1`,
		`DELETE FROM missing ORDER BY a LIMIT 1`,
		`DELETE FROM look ORDER BY a LIMIT 1`,
		`UPDATE Look SET a = 1 LIMIT 1`,
		`DELETE FROM q LIMIT 'x'`,
		`DELETE FROM q LIMIT a`,
		`DELETE FROM q ORDER BY a LIMIT;`,
		`DELETE FROM q ORDER BY LIMIT 1`,
		`DELETE FROM q ORDER a LIMIT 1`,
		`DELETE FROM q LIMIT 1 ORDER BY a`,
		`DELETE FROM q LIMIT 1 WHERE a = 1`,
		`DELETE FROM q ORDER BY a LIMIT 1 RETURNING id`,
		`DELETE FROM q ORDER BY a LIMIT 1 LIMIT 2`,
		`DELETE FROM q LIMIT 1 nonsense`,
		`DELETE FROM q WHERE a = max(1, ORDER BY a LIMIT 1`,
		`DELETE q ORDER BY a LIMIT 1`,
		`UPDATE q ORDER BY a LIMIT 1`,
		`UPDATE q SET LIMIT 1`,
		`INSERT INTO q(a) VALUES (1) LIMIT 1`,
		`CREATE TRIGGER x AFTER INSERT ON s BEGIN DELETE FROM q ORDER BY a LIMIT 1; END`,
		`CREATE TRIGGER x AFTER INSERT ON s BEGIN UPDATE q SET a = 1 LIMIT 1; END`,
		`DELETE FROM q INDEXED BY none ORDER BY a LIMIT 1`,
	} {
		add(text)
	}
	add(`DELETE FROM q WHERE a = ? ORDER BY id LIMIT ?`, 1, 1)
	add(`DELETE FROM q WHERE a >= ?2 ORDER BY id LIMIT ?1`, 2, 1)
	add(`UPDATE q SET b = ? WHERE a > ? ORDER BY id DESC LIMIT ? OFFSET ?`, "set", 0, 2, 1)
	add(`UPDATE q SET b = ? WHERE a = ? RETURNING id, ? ORDER BY id LIMIT ?`, "set", 1, "back", 1)
	add(`UPDATE q SET b = ?3 WHERE a = ? RETURNING id, ?2 ORDER BY id LIMIT ?1`, 1, "back", "set", 1)
	add(`UPDATE q SET b = s.x || ? FROM s WHERE s.qid = q.id AND q.a < ? ORDER BY q.id LIMIT ?`, "+", 9, 2)
	return cases
}

// ours runs a statement as modernc.org/sqlite has it, rewritten.
func ours(t *testing.T, c testCase) string {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "PRAGMA foreign_keys = ON;"+schema); err != nil {
		t.Fatal(err)
	}
	var out []string
	lines, err := rowsOf(t.Context(), db, c.sql, c.args)
	if err != nil && rowlimit.Needed(messageOf(err)) {
		s, failed := rowlimit.Rewrite(c.sql, columnsOf(t, db))
		switch {
		case failed != nil:
			err = failed
		case s != nil:
			if lines, err = rowsOf(t.Context(), db, s.Text, c.args); err != nil {
				message, _ := s.Blame(messageOf(err), -1)
				err = errors.New(message)
			}
		}
	}
	slices.Sort(lines)
	out = append(out, lines...)
	if err != nil {
		out = append(out, "error: "+messageOf(err))
	}
	for _, table := range tables {
		lines, err := rowsOf(t.Context(), db, "SELECT * FROM "+table+" ORDER BY 1, 2", nil)
		if err != nil { // of one column
			lines, err = rowsOf(t.Context(), db, "SELECT * FROM "+table+" ORDER BY 1", nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, table), lines...)
	}
	return strings.Join(out, "\n")
}

func columnsOf(t *testing.T, db *sql.DB) rowlimit.Query {
	t.Helper()
	return func(query string) (columns []rowlimit.Column, err error) {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var c rowlimit.Column
			if err := rows.Scan(&c.Schema, &c.Table, &c.Type, &c.WithoutRowid, &c.Name, &c.Part); err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
		return columns, rows.Err()
	}
}

func messageOf(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		text = strings.TrimSuffix(text, fmt.Sprintf(" (%d)", e.Code()))
		text = strings.TrimPrefix(strings.TrimPrefix(text, "SQL logic error: "), "constraint failed: ")
		text = strings.TrimPrefix(text, "datatype mismatch: ")
	}
	return text
}

func rowsOf(ctx context.Context, db *sql.DB, query string, args []any) (lines []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		var cells []string
		for _, v := range values {
			if v == nil {
				v = ""
			}
			cells = append(cells, fmt.Sprint(v))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return lines, rows.Err()
}

// theirs runs a statement in the shell of an SQLite that has the form.
func theirs(t *testing.T, shell string, c testCase) string {
	t.Helper()
	var script strings.Builder
	script.WriteString("PRAGMA foreign_keys = ON;" + schema + ".parameter init\n")
	for i, v := range c.args {
		if text, ok := v.(string); ok {
			v = "'" + text + "'"
		}
		fmt.Fprintf(&script, ".parameter set ?%d \"%v\"\n", i+1, v)
	}
	script.WriteString(c.sql + "\n;\n.print ----\n")
	for _, table := range tables {
		second := ", 2"
		if table == "log" || table == "f" { // which have one column
			second = ""
		}
		fmt.Fprintf(&script, ".print '%s'\nSELECT * FROM %s ORDER BY 1%s;\n", table, table, second)
	}
	cmd := exec.CommandContext(t.Context(), shell, "-batch", ":memory:")
	cmd.Stdin = strings.NewReader(script.String())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && stderr.Len() == 0 {
		t.Fatal(err)
	}
	rows, dump, _ := strings.Cut(stdout.String(), "----\n")
	var out []string
	if rows != "" {
		out = strings.Split(strings.TrimSuffix(rows, "\n"), "\n")
		slices.Sort(out)
	}
	if stderr.Len() > 0 {
		first, _, _ := strings.Cut(stderr.String(), "\n")
		_, message, _ := strings.Cut(first, ": ")
		if i := strings.LastIndex(message, " ("); i > 0 && strings.HasPrefix(first, "Runtime") {
			message = message[:i]
		}
		out = append(out, "error: "+message)
	}
	return strings.Join(append(out, strings.TrimSuffix(dump, "\n")), "\n")
}

// TestAsSQLite runs statements here and in an SQLite that has the form: the rows and the errors are equal.
func TestAsSQLite(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		testmachine.Lacks(t, "the shell of SQLite", err)
	}
	options, err := exec.CommandContext(t.Context(), shell, ":memory:", "PRAGMA compile_options").Output()
	if err != nil || !strings.Contains(string(options), "ENABLE_UPDATE_DELETE_LIMIT") {
		testmachine.Lacks(t, "a shell of SQLite with ENABLE_UPDATE_DELETE_LIMIT", err)
	}
	for i, c := range statements() {
		t.Run(fmt.Sprint(i, " ", c.sql), func(t *testing.T) {
			got, want := ours(t, c), theirs(t, shell, c)
			if strings.Contains(c.sql, "random()") {
				got, want = strings.Split(got, "\nlog")[0], strings.Split(want, "\nlog")[0]
			}
			if got != want {
				t.Errorf("here\n%s\nSQLite\n%s", got, want)
			}
		})
	}
}

// TestBlame: a byte of the statement for SQLite maps to a byte of the author's text, or to none.
func TestBlame(t *testing.T) {
	const text = "WITH c AS (SELECT 1) DELETE FROM q /* all */ WHERE a = ? RETURNING ? ORDER BY b LIMIT ?; SELECT 2"
	s, err := rowlimit.Rewrite(text, func(string) ([]rowlimit.Column, error) {
		return []rowlimit.Column{{Schema: "main", Type: "table", Name: "rowid"}, {Schema: "main", Type: "table", Name: "a"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `WITH c AS (SELECT 1) DELETE FROM q WHERE q._rowid_ IN (SELECT q._rowid_ FROM "main".q WHERE a = ?1` +
		` ORDER BY b LIMIT ?3) RETURNING ?2`
	if s.Text != want {
		t.Errorf("%s\nwant\n%s", s.Text, want)
	}
	if got := text[:s.End]; !strings.HasSuffix(got, "LIMIT ?;") {
		t.Errorf("the statement ends behind %q", got)
	}
	for _, word := range []string{"WITH", "DELETE", "ORDER", "LIMIT", "RETURNING"} {
		if _, origin := s.Blame("", strings.Index(s.Text, word)); origin != strings.Index(text, word) {
			t.Errorf("%q is blamed at %d, want %d", word, origin, strings.Index(text, word))
		}
	}
	if _, origin := s.Blame("", strings.Index(s.Text, "_rowid_")); origin != -1 {
		t.Errorf("a word of ours is at %d of the author's text", origin)
	}
}

// FuzzRewrite: no text causes a panic, and each of the author's tokens keeps its place.
func FuzzRewrite(f *testing.F) {
	for _, c := range statements() {
		f.Add(c.sql)
	}
	f.Add("UPDATE OR")
	f.Add("DELETE FROM a.")
	f.Add("UPDATE a. SET x = ?99999999999999999999 LIMIT ?")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := rowlimit.Rewrite(text, func(string) ([]rowlimit.Column, error) { return nil, nil })
		if err != nil || s == nil {
			return
		}
		if s.End < 1 || s.End > len(text) {
			t.Fatalf("ends at %d of %d", s.End, len(text))
		}
		for at := range s.Text {
			if _, origin := s.Blame("", at); origin >= len(text) {
				t.Fatalf("byte %d is blamed at %d of %d", at, origin, len(text))
			}
		}
	})
}
