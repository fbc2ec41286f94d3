package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/migrate"
)

const endless = "CREATE TABLE big AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;"

func TestCancel(t *testing.T) {
	db := open(t)
	for i := range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+10*i)*time.Millisecond)
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
		{"not a database", func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o644) }, migrate.CodeDatabaseDamaged},
		{"truncated at 100", func(path string) error { return os.WriteFile(path, good[:100], 0o644) }, migrate.CodeDatabaseDamaged},
		{"truncated at 4096", func(path string) error { return os.WriteFile(path, good[:4096], 0o644) }, migrate.CodeDatabaseDamaged},
		{"truncated at half", func(path string) error { return os.WriteFile(path, good[:len(good)/2], 0o644) }, migrate.CodeDatabaseDamaged},
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
			_, err := migrator(openPath(t, path), list("1.sql", "CREATE TABLE z(x)"), options).Apply(t.Context())
			if got := codes(err); !strings.HasSuffix(got, tt.want) {
				t.Errorf("got %s: %v", got, err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file changed")
			}
		})
	}
}

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
}

func TestConcurrentRunners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	apply(t, openPath(t, path), nil)
	var files []migrate.File
	for i := range 20 {
		files = append(files, list(fmt.Sprintf("%04d.sql", i), fmt.Sprintf("CREATE TABLE t%d(x); INSERT INTO t%d VALUES (1);", i, i))...)
	}
	var wg sync.WaitGroup
	total := make([]int, 6)
	for i := range total {
		db := openPath(t, path)
		wg.Go(func() {
			result, err := migrator(db, files, options).Apply(t.Context())
			if err != nil {
				t.Error(err)
			}
			total[i] = len(result.Applied)
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range total {
		sum += n
	}
	if sum != len(files) {
		t.Errorf("%v files applied, want %d in all", total, len(files))
	}
}
