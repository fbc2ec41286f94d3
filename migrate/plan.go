package migrate

import (
	"context"
	"database/sql"
	"errors"
)

// Plan is what Apply would do, tried on a copy of the database.
type Plan struct {
	Result
	// Pending are the files that Apply would run, in order.
	Pending []File
	// Files are those that ran on the copy, in order, with what they did.
	Files []PlannedFile
	// Changes are the differences between the schema of today and the one to come.
	Changes []Change
	// Rows are the tables that get more or fewer rows.
	Rows []RowCount
}

// PlannedFile is one file that ran on the copy.
type PlannedFile struct {
	Entry
	// Changed counts rows inserted, updated and deleted.
	Changed int64
}

// Plan runs the pending files on a private copy of the database, and writes nothing. Foreign keys are checked after
// each file, and [Options.Tables] at the end, as Apply does. When a file fails, the Plan tells of those before it.
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
	err = m.tryOn(ctx, db, set, &p)
	return p, err
}

func (m *Migrator) tryOn(ctx context.Context, db *sql.DB, set fileSet, p *Plan) error {
	before, err := readSchema(ctx, db)
	if err != nil {
		return databaseError("the schema cannot be read", err)
	}
	countsBefore, err := rowCounts(ctx, db, before)
	if err != nil {
		return err
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
		return errors.Join(failed, databaseError("the schema cannot be read", err))
	}
	p.Changes = diff(before, after)
	countsAfter, err := rowCounts(ctx, db, after)
	if err != nil {
		return errors.Join(failed, err)
	}
	p.Rows = countChanges(countsBefore, countsAfter)
	if failed != nil {
		return failed
	}
	return withConn(ctx, db, func(conn *sql.Conn) error {
		r.conn = conn
		return r.checkTables(ctx)
	})
}

// Rehearsal is what the files give on an empty database.
type Rehearsal struct {
	Result
	// Compared is whether there was a database to compare with.
	Compared bool
	// Changes lead from the database's schema, with what is pending applied, to the one that the files give.
	Changes []Change
}

// Rehearse applies all files to a private empty database, and then compares its schema with that of the database, to
// a copy of which what is pending is applied. It writes nothing. Where the files cannot be applied to the database,
// its schema is compared as it is.
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
	err = withConn(ctx, db, func(conn *sql.Conn) error {
		r.conn = conn
		return r.checkTables(ctx)
	})
	if err != nil {
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

// liveSchema is the schema of the database, or of a copy with what is pending; nil for an empty one.
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
