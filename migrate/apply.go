package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"go/token"
	"slices"
	"strings"
	"time"
)

// Apply runs the pending files in order, each in a transaction of its own that also holds its ledger row. It stops at
// the first failure: that file leaves no trace, the files before it stay, and Result names them. With [Options.Atomic]
// all files and their ledger rows are one transaction, and a failure leaves no trace of any. Faults of the SQL text
// itself are refused before any file runs. When Apply returns nil, all of them are committed and [Options.Tables]
// exist.
//
// While a file runs, its connection is defensive, and has the package's own authorizer and limits; afterwards it has
// no authorizer.
func (m *Migrator) Apply(ctx context.Context) (Result, error) {
	set, err := m.read()
	if err != nil {
		return Result{}, err
	}
	r, err := m.newRun(ctx, m.db, set)
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	// Most runs have nothing to do, and need no write lock to find that out.
	if err := r.readLedger(ctx); err != nil {
		return Result{}, err
	}
	return r.result, m.applyWithBackup(ctx, r)
}

// apply applies the pending files of a run.
func (m *Migrator) apply(ctx context.Context, r *run) (err error) {
	if m.o.Judge != nil && len(r.status.Pending) > 0 {
		err = m.judged(ctx, r)
	} else {
		err = r.applyAll(ctx)
	}
	if err != nil || r.tablesChecked {
		return err
	}
	return r.checkTables(ctx)
}

// applyWithBackup applies the pending files of a run, and keeps a copy of the database from before if any was applied.
func (m *Migrator) applyWithBackup(ctx context.Context, r *run) error {
	if m.o.UndoDir == "" || len(r.status.Pending) == 0 {
		return m.apply(ctx, r)
	}
	keep, drop, err := m.copyForUndo(ctx, r.conn)
	if err != nil {
		return err
	}
	err = m.apply(ctx, r)
	if len(r.result.Applied) == 0 {
		keep = drop
	}
	if kept := keep(); err == nil {
		err = kept
	}
	return err
}

// run is one run over the pending files on one connection.
type run struct {
	conn   *sql.Conn
	set    fileSet
	o      Options
	status Status
	// seen is the connection's data version when the ledger was last read. It changes when another connection
	// commits, and not when this one does.
	seen     int64
	counting bool // of the rows that files change
	keyed    bool // a table may refer to another: the schema has the word REFERENCES
	prepared bool // the ledger exists in its present form
	spans    map[string][]span
	files    []ranFile      // committed, or run in the open transaction
	ran      []ranFile      // all that ran, including those that were rolled back
	severed  []severance    // by the current file
	orphaned token.Position // the statement since which SQLite counts rows without their parent
	result   Result
	timeout  *time.Duration // the connection's busy timeout, once it was read

	locked        time.Duration // the time for which transactions held the write lock
	watch         *watcher      // only for a plan
	steps         *int64        // budget left to the running statement; nil for no bound
	full          func() (msg, fix string)
	keys          *keyGraph       // kept while keyed
	unchecked     map[string]bool // foreign keys that cannot be checked, by SQLite's message
	tablesChecked bool            // within the transaction, as with [Options.Atomic]

	uncommitted bool // the transaction stays open, for [Transaction]
	open        bool // it is
}

type ranFile struct {
	entry   Entry
	changes int64 // rows inserted, updated and deleted
}

func (m *Migrator) newRun(ctx context.Context, db *sql.DB, set fileSet) (*run, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, databaseError("the database cannot be opened", err)
	}
	return &run{conn: conn, set: set, o: m.o, spans: map[string][]span{}, keys: newKeyGraph(), full: m.full}, nil
}

func (r *run) close() { _ = r.conn.Close() }

// readLedger reads the ledger, unless no other connection has written since it was last read, and refuses files that must not
// run. It checks the texts of all pending files: a run whose third file is certain to fail must not begin.
func (r *run) readLedger(ctx context.Context) error {
	var version int64
	if err := r.conn.QueryRowContext(context.WithoutCancel(ctx), "PRAGMA data_version").Scan(&version); err != nil {
		return databaseError("the database cannot be read", err)
	}
	if r.seen != 0 && version == r.seen {
		return nil
	}
	ledger, err := readLedger(ctx, r.conn)
	if err != nil {
		return databaseError("the migrations ledger cannot be read", err)
	}
	const hasKeys = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE sql LIKE '%REFERENCES%')"
	if err := r.conn.QueryRowContext(ctx, hasKeys).Scan(&r.keyed); err != nil {
		return databaseError("the schema cannot be read", err)
	}
	r.keys.forgetAll(r.keyed)
	r.status, r.seen = r.set.compare(ledger, r.o), version
	if r.result.Warnings == nil {
		r.result.Warnings = append([]Notice{}, r.status.Warnings...)
	}
	if err := r.status.Refusal(); err != nil {
		return err
	}
	return r.checkTexts()
}

// checkTexts finds the statements of the pending files. A held file and all files after it stay pending.
func (r *run) checkTexts() error {
	var errs Errors
	for i, f := range r.status.Pending {
		if _, done := r.spans[f.Name]; done {
			continue
		}
		spans, err := scan(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(spans) == 0 && r.o.HoldEmpty {
			r.status.Pending = r.status.Pending[:i]
			r.result.Warnings = append(r.result.Warnings, Notice{
				Name: f.Name, Code: CodeHeld, Pos: token.Position{Filename: r.set.path(f.Name)},
				Msg: "the migration has no statement yet, and is not applied until it has",
			})
			break
		}
		r.spans[f.Name] = spans
	}
	return errs.orNil()
}

func (r *run) applyAll(ctx context.Context) error {
	if len(r.status.Pending) == 0 && len(r.status.adopt) == 0 {
		return nil
	}
	if r.o.Atomic {
		r.report()
		_, err := r.transaction(ctx, r.together)
		return err
	}
	for {
		r.report()
		if more, err := r.transaction(ctx, r.next); err != nil || !more {
			return err
		}
	}
}

// report calls Progress for the next file.
func (r *run) report() {
	if r.o.Progress != nil && len(r.status.Pending) > 0 {
		r.o.Progress(Progress{Name: r.status.Pending[0].Name, Done: len(r.files), Total: len(r.files) + len(r.status.Pending)})
	}
}

// together applies all pending files inside the open transaction; false when there is none.
func (r *run) together(ctx context.Context, c connection) (some bool, err error) {
	for more := true; more; {
		if some {
			r.report()
		}
		if more, err = r.next(ctx, c); err != nil {
			return false, err
		}
		some = some || more
		if !r.keyed {
			continue
		}
		// PRAGMA defer_foreign_keys ends with the file, as in a transaction of its own.
		if err := r.statement(ctx, "PRAGMA defer_foreign_keys = OFF"); err != nil {
			return false, databaseError("foreign keys cannot be checked", err)
		}
	}
	r.tablesChecked = true
	return some, r.checkTables(ctx)
}

// transaction runs fn between BEGIN IMMEDIATE and COMMIT, or ROLLBACK when fn fails or has nothing to do. The end of ctx interrupts
// everything except the COMMIT.
func (r *run) transaction(ctx context.Context, fn func(context.Context, connection) (bool, error)) (more bool, err error) {
	var begun time.Time
	defer func() {
		if !begun.IsZero() {
			r.locked += r.o.Now().Sub(begun)
		}
	}()
	err = withInterrupt(ctx, r.conn, func(c connection) error {
		if err := r.begin(ctx, c); err != nil {
			return databaseError("the database cannot be written", err)
		}
		begun = r.o.Now()
		if more, err = fn(ctx, c); err == nil && more && r.uncommitted {
			err = c.flush()
		}
		return err
	})
	if err != nil || !more {
		r.rollback(ctx)
		r.noteFailure(err, len(r.files))
		return false, err
	}
	if r.uncommitted {
		r.open = true
	} else if err := r.commit(ctx); err != nil {
		return false, err
	}
	for _, f := range r.files[len(r.result.Applied):] {
		r.result.Applied = append(r.result.Applied, f.entry)
	}
	return true, nil
}

// commit ends the open transaction. It must not be interrupted: it would be uncertain whether it took effect.
func (r *run) commit(ctx context.Context) error {
	if _, err := r.conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err != nil {
		r.rollback(ctx)
		err = databaseError("the migration cannot be committed", err)
		r.noteFailure(err, len(r.files)-1)
		return err
	}
	return nil
}

// noteFailure names the files of a run that failed: those up to done ran in the transaction that is rolled back, and the
// next one failed.
func (r *run) noteFailure(err error, done int) {
	if err == nil {
		return
	}
	var left []string
	for _, f := range r.files[len(r.result.Applied):] {
		left = append(left, f.entry.Name)
	}
	for _, f := range r.status.Pending {
		left = append(left, f.Name)
	}
	done = max(done-len(r.result.Applied), 0)
	r.files = r.files[:len(r.result.Applied)]
	r.result.TakenBack, left = left[:done], left[done:]
	if len(left) > 0 {
		r.result.Failed, r.result.Remaining = left[0], left[1:]
	}
}

// Pauses between two tries to get the write lock.
const (
	firstPause = time.Millisecond
	longPause  = 50 * time.Millisecond
)

// begin waits for other writers for the connection's busy timeout. SQLite's own wait would outlast ctx.
func (r *run) begin(ctx context.Context, c connection) error {
	if r.timeout == nil {
		var ms int64
		if err := r.conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&ms); err != nil {
			return err
		}
		r.timeout = new(time.Duration(ms) * time.Millisecond)
	}
	c.setBusyTimeout(0)
	defer c.setBusyTimeout(*r.timeout)
	err := r.statement(ctx, "BEGIN IMMEDIATE")
	if !isBusy(err) {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, *r.timeout)
	defer stop()
	for pause := firstPause; isBusy(err); pause = min(2*pause, longPause) {
		select {
		case <-waiting.Done():
			return cmp.Or(ctx.Err(), err)
		case <-time.After(pause):
		}
		err = r.statement(ctx, "BEGIN IMMEDIATE")
	}
	return err
}

// rollback ends the transaction even after the end of ctx. If that fails, it drops the connection, which rolls back
// too. A failed statement may have rolled back already.
func (r *run) rollback(ctx context.Context) {
	r.keys.forgetAll(r.keyed)
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
		_ = r.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// next applies the first pending file inside the open transaction; false when there is none. It reads the ledger each
// time, since another runner may have written between two transactions. After a failure the file is still pending.
func (r *run) next(ctx context.Context, c connection) (bool, error) {
	if err := r.readLedger(ctx); err != nil {
		return false, err
	}
	if len(r.status.Pending) == 0 && len(r.status.adopt) == 0 {
		return false, nil
	}
	if !r.prepared {
		if err := prepareLedger(ctx, r.conn); err != nil {
			return false, databaseError("the migrations ledger cannot be written", err)
		}
	}
	r.prepared = true
	if len(r.status.adopt) > 0 {
		err := r.adopt(ctx)
		r.status.adopt = nil
		return err == nil, err
	}
	file := r.status.Pending[0]
	begin := r.o.Now()
	entry := Entry{
		Name: file.Name, SHA256: r.set.sums[file.Name], Position: nextPosition(r.status.Applied),
		AppliedAt: begin.UTC().Truncate(time.Millisecond), Tool: r.o.Tool,
	}
	before, err := r.totalChanges(ctx)
	if err == nil {
		err = r.execute(ctx, c, file)
	}
	if err != nil {
		return false, err
	}
	after, err := r.totalChanges(ctx)
	if err != nil {
		return false, err
	}
	entry.DurationMS = float64(r.o.Now().Sub(begin)) / float64(time.Millisecond)
	if err := insertEntry(ctx, r.conn, entry); err != nil {
		return false, databaseError("the migrations ledger cannot be written", err)
	}
	r.files = append(r.files, ranFile{entry, after - before})
	r.ran = append(r.ran, ranFile{entry, after - before})
	r.status.Applied = append(r.status.Applied, entry)
	r.status.Pending = r.status.Pending[1:]
	return true, nil
}

// totalChanges counts the rows that the connection has changed so far, for a plan.
func (r *run) totalChanges(ctx context.Context) (n int64, err error) {
	if !r.counting {
		return 0, nil
	}
	if err = r.conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT total_changes()").Scan(&n); err != nil {
		return 0, databaseError("the database cannot be read", err)
	}
	return n, nil
}

// checkTables is the last rule of an apply: the tables of the manifest exist.
func (r *run) checkTables(ctx context.Context) error {
	isHeld := func(n Notice) bool { return n.Code == CodeHeld }
	if len(r.status.Pending) < len(r.set.files) && slices.ContainsFunc(r.result.Warnings, isHeld) {
		return nil // a held file may create them
	}
	var errs Errors
	for _, name := range r.o.Tables {
		ok, err := hasTable(ctx, r.conn, name)
		if err != nil {
			return databaseError("the schema cannot be read", err)
		}
		if !ok {
			errs = append(errs, &Error{
				Code: CodeTableMissing, Table: name,
				Msg: `the manifest names the table "` + name + `", which no migration creates`,
				Fix: "create it in a migration, or correct the name in the manifest",
			})
		}
	}
	return errs.orNil()
}
