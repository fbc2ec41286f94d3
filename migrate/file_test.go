package migrate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate"
)

// directory makes a file system of the named files in "migrations".
func directory(names ...string) fstest.MapFS {
	fsys := fstest.MapFS{"migrations": {Mode: fs.ModeDir | 0o755}}
	for _, name := range names {
		fsys["migrations/"+name] = &fstest.MapFile{Data: []byte("SELECT 1;"), Mode: 0o644}
	}
	return fsys
}

func noticeCodes(notices []migrate.Notice) string {
	var out []string
	for _, n := range notices {
		out = append(out, n.Name+" "+n.Code)
	}
	return strings.Join(out, ", ")
}

func TestRead(t *testing.T) {
	long := strings.Repeat("a", 252) + ".sql"
	tests := []struct {
		name                 string
		fsys                 fstest.MapFS
		files, notices, errs string
	}{
		{
			"M-002 order", directory("10_a.sql", "9_b.sql", "2_c.sql", "A_x.sql", "a_y.sql"), "10_a.sql 2_c.sql 9_b.sql A_x.sql a_y.sql",
			"2_c.sql migration_order_ambiguous", "",
		},
		{"padded", directory("0001_a.sql", "0002_b.sql", "0010_c.sql"), "0001_a.sql 0002_b.sql 0010_c.sql", "", ""},
		{"days", directory("2018-01-14-1_a.sql", "2018-02-17-20_b.sql"), "2018-01-14-1_a.sql 2018-02-17-20_b.sql", "", ""},
		{"same number", directory("0001_a.sql", "0001_b.sql"), "0001_a.sql 0001_b.sql", "0001_b.sql migration_number_duplicate", ""},
		{
			"M-006 other files", directory("1.sql", "Readme.md", ".hidden.sql", "old/2.sql"), "1.sql", "old migration_ignored", "",
		},
		{"M-006 empty", directory(), "", "migrations migration_directory_empty", ""},
		{"M-006 missing", fstest.MapFS{}, "", "", "migrations migration_unreadable"},
		{"M-006 upper suffix", directory("x.SQL"), "", "", "migrations/x.SQL migration_name_invalid"},
		{"M-006 directory", directory("x.sql/y.txt"), "", "", "migrations/x.sql migration_name_invalid"},
		{
			"characters", directory("a\nb.sql", "a\\b.sql", "a:b.sql", " a.sql", "a .sql", "a\u202eb.sql", long), "", "",
			"migrations/ a.sql migration_name_invalid, migrations/a\nb.sql migration_name_invalid, migrations/a .sql " +
				"migration_name_invalid, " +
				"migrations/a:b.sql migration_name_invalid, migrations/a\\b.sql migration_name_invalid, " +
				"migrations/" + long + " migration_name_invalid, migrations/a\u202eb.sql migration_name_invalid",
		},
		{"M-007 case", directory("1_A.sql", "1_a.sql"), "", "", "migrations/1_a.sql migration_name_collision"},
		{"M-007 NFC", directory("1_\u00e9.sql", "1_e\u0301.sql"), "", "", "migrations/1_e\u0301.sql migration_name_invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, notices, err := migrate.Read(tt.fsys, "migrations")
			var names []string
			for _, f := range files {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tt.files {
				t.Errorf("files %q, want %q", got, tt.files)
			}
			if got := noticeCodes(notices); got != tt.notices {
				t.Errorf("notices %q, want %q", got, tt.notices)
			}
			if got := codes(err); got != tt.errs {
				t.Errorf("errors %q, want %q", got, tt.errs)
			}
		})
	}
}

func TestReadLink(t *testing.T) {
	dir := t.TempDir()
	testmachine.Link(t, "/etc/passwd", filepath.Join(dir, "1.sql"))
	_, _, err := migrate.Read(os.DirFS(dir), ".")
	if got := codes(err); got != "1.sql migration_name_invalid" {
		t.Error(got)
	}
}

func TestNotText(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"CREATE TABLE a(x);\nSELECT 1;\x00 DROP TABLE a;", "1.sql:2:10 migration_not_text"},
		{"\xff\xfeS\x00E\x00", "1.sql:1:1 migration_not_text"},
		{"\xfe\xff\x00S\x00E", "1.sql:1:1 migration_not_text"},
		{"SELECT 'caf\xe9';", "1.sql:1:12 migration_not_text"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			db := open(t)
			_, err := migrator(db, list("1.sql", tt.sql), options).Apply(t.Context())
			if got := codes(err); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.sql, got, tt.want)
			}
			if got := dump(t, db); got != "" {
				t.Errorf("%q left %s", tt.sql, got)
			}
		})
	}
}

func TestSize(t *testing.T) {
	fill := func(n int) string {
		const head, tail = "CREATE TABLE IF NOT EXISTS a(x);\n--", "\n"
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	fsys := directory("1.sql")
	fsys["migrations/1.sql"].Data = []byte(fill(migrate.MaxFileSize))
	files, _, err := migrate.Read(fsys, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	db := open(t)
	apply(t, db, files)

	fsys["migrations/1.sql"].Data = []byte(fill(migrate.MaxFileSize + 1))
	if _, _, err := migrate.Read(fsys, "migrations"); codes(err) != "migrations/1.sql migration_too_large" {
		t.Error(err)
	}
	if _, err := migrator(
		open(t), list("1.sql", fill(migrate.MaxFileSize+1)), options,
	).Apply(t.Context()); codes(err) != "1.sql migration_too_large" {
		t.Error(err)
	}
}

// TestManyStatements: the time for any number of statements stays within a small multiple of SQLite's own.
func TestManyStatements(t *testing.T) {
	want := 100_000
	if testing.Short() {
		want = 10_000
	}
	const insert = "\nINSERT INTO a VALUES (1);"
	db, bare := open(t), open(t)
	began := time.Now()
	apply(t, db, list("1.sql", "CREATE TABLE a(x);"+strings.Repeat(insert, want)))
	took := time.Since(began)
	var n int
	if err := db.QueryRow("SELECT count(*) FROM a").Scan(&n); err != nil || n != want {
		t.Errorf("%d rows, %v", n, err)
	}
	began = time.Now()
	tx, err := bare.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "CREATE TABLE a(x)"); err != nil {
		t.Fatal(err)
	}
	for range want {
		if _, err := tx.ExecContext(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	const most = 10
	if peer := time.Since(began); took > most*peer {
		t.Errorf("%d statements took %s, and SQLite %s", want, took, peer)
	}
}

// TestDownFiles warns of the files that undo others: they are applied as any other.
func TestDownFiles(t *testing.T) {
	files, notices, err := migrate.Read(fstest.MapFS{"m/1_a.up.sql": {}, "m/1_a.down.sql": {}, "m/2_markdown.sql": {}}, "m")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	var down []string
	for _, n := range notices {
		if n.Code == migrate.CodeDown {
			down = append(down, n.Name)
		}
	}
	if len(down) != 1 || down[0] != "1_a.down.sql" {
		t.Errorf("warned of %q in %v", down, notices)
	}
}
