package migrate

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
)

// TestTransactionEnded runs a file outside of a transaction, as if it had ended its own: no statement that can do that
// gets past the guard.
func TestTransactionEnded(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "site.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := (&Migrator{db: db}).newRun(t.Context(), db, fileSet{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	err = withInterrupt(t.Context(), r.conn, func(c connection) error {
		return r.execute(t.Context(), c, File{Name: "1.sql", SQL: []byte("SELECT 1")})
	})
	if !errors.Is(err, errTransactionEnded) {
		t.Errorf("got %v", err)
	}
}
