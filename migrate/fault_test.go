package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate"
)

const endless = "CREATE TABLE big AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;"

func TestCancel(t *testing.T) {
	db := open(t)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+2*i)*time.Millisecond)
		_, err := migrator(db, list("1.sql", "CREATE TABLE a(x);\n"+endless), options).Apply(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(codes(err), migrate.CodeCancelled) {
			t.Errorf("got %s: %v", codes(err), err)
		}
		if got := dump(t, db) + ledger(t, db); got != "" {
			t.Errorf("database holds %s", got)
		}
	}
	apply(t, db, list("1.sql", "CREATE TABLE a(x)"))
}

func TestDatabaseFaults(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "site.db")
	db := openPath(t, whole)
	apply(t, db, list("1.sql", "CREATE TABLE a(x);"+strings.Repeat("INSERT INTO a VALUES (randomblob(1000));", 50)))
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		make func(path string) error
		want string
	}{
		{"no directory", func(path string) error { return os.Remove(filepath.Dir(path)) }, migrate.CodeDatabaseUnavailable},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o755) }, migrate.CodeDatabaseUnavailable},
		{
			"not a database",
			func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o644) },
			migrate.CodeDatabaseDamaged,
		},
		{"truncated at 0", func(path string) error { return os.WriteFile(path, nil, 0o644) }, ""}, // is an empty database
		{"truncated at 100", func(path string) error { return os.WriteFile(path, good[:100], 0o644) }, migrate.CodeDatabaseDamaged},
		{"truncated at 4096", func(path string) error { return os.WriteFile(path, good[:4096], 0o644) }, migrate.CodeDatabaseDamaged},
		{
			"truncated at half", func(path string) error { return os.WriteFile(path, good[:len(good)/2], 0o644) },
			migrate.CodeDatabaseDamaged,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "site.db")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			result, err := migrator(openPath(t, path), list("1.sql", "CREATE TABLE z(x)"), options).Apply(t.Context())
			if got := codes(err); !strings.HasSuffix(got, tt.want) || tt.want == "" && (err != nil || len(result.Applied) != 1) {
				t.Errorf("got %s: %v", got, err)
			}
			if tt.want == "" {
				return
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file changed")
			}
		})
	}
}

// TestReadOnly has a database that cannot be written.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	apply(t, openPath(t, path), list("1.sql", "CREATE TABLE a(x)"))
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := migrator(db, list("1.sql", "CREATE TABLE a(x)"), options).Apply(t.Context()); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
	_, err = migrator(db, list("1.sql", "CREATE TABLE a(x)", "2.sql", "CREATE TABLE b(x)"), options).Apply(t.Context())
	if got := codes(err); !strings.HasSuffix(got, migrate.CodeDatabaseReadOnly) {
		t.Errorf("got %s: %v", got, err)
	}
}

// TestLocked has a writer that does not end.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	apply(t, openPath(t, path), nil)
	holder, err := openPath(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	impatient, err := sql.Open("sqlite", strings.Replace(dsn(path), "busy_timeout(5000)", "busy_timeout(10)", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	_, err = migrator(impatient, list("1.sql", "CREATE TABLE a(x)"), options).Apply(t.Context())
	if got := codes(err); got != migrate.CodeLocked {
		t.Errorf("got %s: %v", got, err)
	}
	patient, err := sql.Open("sqlite", strings.Replace(dsn(path), "busy_timeout(5000)", "busy_timeout(600000)", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	soon, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := migrator(patient, list("1.sql", "CREATE TABLE a(x)"), options).Apply(soon); codes(err) != migrate.CodeCancelled {
		t.Errorf("a waiting runner whose context ends: %v", err)
	}
	var patience int
	if err := patient.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&patience); err != nil || patience != 600000 {
		t.Errorf("the connection's busy timeout became %d, %v", patience, err)
	}
}

// TestConcurrentRunners: each file runs once, and the other runner waits.
func TestConcurrentRunners(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	var files []migrate.File
	for i := range 4 {
		files = append(files, list(fmt.Sprintf("%04d.sql", i), fmt.Sprintf("CREATE TABLE t%d(x); INSERT INTO t%d VALUES (1);", i, i))...)
	}
	for range rounds {
		path := filepath.Join(t.TempDir(), "site.db")
		if got := one(t, openPath(t, path), "PRAGMA journal_mode"); got != "wal" {
			t.Fatal(got)
		}
		var wg sync.WaitGroup
		var total atomic.Int64
		for range 8 {
			wg.Go(func() {
				db, err := sql.Open("sqlite", dsn(path))
				if err != nil {
					t.Error(err)
					return
				}
				defer db.Close()
				result, err := migrator(db, files, options).Apply(t.Context())
				if err != nil && codes(err) != migrate.CodeLocked {
					t.Error(codes(err), err)
				}
				total.Add(int64(len(result.Applied)))
			})
		}
		wg.Wait()
		db := openPath(t, path)
		if n := total.Load(); n != int64(len(files)) || ledger(t, db) != "1:0000.sql 2:0001.sql 3:0002.sql 4:0003.sql" {
			t.Fatalf("%d files were applied, want %d; ledger %s", n, len(files), ledger(t, db))
		}
		db.Close()
	}
}

// TestReader: a reading dev server does not stop a run, and keeps its view of the rows.
func TestReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	db := openPath(t, path)
	apply(t, db, list("1.sql", "CREATE TABLE a(x)"))
	reader, err := openPath(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := reader.ExecContext(t.Context(), "BEGIN DEFERRED"); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		if err := reader.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	apply(t, db, list("1.sql", "CREATE TABLE a(x)", "2.sql", "CREATE TABLE b(x)"))
	if after := count(); after != before {
		t.Errorf("the reader's view went from %d to %d objects", before, after)
	}
	if _, err := reader.ExecContext(t.Context(), "COMMIT"); err != nil || count() != before+1 {
		t.Errorf("the reader does not see the new table: %v", err)
	}
}

// changing returns another text for a file each time it is opened.
type changing struct{ opened int }

func (c *changing) Open(name string) (fs.File, error) {
	fsys := folder(list("1.sql", fmt.Sprintf("CREATE TABLE t%d(x)", c.opened)))
	if name == "1.sql" {
		c.opened++
	}
	return fsys.Open(name)
}

// TestChangedMeanwhile: the bytes that are hashed are the bytes that run.
func TestChangedMeanwhile(t *testing.T) {
	db := open(t)
	m := migrate.New(db, &changing{}, options)
	plan, err := m.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result, err := m.Apply(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := one(t, db, "SELECT name FROM sqlite_schema WHERE name GLOB 't*'")
	ran := migrate.File{SQL: []byte("CREATE TABLE " + table + "(x)")}
	if table != "t1" || plan.Files[0].SHA256 == ran.Sum() || result.Applied[0].SHA256 != ran.Sum() {
		t.Errorf("the ledger says %s, but %s ran", result.Applied[0].SHA256, table)
	}
}

// TestFull: the disk becomes full, at each page in turn.
func TestFull(t *testing.T) {
	files := pairFiles(3, 200)
	failed, step := 0, 1
	if testing.Short() {
		step = 4
	}
	for pages := 1; pages <= 64; pages += step {
		path := filepath.Join(t.TempDir(), "site.db")
		small, err := sql.Open("sqlite", dsn(path)+fmt.Sprintf("&_pragma=max_page_count(%d)", pages))
		if err != nil {
			t.Fatal(err)
		}
		_, err = migrator(small, files, options).Apply(t.Context())
		if err := small.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			failed++
			if got := codes(err); !strings.HasSuffix(got, migrate.CodeDatabaseFull) {
				t.Errorf("%d pages: %s, %v", pages, got, err)
			}
		}
		checkPairs(t, path)
		apply(t, openPath(t, path), files)
		if n := checkPairs(t, path); n != len(files) {
			t.Errorf("%d files in the end", n)
		}
	}
	if failed < 20/step {
		t.Errorf("only %d runs found no room", failed)
	}
}
