package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

const (
	createLedger = `CREATE TABLE IF NOT EXISTS _pages_migrations (
	name        TEXT PRIMARY KEY NOT NULL,
	sha256      TEXT NOT NULL,
	position    INTEGER NOT NULL,
	applied_at  TEXT NOT NULL,
	duration_ms REAL NOT NULL DEFAULT 0,
	tool        TEXT NOT NULL
) STRICT, WITHOUT ROWID`

	// ledgerTime is RFC 3339 in UTC with milliseconds: it sorts as text.
	ledgerTime = "2006-01-02T15:04:05.000Z"
)

// querier is a *sql.DB or *sql.Conn.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readLedger gives the entries in the order they were applied; none when the database has no ledger yet.
func readLedger(ctx context.Context, db querier) ([]Entry, error) {
	columns, err := ledgerColumns(ctx, db)
	if err != nil || columns == 0 {
		return nil, err
	}
	query := "SELECT name, sha256, position, applied_at, duration_ms, tool FROM _pages_migrations"
	if columns == firstColumns {
		query = "SELECT name, sha256, n, applied_at, 0, tool FROM _pages_migrations"
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		var e Entry
		var at string
		if err := rows.Scan(&e.Name, &e.SHA256, &e.Position, &at, &e.DurationMS, &e.Tool); err != nil {
			return nil, err
		}
		if e.AppliedAt, err = time.Parse(ledgerTime, at); err != nil {
			return nil, fmt.Errorf("the ledger's time of %q: %w", e.Name, err)
		}
		entries = append(entries, e)
	}
	// Here, and not by SQLite, which would sort them in a table of its own.
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Name, b.Name))
	})
	return entries, rows.Err()
}

// firstColumns is how many columns the first ledgers had: no duration, and the position called n.
const firstColumns = 5

// ledgerColumns is how many columns the ledger has; 0 when there is none.
func ledgerColumns(ctx context.Context, db querier) (n int, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info('_pages_migrations')").Scan(&n)
	return n, err
}

// prepareLedger makes the ledger, or brings an old one to its present form, in the open transaction.
func prepareLedger(ctx context.Context, conn *sql.Conn) error {
	columns, err := ledgerColumns(ctx, conn)
	if err != nil {
		return err
	}
	statements := []string{createLedger}
	if columns == firstColumns {
		statements = []string{
			"ALTER TABLE _pages_migrations RENAME COLUMN n TO position",
			"ALTER TABLE _pages_migrations ADD COLUMN duration_ms REAL NOT NULL DEFAULT 0",
		}
	}
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// insertEntry, as the others that take a moment, does not listen to the end of ctx: a driver that does has to start a
// goroutine for it.
func insertEntry(ctx context.Context, conn *sql.Conn, e Entry) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx),
		"INSERT INTO _pages_migrations (name, sha256, position, applied_at, duration_ms, tool) VALUES (?, ?, ?, ?, ?, ?)",
		e.Name, e.SHA256, e.Position, e.AppliedAt.Format(ledgerTime), e.DurationMS, e.Tool)
	return err
}

func removeEntry(ctx context.Context, conn *sql.Conn, name string) error {
	_, err := conn.ExecContext(ctx, "DELETE FROM _pages_migrations WHERE name = ?", name)
	return err
}

func nextPosition(applied []Entry) int {
	n := 0
	for _, e := range applied {
		n = max(n, e.Position)
	}
	return n + 1
}

// hasKeys reports whether a table may refer to another: it cannot without the word.
func hasKeys(ctx context.Context, db querier) (found bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE sql LIKE '%REFERENCES%')").Scan(&found)
	return found, err
}

// hasTable reports whether a table or view of that name exists; SQLite compares names without ASCII case.
func hasTable(ctx context.Context, db querier, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", name).Scan(&n)
	return n > 0, err
}
