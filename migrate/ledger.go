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

// readLedger returns the entries in the order in which they were applied; none when the database has no ledger yet.
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
	// SQLite would sort them in a table of its own.
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Name, b.Name))
	})
	return entries, rows.Err()
}

// firstColumns is the number of columns of the oldest ledgers, which have no duration and call the position n.
const firstColumns = 5

// ledgerColumns returns the number of columns of the ledger; 0 when there is none.
func ledgerColumns(ctx context.Context, db querier) (n int, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info('_pages_migrations')").Scan(&n)
	return n, err
}

// prepareLedger creates the ledger, or upgrades an old one, in the open transaction.
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

// insertEntry, like other short statements, ignores the end of ctx, because the driver would start a goroutine for it.
func insertEntry(ctx context.Context, conn *sql.Conn, e Entry) error {
	_, err := conn.ExecContext(context.WithoutCancel(ctx),
		"INSERT INTO _pages_migrations (name, sha256, position, applied_at, duration_ms, tool) VALUES (?, ?, ?, ?, ?, ?)",
		e.Name, e.SHA256, e.Position, e.AppliedAt.Format(ledgerTime), e.DurationMS, e.Tool)
	return err
}

func replaceEntries(ctx context.Context, conn *sql.Conn, old []string, entries []Entry) error {
	for _, name := range old {
		if _, err := conn.ExecContext(ctx, "DELETE FROM _pages_migrations WHERE name = ?", name); err != nil {
			return databaseError("the migrations ledger cannot be written", err)
		}
	}
	for _, e := range entries {
		if err := insertEntry(ctx, conn, e); err != nil {
			return databaseError("the migrations ledger cannot be written", err)
		}
	}
	return nil
}

func nextPosition(applied []Entry) int {
	n := 0
	for _, e := range applied {
		n = max(n, e.Position)
	}
	return n + 1
}

// hasTable reports whether a table or view of that name exists; SQLite compares names without ASCII case.
func hasTable(ctx context.Context, db querier, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", name).Scan(&n)
	return n > 0, err
}

// Repair is an author's statement about the database, in names of files.
type Repair struct {
	Accept []string // edited files: the database has the effects of their present text
	Forget []string // applied files without effects, or replaced by another file: their rows are removed
	Record []string // new files whose effects are already in the database: they are recorded and do not run
}

// Repair writes an author's statement to the ledger, all or nothing, and changes nothing else. It refuses a statement
// that contradicts the ledger or the folder. It returns the new Status.
func (m *Migrator) Repair(ctx context.Context, stated Repair) (Status, error) {
	set, err := m.read()
	if err != nil {
		return Status{}, err
	}
	r, err := m.newRun(ctx, m.db, set)
	if err != nil {
		return Status{}, err
	}
	defer r.close()
	_, err = r.transaction(ctx, func(ctx context.Context, _ connection) (bool, error) {
		if err := prepareLedger(ctx, r.conn); err != nil {
			return false, databaseError("the migrations ledger cannot be written", err)
		}
		ledger, err := readLedger(ctx, r.conn)
		if err != nil {
			return false, databaseError("the migrations ledger cannot be read", err)
		}
		if err := set.checkRepair(stated, set.compare(ledger, m.o)); err != nil {
			return false, err
		}
		var entries []Entry
		for _, e := range ledger {
			if slices.Contains(stated.Accept, e.Name) {
				e.SHA256 = set.sums[e.Name]
				entries = append(entries, e)
			}
		}
		at, position := m.o.Now().UTC().Truncate(time.Millisecond), nextPosition(ledger)
		for i, name := range stated.Record {
			entries = append(entries, Entry{Name: name, SHA256: set.sums[name], Position: position + i, AppliedAt: at, Tool: m.o.Tool})
		}
		return true, replaceEntries(ctx, r.conn, slices.Concat(stated.Forget, stated.Accept), entries)
	})
	if err != nil {
		return Status{}, err
	}
	return m.Status(ctx)
}

// checkRepair refuses statements that contradict the ledger or the folder.
func (s fileSet) checkRepair(stated Repair, status Status) error {
	var errs Errors
	refuse := func(name, msg, fix string) {
		errs = append(errs, &Error{Code: CodeRepair, Msg: fmt.Sprintf("%q %s", name, msg), Fix: fix})
	}
	applied := func(name string) bool {
		return slices.ContainsFunc(status.Applied, func(e Entry) bool { return e.Name == name })
	}
	for _, name := range stated.Accept {
		if !slices.ContainsFunc(status.Edited, func(f File) bool { return f.Name == name }) {
			refuse(name, "is not an edited migration", "pages migrate status shows them")
		}
	}
	for _, name := range stated.Forget {
		if !applied(name) {
			refuse(name, "is not in the ledger", "pages migrate status shows the applied ones")
		}
		if slices.Contains(stated.Accept, name) {
			refuse(name, "cannot be both accepted and forgotten", "pass one of them")
		}
	}
	for i, name := range stated.Record {
		_, present := s.sums[name]
		switch {
		case !present:
			refuse(name, "is not a file of the migrations directory", "write its base name, such as 0001_posts.sql")
		case applied(name) && !slices.Contains(stated.Forget, name):
			refuse(name, "is already applied", "only an edited one can be accepted")
		case slices.Contains(stated.Record[:i], name):
			refuse(name, "is named twice", "name it once")
		}
	}
	return errs.orNil()
}
