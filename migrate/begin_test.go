package migrate_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/migrate"
)

// writes tries to write to the database of a file by another connection, which does not wait.
func writes(t *testing.T, path string) error {
	t.Helper()
	db := openPath(t, path)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "PRAGMA busy_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	_, err := db.ExecContext(t.Context(), "INSERT INTO p VALUES (NULL)")
	return err
}

// TestBegin: the files of Begin are visible after Commit, and gone after Rollback; no other connection writes in between.
func TestBegin(t *testing.T) {
	base := list("1.sql", "CREATE TABLE p(id INTEGER PRIMARY KEY);")
	more := append(base, list("2.sql", "CREATE TABLE a(x);", "3.sql", "INSERT INTO a VALUES (1);")...)
	for _, c := range []struct {
		name   string
		files  []migrate.File
		tables []string
		judge  func(migrate.Plan) error
		code   string
		locked bool
		ledger string // after the commit
	}{
		{"two files", more, []string{"a"}, nil, "", true, "1:1.sql 2:2.sql 3:3.sql"},
		{"judged", more, nil, func(migrate.Plan) error { return nil }, "", true, "1:1.sql 2:2.sql 3:3.sql"},
		{"nothing pending", base, nil, nil, "", false, "1:1.sql"},
		{"nothing pending, and a table is missing", base, []string{"a"}, nil, migrate.CodeTableMissing, false, "1:1.sql"},
		{"a table is missing", more, []string{"b"}, nil, migrate.CodeTableMissing, false, "1:1.sql"},
		{"a refusal", more, nil, func(migrate.Plan) error { return &migrate.Error{Code: "no"} }, "no", false, "1:1.sql"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "site.db")
			db := openPath(t, path)
			apply(t, db, base)
			before := dump(t, db)
			o := options
			o.Tables, o.Judge = c.tables, c.judge
			begin := func() *migrate.Transaction {
				ctx, stop := context.WithCancel(t.Context())
				begun, err := migrator(db, c.files, o).Begin(ctx)
				stop() // the end of Begin's context has no effect
				if got := codes(err); got != c.code {
					t.Fatalf("%v, want %s", err, c.code)
				}
				return begun
			}
			begun := begin()
			if begun != nil {
				if got := ledgerOf(t, path); got != "1:1.sql" {
					t.Errorf("before the commit the ledger is %s", got)
				}
				if c.locked != (writes(t, path) != nil) {
					t.Errorf("another writer waits: %v", !c.locked)
				}
				begun.Rollback()
				if c.locked && dump(t, db) != before {
					t.Errorf("after the rollback %s", dump(t, db))
				}
				if err := begin().Commit(); err != nil {
					t.Error(err)
				}
			}
			if got := ledger(t, db); got != c.ledger {
				t.Errorf("ledger %s, want %s", got, c.ledger)
			}
			if err := writes(t, path); err != nil {
				t.Error(err)
			}
		})
	}
}

func ledgerOf(t *testing.T, path string) string {
	t.Helper()
	db := openPath(t, path)
	defer db.Close()
	return ledger(t, db)
}
