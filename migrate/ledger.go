package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const createLedger = `CREATE TABLE IF NOT EXISTS _pages_migrations (
	name       TEXT PRIMARY KEY NOT NULL,
	sha256     TEXT NOT NULL,
	n          INTEGER NOT NULL,
	applied_at TEXT NOT NULL,
	tool       TEXT NOT NULL
) STRICT`

// ledgerTime is RFC 3339 in UTC with milliseconds: it sorts as text.
const ledgerTime = "2006-01-02T15:04:05.000Z"

// querier is a *sql.DB or *sql.Conn.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readLedger gives the entries in the order they were applied; none when the
// database has no ledger yet.
func readLedger(ctx context.Context, db querier) ([]Entry, error) {
	exists, err := hasTable(ctx, db, "_pages_migrations")
	if err != nil || !exists {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT name, sha256, n, applied_at, tool FROM _pages_migrations ORDER BY n, name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		var e Entry
		var at string
		if err := rows.Scan(&e.Name, &e.SHA256, &e.N, &at, &e.Tool); err != nil {
			return nil, err
		}
		if e.AppliedAt, err = time.Parse(ledgerTime, at); err != nil {
			return nil, fmt.Errorf("the ledger's time of %q: %w", e.Name, err)
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

func writeLedger(ctx context.Context, conn *sql.Conn, e Entry) error {
	if _, err := conn.ExecContext(ctx, createLedger); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "INSERT INTO _pages_migrations (name, sha256, n, applied_at, tool) VALUES (?, ?, ?, ?, ?)",
		e.Name, e.SHA256, e.N, e.AppliedAt.Format(ledgerTime), e.Tool)
	return err
}

// hasTable reports whether a table or view of that name exists; SQLite
// compares names without ASCII case.
func hasTable(ctx context.Context, db querier, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", name).Scan(&n)
	return n > 0, err
}
