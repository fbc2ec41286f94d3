package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// Plan is the effect of Apply, tried on a copy of the database.
type Plan struct {
	Result
	Pending []File        // the files that Apply would run, in order
	Files   []PlannedFile // those that ran on the copy, in order
	Changes []Change      // of the schema
	Rows    []RowCount    // of tables that get more or fewer rows
}

// PlannedFile is one file that ran on the copy.
type PlannedFile struct {
	Entry
	Changed int64 // rows inserted, updated and deleted
}

// Plan runs the pending files on a private copy of the database, and writes nothing. Foreign keys are checked after
// each file, and [Options.Tables] at the end, as Apply does. When a file fails, the Plan holds those before it.
func (m *Migrator) Plan(ctx context.Context) (p Plan, err error) {
	set, status, err := m.compare(ctx)
	if err != nil {
		return Plan{}, err
	}
	p.Warnings = status.Warnings
	if err := status.Refusal(); err != nil {
		return p, err
	}
	p.Pending = status.Pending
	db, err := scratchCopy(ctx, m.db)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	before, err := readSchema(ctx, db)
	if err != nil {
		return p, databaseError("the schema cannot be read", err)
	}
	countsBefore, err := rowCounts(ctx, db, before)
	if err != nil {
		return p, err
	}
	r, failed := m.replay(ctx, db, set)
	if r != nil {
		p.Result = r.result
		for _, f := range r.files {
			p.Files = append(p.Files, PlannedFile{f.entry, f.changes})
		}
	}
	after, err := readSchema(ctx, db)
	if err != nil {
		return p, errors.Join(failed, databaseError("the schema cannot be read", err))
	}
	p.Changes = diff(before, after)
	countsAfter, err := rowCounts(ctx, db, after)
	if err != nil {
		return p, errors.Join(failed, err)
	}
	p.Rows = countChanges(countsBefore, countsAfter)
	if failed != nil {
		return p, failed
	}
	return p, r.checkTablesOf(ctx, db)
}

// Rehearsal is the result of all files on an empty database.
type Rehearsal struct {
	Result
	Compared bool     // false when there was no database to compare with
	Changes  []Change // from the database's schema, with pending files applied, to that of the rehearsal
}

// Rehearse applies all files to a private empty database, and compares its schema with that of a copy of the database, to
// which it applies the pending files. It writes nothing. Where the files cannot be applied to the database, its schema is
// compared as it is.
func (m *Migrator) Rehearse(ctx context.Context) (h Rehearsal, err error) {
	set, err := m.read()
	if err != nil {
		return h, err
	}
	db, err := scratch()
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r, err := m.replay(ctx, db, set)
	if r != nil {
		h.Result = r.result
	}
	if err != nil {
		return h, err
	}
	if err := r.checkTablesOf(ctx, db); err != nil {
		return h, err
	}
	rehearsed, err := readSchema(ctx, db)
	if err != nil {
		return h, databaseError("the schema cannot be read", err)
	}
	live, err := m.liveSchema(ctx, set)
	if err != nil {
		return h, err
	}
	if h.Compared = live != nil; h.Compared {
		h.Changes = diff(live, rehearsed)
	}
	return h, nil
}

// liveSchema returns the schema of the database, or of a copy with pending files applied; nil for an empty one.
func (m *Migrator) liveSchema(ctx context.Context, set fileSet) (live []Object, err error) {
	live, err = readSchema(ctx, m.db)
	if err != nil || live == nil {
		return nil, err
	}
	ledger, err := readLedger(ctx, m.db)
	if err != nil {
		return nil, databaseError("the migrations ledger cannot be read", err)
	}
	if status := set.compare(ledger, m.o); status.Refusal() != nil || len(status.Pending) == 0 {
		return live, nil
	}
	db, err := scratchCopy(ctx, m.db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := m.replay(ctx, db, set); err != nil {
		return nil, err
	}
	return readSchema(ctx, db)
}

// scratch opens an empty private database, whose file SQLite deletes as it opens it: it has one connection, and nothing
// is left of it whatever happens to the process.
func scratch() (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:?_pragma=foreign_keys(1)&_pragma=synchronous(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// scratchCopy returns a scratch database with the contents of db at one moment.
func scratchCopy(ctx context.Context, db *sql.DB) (*sql.DB, error) {
	var made driver.Conn
	keys := 0
	err := withConn(ctx, db, func(conn *sql.Conn) error {
		if err := conn.QueryRowContext(ctx, "PRAGMA foreign_keys").Scan(&keys); err != nil {
			return err
		}
		var err error
		made, err = dbfile.InMemory(ctx, conn)
		return err
	})
	if err != nil {
		return nil, databaseError("the database cannot be copied", err)
	}
	out := sql.OpenDB(&onlyConn{made})
	out.SetMaxOpenConns(1)
	pragma := "PRAGMA foreign_keys = OFF"
	if keys != 0 {
		pragma = "PRAGMA foreign_keys = ON"
	}
	if _, err := out.ExecContext(ctx, pragma); err != nil {
		return nil, errors.Join(databaseError("the copy cannot be opened", err), out.Close())
	}
	return out, nil
}

// onlyConn connects a database to one open connection.
type onlyConn struct{ conn driver.Conn }

var errScratchGone = errors.New("the copy of the database is gone")

// Connect implements driver.Connector.
func (o *onlyConn) Connect(context.Context) (driver.Conn, error) {
	if o.conn == nil {
		return nil, errScratchGone
	}
	conn := o.conn
	o.conn = nil
	return conn, nil
}

// Driver implements driver.Connector.
func (o *onlyConn) Driver() driver.Driver { return &sqlite.Driver{} }

func withConn(ctx context.Context, db *sql.DB, fn func(*sql.Conn) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close())
}

// checkTablesOf is checkTables for a database on which r has run.
func (r *run) checkTablesOf(ctx context.Context, db *sql.DB) error {
	return withConn(ctx, db, func(conn *sql.Conn) error {
		r.conn = conn
		return r.checkTables(ctx)
	})
}

// replay applies the files to a private database.
func (m *Migrator) replay(ctx context.Context, db *sql.DB, set fileSet) (*run, error) {
	r, err := m.newRun(ctx, db, set)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.counting = true
	if err := r.readLedger(ctx); err != nil {
		return r, err
	}
	return r, r.applyAll(ctx)
}
