package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pages-toolchain/pages/migrate"
)

// one runs a query for one value.
func one(t testing.TB, db *sql.DB, query string) (value string) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func execute(t testing.TB, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func describe(changes []migrate.Change) string {
	var out []string
	for _, c := range changes {
		sign := "~"
		switch {
		case c.Before == "":
			sign = "+"
		case c.After == "":
			sign = "-"
		}
		out = append(out, sign+c.Kind+" "+c.Name)
	}
	return strings.Join(out, " ")
}

func TestPlan(t *testing.T) {
	db := open(t)
	first := "CREATE TABLE a(x UNIQUE); CREATE TABLE old(y); CREATE INDEX i ON a(x); INSERT INTO a VALUES (1), (2);"
	apply(t, db, list("1.sql", first))
	files := list(
		"1.sql", first, "2.sql", "UPDATE a SET x = x + 10; DELETE FROM a WHERE x = 12; DROP TABLE old", "3.sql",
		"CREATE TABLE b AS SELECT * FROM a; ALTER TABLE a ADD COLUMN z; CREATE VIEW v AS SELECT z FROM a; DROP INDEX i;\n",
	)
	before := dump(t, db) + ledger(t, db)
	o := options
	o.Tables = []string{"b"}
	plan, err := migrator(db, files, o).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Files) != 2 || plan.Files[0].Changed != 3 || plan.Files[1].Position != 3 || len(plan.Pending) != 2 {
		t.Errorf("%+v", plan.Files)
	}
	if got := describe(plan.Changes); got != "~table a -index i -table old +table b +view v" {
		t.Errorf("changes: %s", got)
	}
	if got := fmt.Sprint(plan.Tables); got != "[{a 2 1} {b 0 1} {old 0 0}]" {
		t.Errorf("rows: %s", got)
	}
	files[2].SQL = []byte("CREATE TABLE b(x); INSERT INTO a VALUES (11)")
	plan, err = migrator(db, files, o).Plan(t.Context())
	if codes(err) != "3.sql:1:20 migration_failed" || len(plan.Files) != 1 || plan.Failed != "3.sql" {
		t.Errorf("%+v, %v", plan, err)
	}
	if got := dump(t, db) + ledger(t, db); got != before {
		t.Errorf("database holds %s", got)
	}
}

func TestRehearse(t *testing.T) {
	db := open(t)
	files := list("1.sql", "CREATE TABLE a(x); -- one\n", "2.sql", "CREATE TABLE b(y);", "3.sql", "CREATE TABLE c(z)")
	if h, err := migrator(db, files, options).Rehearse(t.Context()); err != nil || h.Compared || len(h.Applied) != 3 {
		t.Errorf("without a database: %+v, %v", h, err)
	}
	apply(t, db, files[:2])
	if h, err := migrator(db, files, options).Rehearse(t.Context()); err != nil || !h.Compared || len(h.Changes) != 0 {
		t.Errorf("with one: %+v, %v", h, err)
	}
	execute(t, db, "CREATE TABLE hand(x); DROP TABLE b; CREATE TABLE b(y, z);")
	h, err := migrator(db, files, options).Rehearse(t.Context())
	if got := describe(h.Changes); err != nil || got != "~table b -table hand" {
		t.Errorf("changed by hand: %s, %v", got, err)
	}
	files[2].SQL = []byte("DROP TABLE nowhere")
	if h, err := migrator(db, files, options).Rehearse(t.Context()); codes(err) != "3.sql:1:12 migration_failed" || len(h.Applied) != 2 {
		t.Errorf("%+v, %v", h, err)
	}
	if got := ledger(t, db); got != "1:1.sql 2:2.sql" {
		t.Errorf("ledger %s", got)
	}
}

func TestSchema(t *testing.T) {
	db := open(t)
	files := list("1.sql",
		"CREATE TABLE b(x); -- c\nCREATE TABLE a(y -- why\n, z);CREATE INDEX i ON b(x);CREATE VIEW v AS SELECT 1 -- "+
			"one\n;CREATE VIRTUAL TABLE f USING fts5(t);"+
			"CREATE TRIGGER t AFTER INSERT ON b BEGIN SELECT 1; END;")
	if _, err := migrator(db, files, options).Schema(t.Context()); codes(err) != migrate.CodePending ||
		!strings.Contains(err.Error(), "1.sql is not applied yet") {
		t.Error(err)
	}
	apply(t, db, files)
	text, err := migrator(db, files, options).Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := open(t)
	execute(t, again, text)
	if got, want := dump(t, again), dump(t, db); got != want {
		t.Errorf("the schema makes %s, want %s\n%s", got, want, text)
	}
	if !strings.HasPrefix(text, "CREATE TABLE a(y") {
		t.Error(text)
	}
}

func TestReset(t *testing.T) {
	db := open(t)
	files := list("1.sql", "CREATE TABLE a(x); INSERT INTO a VALUES (1);")
	o := options
	o.UndoDir = filepath.Join(t.TempDir(), "undo")
	o.Tables = []string{"a"}
	apply(t, db, files)
	execute(t, db, "INSERT INTO a VALUES (2); CREATE TABLE hand(x);")
	broken := list("1.sql", "CREATE TABLE a(x); INSERT INTO a VALUES (1);", "2.sql", "CREATE TABL")
	if result, err := migrator(db, broken, o).Reset(t.Context()); codes(err) != "2.sql:1:8 migration_failed" || result.Failed != "2.sql" {
		t.Errorf("%+v, %v", result, err)
	}
	if one(t, db, "SELECT count(*) FROM a, hand") != "0" || one(t, db, "SELECT count(*) FROM a") != "2" {
		t.Error("a reset that failed changed the database")
	}
	if result, err := migrator(db, files, o).Reset(t.Context()); err != nil || len(result.Applied) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	if got := dump(t, db) + " " + ledger(t, db); got != "table a 1:1.sql" || one(t, db, "SELECT count(*) FROM a") != "1" {
		t.Errorf("database holds %s", got)
	}
	if one(t, db, "PRAGMA journal_mode") != "wal" || one(t, db, "PRAGMA integrity_check") != "ok" {
		t.Error("the database is not what it was opened as")
	}
	if left, _ := filepath.Glob(filepath.Join(o.UndoDir, ".saving-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	if _, err := migrator(db, files, o).Undo(t.Context()); err != nil || one(t, db, "SELECT count(*) FROM a") != "2" {
		t.Errorf("undo: %v", err)
	}
}

func TestUndo(t *testing.T) {
	db := open(t)
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	o := options
	o.UndoDir = filepath.Join(t.TempDir(), "undo")
	if _, err := migrator(db, nil, o).Undo(t.Context()); codes(err) != migrate.CodeNoUndo {
		t.Error(err)
	}
	var files []migrate.File
	for i := range migrate.Kept + 2 {
		files = append(files, list(fmt.Sprintf("%02d.sql", i), fmt.Sprintf("CREATE TABLE t%d(x);", i))...)
		m := migrator(db, files, o)
		for range 2 { // the second has nothing to do, and keeps nothing
			if _, err := m.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := migrator(db, append(files, list("99.sql", "DROP TABLE nowhere")...), o).Apply(t.Context()); err == nil {
		t.Error("no error")
	}
	m := migrator(db, files, o)
	copies, err := m.Copies()
	if err != nil || len(copies) != migrate.Kept || copies[0].Number != migrate.Kept+2 || copies[0].MadeAt != options.Now() {
		t.Fatalf("%+v, %v", copies, err)
	}
	execute(t, db, "INSERT INTO t0 VALUES ('later')")
	if _, err := m.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := other.QueryRowContext(t.Context(), "SELECT count(*) FROM t0").Scan(&n); err != nil || n != 0 {
		t.Errorf("another connection sees %d rows, %v", n, err)
	}
	if status, err := m.Status(t.Context()); err != nil || len(status.Pending) != 1 || status.Pending[0].Name != "11.sql" {
		t.Errorf("%+v, %v", status, err)
	}
	if err := m.Redo(t.Context()); err != nil || one(t, db, "SELECT x FROM t0") != "later" {
		t.Errorf("redo: %v", err)
	}
	if err := m.Redo(t.Context()); codes(err) != migrate.CodeNoUndo {
		t.Error(err)
	}
	for range migrate.Kept {
		if _, err := m.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(strings.Fields(ledger(t, db))); got != 2 {
		t.Errorf("after all undos %d files are applied, want 2", got)
	}
	if one(t, db, "PRAGMA integrity_check") != "ok" {
		t.Error("damaged")
	}
}

// TestUndoLocked: the write lock of another is not broken.
func TestUndoLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	o := options
	o.UndoDir = t.TempDir()
	files := list("1.sql", "CREATE TABLE a(x)")
	if _, err := migrator(openPath(t, path), files, o).Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	holder, err := openPath(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE; INSERT INTO a VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	impatient, err := sql.Open("sqlite", strings.Replace(dsn(path), "busy_timeout(5000)", "busy_timeout(10)", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	if _, err := migrator(impatient, files, o).Undo(t.Context()); codes(err) != migrate.CodeLocked {
		t.Error(err)
	}
	if _, err := holder.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if _, err := migrator(impatient, files, o).Undo(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRepair(t *testing.T) {
	const a, b = "CREATE TABLE a(x)", "CREATE TABLE b(x)"
	tests := []struct {
		name   string
		files  []migrate.File
		stated migrate.Repair
		want   string // the ledger, or the code
	}{
		{"accept", list("1.sql", "-- edited", "2.sql", b), migrate.Repair{Accept: []string{"1.sql"}}, "1:1.sql 2:2.sql"},
		{"accept an unchanged one", list("1.sql", a, "2.sql", b), migrate.Repair{Accept: []string{"1.sql"}}, migrate.CodeRepair},
		{"forget", list("2.sql", b), migrate.Repair{Forget: []string{"1.sql"}}, "2:2.sql"},
		{"forget one that exists", list("1.sql", a, "2.sql", b), migrate.Repair{Forget: []string{"2.sql"}}, "1:1.sql"},
		{"forget what never was", list("1.sql", a, "2.sql", b), migrate.Repair{Forget: []string{"3.sql"}}, migrate.CodeRepair},
		{
			"record", list("1.sql", a, "2.sql", b, "3.sql", "CREATE TABLE a(x)"),
			migrate.Repair{Record: []string{"3.sql"}},
			"1:1.sql 2:2.sql 3:3.sql",
		},
		{"record an applied one", list("1.sql", a, "2.sql", b), migrate.Repair{Record: []string{"2.sql"}}, migrate.CodeRepair},
		{"record a missing one", list("1.sql", a, "2.sql", b), migrate.Repair{Record: []string{"3.sql"}}, migrate.CodeRepair},
		{
			"rename", list("01.sql", a, "2.sql", b),
			migrate.Repair{Forget: []string{"1.sql"}, Record: []string{"01.sql"}},
			"2:2.sql 3:01.sql",
		},
		{
			"half of it", list("01.sql", a, "2.sql", b),
			migrate.Repair{Forget: []string{"1.sql"}, Record: []string{"02.sql"}},
			migrate.CodeRepair,
		},
		{
			"accept and forget", list("1.sql", "-- edited", "2.sql", b),
			migrate.Repair{Accept: []string{"1.sql"}, Forget: []string{"1.sql"}},
			migrate.CodeRepair,
		},
		{
			"accept and record", list("1.sql", "-- edited", "2.sql", b),
			migrate.Repair{Accept: []string{"1.sql"}, Record: []string{"1.sql"}},
			migrate.CodeRepair,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, list("1.sql", a, "2.sql", b))
			_, err := migrator(db, tt.files, options).Repair(t.Context(), tt.stated)
			want := tt.want
			if want == migrate.CodeRepair {
				if got := codes(err); got != want {
					t.Errorf("got %s: %v", got, err)
				}
				want = "1:1.sql 2:2.sql"
			} else if err != nil {
				t.Error(err)
			}
			if got := ledger(t, db); got != want {
				t.Errorf("ledger %s, want %s", got, want)
			}
			if got := dump(t, db); got != "table a, table b" {
				t.Errorf("a repair changed the database to %s", got)
			}
		})
	}
}

// writeRows dumps rows, in a form that suffices for the tables of TestSquash.
func writeRows(ctx context.Context, db *sql.DB, w io.Writer) error {
	rows, err := db.QueryContext(ctx, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB '_pages_*' ORDER BY name")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		fmt.Fprintln(w, text+";")
	}
	return rows.Err()
}

func TestSquash(t *testing.T) {
	original := list(
		"1.sql", "CREATE TABLE a(x);", "2.sql", "CREATE TABLE b(x);", "3.sql", "CREATE TABLE c(x);", "4.sql",
		"CREATE TABLE d(x);",
	)
	with := func(m migrate.Squash, rest []migrate.File) []migrate.File {
		return append([]migrate.File{{Name: m.File.Name, SQL: m.File.SQL}}, rest...)
	}
	squash := func(db *sql.DB, files []migrate.File, upTo string) migrate.Squash {
		made, err := migrator(db, files, options).Squash(t.Context(), upTo, writeRows)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	db := open(t)
	apply(t, db, original)
	once := squash(db, original, "2.sql")
	if once.File.Name != "2_squashed.sql" || fmt.Sprint(once.Replaces) != "[1.sql 2.sql]" {
		t.Fatalf("%s for %v", once.File.Name, once.Replaces)
	}
	second := with(once, original[2:])
	// While the old files are still there they are passed over.
	if status, err := migrator(db, append(second, original[:2]...), options).Status(t.Context()); err != nil ||
		status.Refusal() != nil || len(status.Squashed) != 1 || strings.Count(noticeCodes(status.Warnings), migrate.CodeSquashed) != 2 {
		t.Errorf("%+v, %v", status, err)
	}
	twice := squash(open(t), second, "3.sql")
	third := with(twice, original[3:])
	edited := list("1.sql", "CREATE TABLE a(x );", "2.sql", "CREATE TABLE b(x);", "3.sql", "CREATE TABLE c(x);")
	tests := []struct {
		name   string
		before []migrate.File
		after  []migrate.File
		want   string // the ledger, or the code
	}{
		{"all of them", original, second, "2:2_squashed.sql 3:3.sql 4:4.sql"},
		{"none", nil, second, "1:2_squashed.sql 2:3.sql 3:4.sql"},
		{"just those", original[:2], second, "2:2_squashed.sql 3:3.sql 4:4.sql"},
		{"half of them", original[:1], second, "2_squashed.sql " + migrate.CodeSquash},
		{"another version", edited, second, "2_squashed.sql " + migrate.CodeSquash},
		{"a squash of squashes on the first files", original, third, "3:3_squashed.sql 4:4.sql"},
		{"a squash of squashes on the first squash", second[:2], third, "2:3_squashed.sql 3:4.sql"},
		{"a squash of squashes on nothing", nil, third, "1:3_squashed.sql 2:4.sql"},
		{"a squash of squashes on half", original[:2], third, "3_squashed.sql " + migrate.CodeSquash},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			apply(t, db, tt.before)
			before := ledger(t, db)
			for range 2 {
				_, err := migrator(db, tt.after, options).Apply(t.Context())
				if err != nil {
					if got := codes(err); got != tt.want || ledger(t, db) != before {
						t.Errorf("got %s, want %s: %v", got, tt.want, err)
					}
					return
				}
				if got := ledger(t, db); got != tt.want {
					t.Errorf("ledger %s, want %s", got, tt.want)
				}
				if got := dump(t, db); got != "table a, table b, table c, table d" {
					t.Errorf("database holds %s", got)
				}
			}
		})
	}
	days := list("2018-01-14-171611_a.sql", "CREATE TABLE a(x);", "2018-02-17-205753_b.sql", "CREATE TABLE b(x);")
	if made := squash(open(t), days, "2018-02-17-205753_b.sql"); made.File.Name != "2018-02-17-205753_b_squashed.sql" {
		t.Errorf("of files by day: %s", made.File.Name)
	}
	for upTo, files := range map[string][]migrate.File{
		"9.sql": original, "1.sql": original, "3.sql": append(original[:3:3], list("3_a.sql", "SELECT 1")...),
	} {
		if _, err := migrator(open(t), files, options).Squash(t.Context(), upTo, writeRows); codes(err) != migrate.CodeSquash {
			t.Errorf("up to %s: %v", upTo, err)
		}
	}
	fresh := open(t)
	apply(t, fresh, original[:1])
	if _, err := migrator(fresh, original, options).Squash(t.Context(), "2.sql", writeRows); codes(err) != migrate.CodeSquash {
		t.Errorf("half applied: %v", err)
	}
}

func TestNextName(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 30, 0, 0, time.UTC)
	tests := []struct{ there, what, want string }{
		{"", "Add Tags!", "0001_add_tags.sql"},
		{"0001_a.sql 0009_b.sql", "x", "0010_x.sql"},
		{"001-a.sql", "x.sql", "002-x.sql"},
		{"0099_a.sql README.md", "é Ü", "0100_é_ü.sql"},
		{"20260101000000_a.sql", "x", "20261122123000_x.sql"},
		{"20991231235959_a.sql", "x", "20991231235960_x.sql"},
		{"2018-01-14-171611_a.sql 2025-02-01-000000_b.sql", "x", "2026-11-22-123000_x.sql"},
		{"2099-01-14-171611_a.sql", "x", "migration_numbering"},
		{"9_a.sql", "x", "migration_numbering"},
		{"99_a.sql", "x", "migration_numbering"},
		{"init.sql", "x", "migration_numbering"},
		{"", "../..", "migration_name_invalid"},
		{"", strings.Repeat("long", 70), "migration_name_invalid"},
		{"", "", "migration_name_invalid"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.20q after %q", tt.what, tt.there), func(t *testing.T) {
			fsys := fstest.MapFS{"m": {Mode: fs.ModeDir | 0o755}}
			for name := range strings.FieldsSeq(tt.there) {
				fsys["m/"+name] = &fstest.MapFile{Data: []byte("SELECT 1"), Mode: 0o644}
			}
			got, err := migrate.NextName(fsys, "m", tt.what, at)
			if err != nil {
				got = codes(err)
			}
			if got != tt.want {
				t.Errorf("%q after %q: %s, want %s", tt.what, tt.there, got, tt.want)
			}
		})
	}
	if got, err := migrate.NextName(fstest.MapFS{}, "none", "x", at); got != "0001_x.sql" || err != nil {
		t.Errorf("without a folder: %s, %v", got, err)
	}
}

func TestHoldEmpty(t *testing.T) {
	db := open(t)
	o := options
	o.HoldEmpty, o.Tables = true, []string{"b"}
	files := list("1.sql", "CREATE TABLE a(x)", "2.sql", "-- nothing yet\n", "3.sql", "CREATE TABLE b(x)")
	result, err := migrator(db, files, o).Apply(t.Context())
	if err != nil || len(result.Applied) != 1 || noticeCodes(result.Warnings) != "2.sql migration_without_statement" {
		t.Errorf("%+v, %v", result, err)
	}
	files[1].SQL = []byte("SELECT 1")
	if _, err := migrator(db, files, o).Apply(t.Context()); err != nil || ledger(t, db) != "1:1.sql 2:2.sql 3:3.sql" {
		t.Errorf("%s, %v", ledger(t, db), err)
	}
}

func TestProgress(t *testing.T) {
	var got []string
	o := options
	o.Progress = func(p migrate.Progress) { got = append(got, fmt.Sprintf("%d/%d %s", p.Done, p.Total, p.Name)) }
	if _, err := migrator(open(t), list("1.sql", "SELECT 1", "2.sql", "SELECT 2"), o).Apply(t.Context()); err != nil ||
		strings.Join(got, ", ") != "0/2 1.sql, 1/2 2.sql" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLimits: data too large for the platform's databases is refused; a statement of many steps runs with a warning.
func TestLimits(t *testing.T) {
	like := "'" + strings.Repeat("x", 51) + "%'"
	tests := []struct{ name, sql, says string }{
		{
			"statement", "CREATE TABLE a(x); INSERT INTO a VALUES ('" + strings.Repeat("x", 100_000) + "');",
			"1.sql:1:20 a statement has at most 100,000 bytes",
		},
		{
			"value", "CREATE TABLE a(x);\nINSERT INTO a VALUES (zeroblob(3000000));",
			"1.sql:2:1 a text, blob or row has at most 2,000,000 bytes",
		},
		{
			"columns", "CREATE TABLE a(" + columns(121) + ");\nCREATE TABLE b(x); DROP TABLE b; ",
			"1.sql:1:1 a table, index or result has at most 100 columns",
		},
		{
			"compound",
			"CREATE TABLE a AS SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6",
			"1.sql:1:1 a compound SELECT has at most 5 terms",
		},
		{"like", "CREATE TABLE a AS SELECT 'x' LIKE " + like, "1.sql:1:1 a LIKE or GLOB pattern has at most 50 bytes"},
		{
			"depth", "CREATE TABLE a AS SELECT " + strings.Repeat("-(", 101) + "1" + strings.Repeat(")", 101),
			"1.sql:1:1 an expression is at most 100 levels deep",
		},
		{"arguments", "CREATE TABLE a AS SELECT max(1" + strings.Repeat(",1", 40) + ")", "1.sql:1:1 a function takes at most 32 arguments"},
		{
			"steps", "CREATE TABLE a(x); DELETE FROM a WHERE 1 IN (x" + strings.Repeat(",x", 20_000) + ");",
			"1.sql:1:20 warning a statement compiles to at most 25,000 steps",
		},
		{"none", "CREATE TABLE a(x)", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			result, err := migrator(db, list("1.sql", tt.sql), options).Apply(t.Context())
			var got []string
			for _, w := range result.Warnings {
				got = append(got, w.Pos.String()+" warning"+strings.TrimPrefix(w.Msg, "the platform may refuse this statement:"))
			}
			if refused, ok := errors.AsType[*migrate.Error](err); ok && refused.Code == migrate.CodeOverLimit && refused.Fix != "" {
				got = append(got, refused.Pos.String()+strings.TrimPrefix(refused.Msg, "the platform refuses this statement:"))
			} else if err != nil {
				t.Error(err)
			}
			if strings.Join(got, "; ") != tt.says {
				t.Errorf("got %q, want %q", got, tt.says)
			}
			if err == nil {
				execute(t, db, "INSERT INTO a SELECT * FROM a LIMIT 1") // the connection's own limits are back
			} else if got := dump(t, db); got != "" {
				t.Errorf("database holds %s", got)
			}
		})
	}
}

// columns lists the names of n columns.
func columns(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(list, ", ")
}

// TestTableOverLimit: a table that is already over a limit, such as an imported one, does not make the next migration fail.
func TestTableOverLimit(t *testing.T) {
	db := open(t)
	execute(t, db, "CREATE TABLE wide("+columns(121)+")")
	if result := apply(t, db, list("1.sql", "CREATE TABLE b(x);\nINSERT INTO b VALUES (1);")); len(result.Warnings) > 0 {
		t.Errorf("%+v", result.Warnings)
	}
}

// TestOldLedger: the first ledgers had another column and one less.
func TestOldLedger(t *testing.T) {
	db := open(t)
	files := list("1.sql", "CREATE TABLE a(x)", "2.sql", "CREATE TABLE b(x)")
	execute(t, db,
		"CREATE TABLE a(x); CREATE TABLE _pages_migrations (name TEXT PRIMARY KEY NOT NULL, sha256 TEXT NOT NULL, n "+
			"INTEGER NOT NULL, applied_at TEXT NOT NULL, tool TEXT NOT NULL) STRICT;"+
			"INSERT INTO _pages_migrations VALUES ('1.sql', '"+files[0].Sum()+"', 1, '2026-01-01T00:00:00.000Z', 'old')")
	if status, err := migrator(db, files, options).Status(t.Context()); err != nil || len(status.Pending) != 1 || len(status.Applied) != 1 {
		t.Errorf("%+v, %v", status, err)
	}
	apply(t, db, files)
	if got := one(
		t, db,
		"SELECT group_concat(name || ' ' || position || ' ' || duration_ms || ' ' || tool) FROM _pages_migrations",
	); got != "1.sql 1 0.0 old,2.sql 2 0.0 test" {
		t.Errorf("ledger %s", got)
	}
}

// TestUndoFolder: stray files in the folder of copies do not count as copies.
func TestUndoFolder(t *testing.T) {
	o := options
	o.UndoDir = t.TempDir()
	for _, name := range []string{"notes.txt", ".saving-123", "undone.db", "000001_x_1.db"} {
		if err := os.WriteFile(filepath.Join(o.UndoDir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := migrator(open(t), list("1.sql", "CREATE TABLE a(x)"), o)
	if copies, err := m.Copies(); err != nil || len(copies) != 0 {
		t.Errorf("%+v, %v", copies, err)
	}
	if err := m.Redo(t.Context()); codes(err) == "" || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not a database was put back: %v", err)
	}
}

// TestAbandoned: a later run removes the copies that killed runs left in the folder.
func TestAbandoned(t *testing.T) {
	o := options
	o.UndoDir = t.TempDir()
	copied, folder := filepath.Join(o.UndoDir, ".saving-1"), filepath.Join(o.UndoDir, ".saving-2")
	err := errors.Join(
		os.WriteFile(copied, []byte("x"), 0o600), os.Mkdir(folder, 0o700),
		os.WriteFile(filepath.Join(folder, "new.db"), []byte("x"), 0o600),
	)
	long := o.Now().Add(-2 * time.Hour)
	if err := errors.Join(err, os.Chtimes(copied, long, long), os.Chtimes(folder, long, long)); err != nil {
		t.Fatal(err)
	}
	if _, err := migrator(open(t), list("1.sql", "CREATE TABLE a(x)"), o).Apply(t.Context()); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.UndoDir, ".saving-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
