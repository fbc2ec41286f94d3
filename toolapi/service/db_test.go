package service_test

import "testing"

// TestDatabaseFile looks at what a new database is made with: SQLite takes some of it only before the first write, and
// says nothing when that is over.
func TestDatabaseFile(t *testing.T) {
	w := newWorld(t)
	for pragma, want := range map[string]string{"page_size": "8192", "journal_mode": "wal"} {
		if got := w.value("PRAGMA " + pragma); got != want {
			t.Errorf("%s is %s, not %s", pragma, got, want)
		}
	}
}
