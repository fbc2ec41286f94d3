package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Plan is the effect of Apply on a copy of the database.
type Plan struct {
	Result
	Pending []File        // the files that Apply would run, in order
	Files   []PlannedFile // those that ran on the copy, in order
	Changes []Change      // of the schema
	Tables  []RowCount    // every table of the author, before or after the run, by name
	Losses  []Loss        // of tables from before the run, in the order of the statements

	// NotRehearsed is the reason why the files did not run on a copy, such as "the database has 12 GB"; "" when they
	// did. With a reason, only Pending and Warnings are set.
	NotRehearsed string
	Checks       []Check // constraints and indexes over rows from before the run

	// Locked is the total time for which the run held the write lock of the copy: writers will wait that long.
	Locked time.Duration
}

// PlannedFile is one file that ran on the copy.
type PlannedFile struct {
	Entry
	Changed int64 // rows inserted, updated and deleted
}

// PlanOptions bound the memory and disk of a Plan. The zero value copies a database of any size, in memory or on disk.
type PlanOptions struct {
	// Dir is a folder for copies of databases that are too large for memory. It is made when it is missing. Default is
	// the system's folder for temporary files.
	Dir string
	// MaxMemory is the size of a database, in bytes, that is copied in memory; the run may take some four times as much.
	// Default 128 MiB.
	MaxMemory int64
	// MaxBytes is the largest size of a database that is copied, and of the copy during the run. The disk holds the copy
	// twice. Default is no bound.
	MaxBytes int64
	// VFS is the name of a VFS of SQLite for the copies, such as one that bounds the temporary files into which it sorts.
	// Default is the system's.
	VFS string
	// Timeout bounds the time of copying and running. Default is no bound.
	Timeout time.Duration
}

const (
	defaultMemory = 128 << 20
	rehearsing    = ".rehearsal-"
)

// Plan runs the pending files on a private copy of the database, and writes nothing to the database. Foreign keys are
// checked after each file, and [Options.Tables] at the end, as Apply does. When a file fails, the Plan has the files
// before it, and no losses. A database over the bounds of [Options.Plan] is not rehearsed; NotRehearsed has the reason.
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
	if len(status.Pending) == 0 {
		return p, (&run{set: set, o: m.o}).checkTablesOf(ctx, m.db)
	}
	bounded := ctx
	if m.o.Plan.Timeout > 0 {
		var stop context.CancelFunc
		bounded, stop = context.WithTimeout(ctx, m.o.Plan.Timeout)
		defer stop()
	}
	tried, err := m.rehearse(bounded, set, p, true)
	if large, ok := errors.AsType[*tooLargeError](err); ok && large.inMemory {
		tried, err = m.rehearse(bounded, set, p, false)
	}
	if reason := m.unrehearsed(ctx, bounded, err); reason != "" {
		p.NotRehearsed = reason
		return p, nil
	}
	return tried, err
}

// unrehearsed returns the bound that ended a rehearsal, in words; "" for none.
func (m *Migrator) unrehearsed(ctx, bounded context.Context, err error) string {
	var large *tooLargeError
	switch {
	case err == nil || ctx.Err() != nil:
		return ""
	case bounded.Err() != nil:
		what := "it"
		if at := PlaceOf(err); at != "" {
			what = "the statement at " + at
		}
		return fmt.Sprintf("%s takes longer than %s", what, m.o.Plan.Timeout)
	case errors.As(err, &large):
		return large.Error()
	case errors.Is(err, errTooManyRows):
		return errTooManyRows.Error()
	case errors.Is(err, errTooManySteps):
		return errTooManySteps.Error()
	default:
		return ""
	}
}

// rehearse runs the pending files on a copy, and compares it with another one.
func (m *Migrator) rehearse(ctx context.Context, set fileSet, p Plan, mayBeInMemory bool) (_ Plan, err error) {
	c, err := m.copyForPlan(ctx, mayBeInMemory)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	before, err := readSchema(ctx, c.changed)
	if err != nil {
		return p, databaseError("the schema cannot be read", err)
	}
	countsBefore, err := rowCounts(ctx, c.changed, before)
	if err != nil {
		return p, err
	}
	w, err := newWatcher(ctx, c.changed)
	if err != nil {
		return p, err
	}
	r, failed := m.replay(ctx, c.changed, set, w)
	if failed = c.bounded(failed); r != nil {
		p.Result, p.Locked = r.result, r.locked
		for _, f := range r.ran {
			p.Files = append(p.Files, PlannedFile{f.entry, f.changes})
		}
	}
	after, err := readSchema(ctx, c.changed)
	if err != nil {
		return p, errors.Join(failed, databaseError("the schema cannot be read", err))
	}
	p.Changes = diff(before, after)
	countsAfter, err := rowCounts(ctx, c.changed, after)
	if err != nil {
		return p, errors.Join(failed, err)
	}
	p.Tables = pairCounts(countsBefore, countsAfter)
	if failed != nil {
		return p, failed
	}
	if err := r.checkTablesOf(ctx, c.changed); err != nil {
		return p, err
	}
	return p, p.account(ctx, c, w, r, countsBefore)
}

// account fills in the losses of the run.
func (p *Plan) account(ctx context.Context, c *planCopy, w *watcher, r *run, counts map[string]int64) error {
	const what = "the changes cannot be read"
	if err := c.attachUnchanged(ctx); err != nil {
		return databaseError(what, err)
	}
	a, err := newAccount(ctx, c.changed, w, counts)
	if err == nil {
		err = a.compare()
	}
	if err == nil {
		p.Checks, err = a.checks()
	}
	if err != nil {
		return databaseError(what, err)
	}
	var notices []Notice
	p.Losses, notices = a.losses(r.spans)
	p.Warnings = append(p.Warnings, notices...)
	return nil
}

// Rehearsal is the result of all files on an empty database.
type Rehearsal struct {
	Result
	Compared bool     // false when there was no database to compare with
	Changes  []Change // from the database's schema, with pending files applied, to that of the rehearsal
}

// Rehearse applies all files to a private empty database, and compares its schema with that of a copy of the database, to
// which it applies the pending files. It writes nothing. If the files cannot be applied to the database, Rehearse
// compares its present schema.
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
	r, err := m.replay(ctx, db, set, nil)
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
	if _, err := m.replay(ctx, db, set, nil); err != nil {
		return nil, err
	}
	return readSchema(ctx, db)
}

// checkTablesOf is checkTables for a database on which r has run.
func (r *run) checkTablesOf(ctx context.Context, db *sql.DB) error {
	return withConn(ctx, db, func(conn *sql.Conn) error {
		r.conn = conn
		return r.checkTables(ctx)
	})
}

// replay applies the files to a private database. w may be nil.
func (m *Migrator) replay(ctx context.Context, db *sql.DB, set fileSet, w *watcher) (*run, error) {
	r, err := m.newRun(ctx, db, set)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.counting, r.watch = true, w
	if err := r.readLedger(ctx); err != nil {
		return r, err
	}
	return r, r.applyAll(ctx)
}
