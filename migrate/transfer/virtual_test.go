package transfer_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
)

// virtualTables makes tables of each module, with rows that came and went.
func virtualTables() string {
	var b strings.Builder
	b.WriteString(`CREATE VIRTUAL TABLE "full ""text" USING fts5(title, body UNINDEXED, tokenize='porter', prefix='2');
		INSERT INTO "full ""text"("full ""text", rank) VALUES('pgsz', 64);
		CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
		CREATE VIRTUAL TABLE found USING fts5(title, body, content='posts', content_rowid='id');
		CREATE VIRTUAL TABLE unfilled USING fts5(title, content='posts', content_rowid='id');
		CREATE TRIGGER posts_insert AFTER INSERT ON posts BEGIN
			INSERT INTO found(rowid, title, body) VALUES(new.id, new.title, new.body); END;
		CREATE TRIGGER posts_delete AFTER DELETE ON posts BEGIN
			INSERT INTO found(found, rowid, title, body) VALUES('delete', old.id, old.title, old.body); END;
		CREATE VIRTUAL TABLE words USING fts5vocab('full "text', 'row');
		CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1, +name TEXT, +color);
		CREATE VIRTUAL TABLE grid USING rtree_i32(id, a, b);
	`)
	r := rand.New(rand.NewPCG(3, 4))
	said := []string{"boats", "running", "it''s", "sea", "Ünïcode", "seven"}
	for i := range 400 {
		text := said[r.IntN(6)] + " " + said[r.IntN(6)]
		fmt.Fprintf(&b, "INSERT INTO \"full \"\"text\"(rowid, title, body) VALUES(%d, '%s', x'00ff');\n", i*3, text)
		fmt.Fprintf(&b, "INSERT INTO posts VALUES(%d, '%s', NULL);\n", i*7, text)
		x, y := r.Float64()*100, r.Float64()*100
		fmt.Fprintf(&b, "INSERT INTO boxes VALUES(%d, %v, %v, %v, %v, '%s', %d);\n", i*11%401, x, x+1, y, y+r.Float64(), text, i)
		fmt.Fprintf(&b, "INSERT INTO grid VALUES(%d, %d, %d);\n", i, r.IntN(50), 50+r.IntN(50))
	}
	b.WriteString(`DELETE FROM posts WHERE id % 5 = 0; DELETE FROM "full ""text" WHERE rowid % 2 = 0; DELETE FROM boxes WHERE id % 3 = 0;`)
	return b.String()
}

// virtualQueries are questions about them, in one order.
var virtualQueries = []string{
	`SELECT rowid, title, hex(body), round(bm25("full ""text"), 9) FROM "full ""text"('run OR sea') ORDER BY rowid`,
	`SELECT rowid FROM "full ""text"('bo*') ORDER BY rowid`,
	`SELECT k, v FROM "full ""text_config" WHERE k <> 'version'`,
	`SELECT rowid, title, round(bm25(found), 9) FROM found('boats') ORDER BY rowid`,
	`SELECT count(*) FROM unfilled('boats')`,
	`SELECT * FROM words ORDER BY 1`,
	`SELECT id, x0, x1, y0, y1, name, color FROM boxes WHERE x0 > 10 AND x1 < 70 AND y0 < 50 ORDER BY id`,
	`SELECT id, a, b FROM grid WHERE a < 20 ORDER BY id`,
	`INSERT INTO found(found, rank) VALUES('integrity-check', 1)`,
	`INSERT INTO "full ""text"("full ""text") VALUES('integrity-check')`,
	`SELECT rtreecheck('boxes'), rtreecheck('grid')`,
}

// TestDumpByRows applies a dump of virtual tables as a migration, which may not write to their shadow tables.
func TestDumpByRows(t *testing.T) {
	from := newDB(t, "from.db")
	script(t, from, virtualTables())
	text := dump(t, from, transfer.DumpOptions{ByRows: true})
	if strings.Contains(text, "_data") {
		t.Errorf("the dump writes to a table behind another")
	}
	text = strings.NewReplacer("PRAGMA foreign_keys=OFF;\n", "", "BEGIN TRANSACTION;\n", "", "COMMIT;\n", "").Replace(text)
	path := filepath.Join(t.TempDir(), "to.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	files := fstest.MapFS{"1.sql": {Data: []byte(text)}}
	if _, err := migrate.New(db, files, migrate.Options{}).Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	to := newDB(t, "again.db")
	script(t, to, text)
	for _, query := range virtualQueries {
		want := answer(t, from, query)
		if got := answer(t, to, query); got != want {
			t.Errorf("%s\ngives  %s\nbefore %s", query, got, want)
		}
		if strings.HasPrefix(query, "SELECT") && want == "" {
			t.Errorf("%s finds nothing", query)
		}
	}
	if again := dump(t, to, transfer.DumpOptions{ByRows: true}); !strings.Contains(again, text) {
		t.Error("a dump of what the dump makes is another one")
	}
}

func answer(t *testing.T, db transfer.DB, query string) string {
	t.Helper()
	var b strings.Builder
	if _, err := db.Run(t.Context(), query, nil, nil, func(v []any) error {
		fmt.Fprintln(&b, v...)
		return nil
	}); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return b.String()
}

func TestDumpByRowsRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"an index without its text",
			"CREATE VIRTUAL TABLE f USING fts5(t, content=''); INSERT INTO f(rowid, t) VALUES(1, 'x');",
			`the full-text table "f" stores its index without text`,
		},
		{
			"an index that is not that of its content",
			"CREATE TABLE c(t); CREATE VIRTUAL TABLE f USING fts5(t, content=c); INSERT INTO f(rowid, t) VALUES(1, 'x');",
			`the index of the full-text table "f" does not match its content "c"`,
		},
		{"an empty index without text", "CREATE VIRTUAL TABLE f USING fts5(t, content='');", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := newDB(t, "from.db")
			script(t, db, c.text)
			err := transfer.Dump(t.Context(), db, &strings.Builder{}, transfer.DumpOptions{ByRows: true})
			refusal, ok := errors.AsType[*migrate.Error](err)
			if c.want == "" && err != nil || c.want != "" && (!ok || !strings.Contains(refusal.Msg, c.want) || refusal.Fix == "") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
