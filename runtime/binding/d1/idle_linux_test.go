package d1

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// filesBelow counts the files below a folder that the process has open.
func filesBelow(t *testing.T, below string) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(target, below+"/") {
			n++
		}
	}
	return n
}

// TestDatabaseDisconnects: an idle database closes, and opens again on use.
func TestDatabaseDisconnects(t *testing.T) {
	dir := t.TempDir()
	pool := openSQL(t, filepath.Join(dir, "site.db"))
	pool.SetMaxIdleConns(0)
	d := New(pool, Options{})
	t.Cleanup(func() { _ = d.Close() })
	ask := func(sql string) {
		t.Helper()
		if _, err := d.query(t.Context(), Query{SQL: sql}, shapeAll, ""); err != nil {
			t.Fatal(err)
		}
	}
	ask("CREATE TABLE t (a)")
	ask("INSERT INTO t VALUES (1)")
	var reads sync.WaitGroup
	for range 50 {
		reads.Go(func() {
			if _, err := d.query(t.Context(), Query{SQL: "SELECT * FROM t"}, shapeAll, ""); err != nil {
				t.Error(err)
			}
		})
	}
	reads.Wait()
	if n := pool.Stats().OpenConnections; n < 2 || n > MaxConns {
		t.Errorf("%d connections, want a writer and at most %d readers", n, maxReaders)
	}
	d.disconnect()
	if n, files := pool.Stats().OpenConnections, filesBelow(t, dir); n != 0 || files != 0 {
		t.Errorf("%d connections and %d files stay open", n, files)
	}
	ask("SELECT * FROM t")
	ask("INSERT INTO t VALUES (2)")
}
