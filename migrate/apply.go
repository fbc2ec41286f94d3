package migrate

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"go/token"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Apply runs the pending files in order, each in a transaction of its own that also holds its ledger row. It stops
// at the first failure: that file leaves no trace, the files before it stay, and Result names them. What can be
// seen to be wrong with a text is refused before any file runs. When Apply returns nil, all of them are committed
// and [Options.Tables] exist.
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
	// Most runs find nothing to do, and need no write lock to see that.
	if err := r.readLedger(ctx); err != nil {
		return Result{}, err
	}
	if err := m.applyWithBackup(ctx, r); err != nil {
		return r.result, err
	}
	return r.result, r.checkTables(ctx)
}

// applyWithBackup applies the pending files of a run, and keeps a copy of what was there before if any of them stands.
func (m *Migrator) applyWithBackup(ctx context.Context, r *run) error {
	if m.o.UndoDir == "" || len(r.status.Pending) == 0 {
		return r.applyAll(ctx)
	}
	keep, drop, err := m.copyForUndo(ctx, r.conn)
	if err != nil {
		return err
	}
	err = r.applyAll(ctx)
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
	keyed    bool // a table refers to another, as far as a word in the schema tells
	began    bool // the ledger is there in its present form
	spans    map[string][]span
	files    []ranFile
	losses   []loss         // of the file that runs
	owing    token.Position // the file's statement since which rows lack their parent, as SQLite counts
	result   Result
	patience *time.Duration // the connection's busy timeout, once it was asked
}

// ranFile is what is known of one file that ran.
type ranFile struct {
	entry   Entry
	changes int64 // rows inserted, updated and deleted
}

func (m *Migrator) newRun(ctx context.Context, db *sql.DB, set fileSet) (*run, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, databaseError("the database cannot be opened", err)
	}
	return &run{conn: conn, set: set, o: m.o, spans: map[string][]span{}}, nil
}

func (r *run) close() { _ = r.conn.Close() }

// readLedger reads the ledger, unless nobody else has written since it was last read, and refuses what must not run. The
// texts of all pending files are checked: a run that is bound to fail at its third file should not begin.
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
	if r.keyed, err = hasKeys(ctx, r.conn); err != nil {
		return databaseError("the schema cannot be read", err)
	}
	r.status, r.seen = r.set.compare(ledger, r.o), version
	if r.result.Warnings == nil {
		r.result.Warnings = append([]Notice{}, r.status.Warnings...)
	}
	if err := r.status.Refusal(); err != nil {
		return err
	}
	return r.checkTexts()
}

// checkTexts finds the statements of the pending files.
func (r *run) checkTexts() error {
	var errs Errors
	for i, f := range r.status.Pending {
		if _, done := r.spans[f.Name]; done {
			continue
		}
		spans, err := f.statements()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(spans) == 0 && r.o.HoldEmpty {
			r.leavePending(i)
			break
		}
		r.spans[f.Name] = spans
	}
	return errs.orNil()
}

// leavePending leaves the file at i and what sorts behind it pending.
func (r *run) leavePending(i int) {
	name := r.status.Pending[i].Name
	r.status.Pending = r.status.Pending[:i]
	r.result.Warnings = append(r.result.Warnings, Notice{
		Name: name, Code: CodeHeld, Pos: token.Position{Filename: r.set.path(name)},
		Msg: "the migration has no statement yet, and waits for one",
	})
}

// applyAll applies every pending file.
func (r *run) applyAll(ctx context.Context) error {
	total := len(r.status.Pending)
	work := total > 0 || len(r.status.adopt) > 0
	for more := work; more; {
		if r.o.Progress != nil && len(r.status.Pending) > 0 {
			r.o.Progress(Progress{
				Name: r.status.Pending[0].Name, Done: len(r.files),
				Total: max(total, len(r.files)+len(r.status.Pending)),
			})
		}
		var err error
		if more, err = r.transaction(ctx, r.next); err != nil {
			r.markFailed()
			return err
		}
	}
	return nil
}

func (r *run) markFailed() {
	for i, f := range r.status.Pending {
		if i == 0 {
			r.result.Failed = f.Name
			continue
		}
		r.result.Remaining = append(r.result.Remaining, f.Name)
	}
}

// transaction runs fn between BEGIN IMMEDIATE and COMMIT, or ROLLBACK when fn fails or wants no more. The end of ctx
// interrupts everything but the COMMIT.
func (r *run) transaction(ctx context.Context, fn func(context.Context, connection) (bool, error)) (more bool, err error) {
	err = withInterrupt(ctx, r.conn, func(c connection) error {
		if err := r.begin(ctx, c); err != nil {
			return databaseError("the database cannot be written", err)
		}
		more, err = fn(ctx, c)
		return err
	})
	if err != nil || !more {
		r.rollback(ctx)
		return false, err
	}
	// Once it is written, a commit is not to be interrupted: it would be there or not.
	if _, err := r.conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err != nil {
		r.rollback(ctx)
		return false, databaseError("the migration cannot be committed", err)
	}
	r.markApplied()
	return true, nil
}

// Pauses between two looks whether another writer is done.
const (
	firstPause = time.Millisecond
	longPause  = 50 * time.Millisecond
)

// begin waits for other writers, as long as the connection's busy timeout says. SQLite's own wait would go on when ctx
// has ended.
func (r *run) begin(ctx context.Context, c connection) error {
	if r.patience == nil {
		var ms int64
		if err := r.conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&ms); err != nil {
			return err
		}
		patience := time.Duration(ms) * time.Millisecond
		r.patience = &patience
	}
	c.setBusyTimeout(0)
	defer c.setBusyTimeout(*r.patience)
	err := r.statement(ctx, "BEGIN IMMEDIATE")
	if !isBusy(err) {
		return err
	}
	waiting, stop := context.WithTimeout(ctx, *r.patience)
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

// markApplied moves the file that ran from what is pending to what is applied.
func (r *run) markApplied() {
	r.began, r.status.adopt = true, nil
	if len(r.files) == len(r.result.Applied) {
		return // a transaction that only adopted
	}
	entry := r.files[len(r.files)-1].entry
	r.status.Applied = append(r.status.Applied, entry)
	r.status.Pending = r.status.Pending[1:]
	r.result.Applied = append(r.result.Applied, entry)
}

// rollback ends the transaction also when ctx is over. A connection that cannot even do that is dropped, which rolls
// back as well; that a failed statement already rolled back is fine.
func (r *run) rollback(ctx context.Context) {
	r.files = r.files[:len(r.result.Applied)]
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
		_ = r.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// next applies the first pending file inside the open transaction, and reports whether there was anything to do. The
// ledger is looked at each time, since another runner may have been here between two transactions.
func (r *run) next(ctx context.Context, c connection) (bool, error) {
	if err := r.readLedger(ctx); err != nil {
		return false, err
	}
	if len(r.status.Pending) == 0 && len(r.status.adopt) == 0 {
		return false, nil
	}
	if !r.began {
		if err := prepareLedger(ctx, r.conn); err != nil {
			return false, databaseError("the migrations ledger cannot be written", err)
		}
	}
	if len(r.status.adopt) > 0 {
		return true, r.adopt(ctx)
	}
	file := r.status.Pending[0]
	begin := r.o.now()
	entry := Entry{
		Name: file.Name, SHA256: r.set.sums[file.Name], Position: nextPosition(r.status.Applied),
		AppliedAt: begin.UTC().Truncate(time.Millisecond), Tool: r.o.tool(),
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
	entry.DurationMS = float64(r.o.now().Sub(begin)) / float64(time.Millisecond)
	if err := insertEntry(ctx, r.conn, entry); err != nil {
		return false, databaseError("the migrations ledger cannot be written", err)
	}
	r.files = append(r.files, ranFile{entry, after - before})
	return true, nil
}

// totalChanges is how many rows the connection has changed so far, for a plan.
func (r *run) totalChanges(ctx context.Context) (n int64, err error) {
	if !r.counting {
		return 0, nil
	}
	if err = r.conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT total_changes()").Scan(&n); err != nil {
		return 0, databaseError("the database cannot be read", err)
	}
	return n, nil
}

func (r *run) execute(ctx context.Context, c connection, f File) error {
	r.losses, r.owing, r.keyed = nil, token.Position{}, r.keyed || bytes.Contains(bytes.ToUpper(f.SQL), []byte("REFERENCES"))
	err := withGuard(ctx, r.conn, c, func(ctx context.Context, g *guard) error { return r.statements(ctx, c, f, g) })
	if err != nil {
		return err
	}
	if !c.inTransaction() {
		return databaseError("the file's transaction ended before the file", errTransactionEnded)
	}
	if !r.keyed {
		return nil // SQLite would look at every table to find the same
	}
	if err := r.checkForeignKeys(ctx, f); err != nil {
		return err
	}
	if r.owing.IsValid() {
		return &Error{
			Pos: r.owing, Code: CodeForeignKeys,
			Msg: "this leaves rows without their parent, and a table that is given its name is no parent to them: " +
				"SQLite would refuse to commit",
			Fix: "begin the file with PRAGMA defer_foreign_keys = ON and end it with = OFF: SQLite then forgets them, " +
				"and the keys are checked all the same",
		}
	}
	return r.noticeLosses(ctx, f)
}

// errTransactionEnded is what no file can do as long as every statement is asked about: its row in the ledger would
// not be of one transaction with it.
var errTransactionEnded = errors.New("no transaction is open")

// statements gives SQLite the file's stretches one after the other. A stretch it calls incomplete was cut too early,
// and is tried again together with the next.
func (r *run) statements(ctx context.Context, c connection, f File, g *guard) error {
	spans := r.spans[f.Name]
	for i := 0; i < len(spans); i++ {
		s := spans[i]
		err := r.exec(ctx, f, s, g)
		for err != nil && err.Msg == incomplete && i+1 < len(spans) {
			i++
			s.end = spans[i].end
			err = r.exec(ctx, f, s, g)
		}
		if err != nil {
			return err
		}
		if r.keyed {
			r.noteOrphans(c.owesParents(), f, s)
		}
	}
	return nil
}

// noteOrphans notes the first statement behind which rows lack their parent, for as long as they do.
func (r *run) noteOrphans(parents bool, f File, s span) {
	switch {
	case !parents:
		r.owing = token.Position{}
	case !r.owing.IsValid():
		r.owing = position(f.path(), f.SQL, s.start)
	}
}

// statement runs text inside [interruptible], which ends it with ctx.
func (r *run) statement(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), text)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// incomplete is SQLite's message for text that ends within a statement.
const incomplete = "incomplete input"

func (r *run) exec(ctx context.Context, f File, s span, g *guard) *Error {
	text := string(f.SQL[s.start:s.end])
	if *g = guard(renameVerdict(text)); g.msg != "" {
		return f.refusal(s, g, nil)
	}
	var err error
	if table := droppedTable(text); table != "" && r.keyed {
		err = r.dropTable(ctx, f, s, table)
	} else {
		err = r.statement(ctx, text)
	}
	begin := func() token.Position { return position(f.path(), f.SQL, s.start) } // which counts lines from the file's first
	if l, over := limitOf(text, err); over && r.o.Limited && l.id != sqlite3.SQLITE_LIMIT_VDBE_OP && g.msg == "" {
		return &Error{
			Pos: begin(), Code: CodeOverLimit, Msg: "the platform refuses this statement: " + l.what,
			Fix: "do it in smaller ones", cause: err,
		}
	}
	if err != nil && g.msg == "" {
		err = r.beyondLimits(ctx, f, s, err)
	}
	if err == nil {
		return nil
	}
	if g.msg != "" {
		return f.refusal(s, g, err)
	}
	if firstWord(text) == "VACUUM" {
		return &Error{
			Pos: begin(), Code: CodeVacuum, Msg: "a migration must not vacuum: it cannot be part of a transaction",
			Fix: "remove the statement; space of deleted rows is used again by itself", cause: err,
		}
	}
	e := databaseError("the statement fails", err)
	e.Pos = begin()
	if !e.blamesDatabase() {
		e.Msg = message(err)
		if name, ok := strings.CutPrefix(e.Msg, "no such function: "); ok && forbiddenFunctions[strings.ToLower(name)] {
			v := judgeAction(sqlite.AuthFunction, "", name, "") // SQLite asks about functions that it knows
			e.Code, e.Msg, e.Fix = v.code, v.msg, v.fix
		}
		if e.Fix == "" {
			e.Fix = cmp.Or(ForeignFix(f.SQL[s.start:s.end], e.Msg), renameFix(e.Msg))
		}
		e.Pos = position(f.path(), f.SQL, f.blame(s, e.Msg))
		if isForeignKey(err) {
			e.Code, e.Fix = CodeForeignKeys, "insert the parent row first, or begin the file with PRAGMA defer_foreign_keys = ON"
		}
	}
	return e
}

func (f File) refusal(s span, g *guard, err error) *Error {
	return &Error{Pos: position(f.path(), f.SQL, s.start), Code: g.code, Msg: g.msg, Fix: g.fix, cause: err}
}

// renameVerdict is about the name that a statement gives a table, of which SQLite does not ask the authorizer.
func renameVerdict(text string) refusal {
	if firstWord(text) != "ALTER" {
		return refusal{}
	}
	return ownVerdict(ownPrefix(renameTarget(text)))
}

// renameTarget is the name that ALTER TABLE … RENAME TO gives.
func renameTarget(text string) string {
	var last [3]string // tokens
	src := []byte(text)
	for pos := 0; pos < len(src); {
		t := nextToken(src, pos)
		pos = t.end
		if t.kind != tokenSpace && t.kind != tokenSemicolon {
			last = [3]string{last[1], last[2], string(src[t.start:t.end])}
		}
	}
	if !strings.EqualFold(last[0], "RENAME") || !strings.EqualFold(last[1], "TO") {
		return ""
	}
	return unquote(last[2])
}

// renameFix is what to do about a trigger or a view that names a table which is dropped and not there again when another
// is given its name; "" for another message.
func renameFix(msg string) string {
	if named, ok := strings.CutPrefix(msg, "error in "); ok && strings.Contains(msg, ": no such table: ") {
		if what, _, _ := strings.Cut(named, ":"); strings.HasPrefix(what, "trigger ") || strings.HasPrefix(what, "view ") {
			return "drop the " + what + " before the table is dropped, and create it again at the end of the file"
		}
	}
	return ""
}

func unquote(name string) string { return strings.Trim(name, "\"'`[]") }

func firstWord(text string) string {
	return strings.ToUpper(text[:wordLength([]byte(text))])
}

// checkForeignKeys refuses a file that leaves a row without its parent, which SQLite would only notice at COMMIT, and
// without a name. It runs inside [interruptible].
func (r *run) checkForeignKeys(ctx context.Context, f File) error {
	rows, err := r.conn.QueryContext(context.WithoutCancel(ctx), "PRAGMA foreign_key_check")
	if err != nil {
		return f.keysUnchecked(err)
	}
	defer rows.Close()
	if rows.Next() {
		var table, parent string
		var rowid sql.NullInt64
		var key int
		if err := rows.Scan(&table, &rowid, &parent, &key); err != nil {
			return f.keysUnchecked(err)
		}
		return f.errorWhole(CodeForeignKeys, violation(table, parent, rowid),
			"delete or repair the row in the same file")
	}
	if err := rows.Err(); err != nil {
		return f.keysUnchecked(err)
	}
	return nil
}

func (f File) keysUnchecked(err error) *Error {
	e := databaseError("foreign keys cannot be checked", err)
	e.Pos = token.Position{Filename: f.path()}
	return e
}

// checkTables is the last rule of an apply: what the manifest names exists.
func (r *run) checkTables(ctx context.Context) error {
	if len(r.status.Pending) < len(r.set.files) && r.isHeld() {
		return nil // what waits may create them
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

func (r *run) isHeld() bool {
	for _, w := range r.result.Warnings {
		if w.Code == CodeHeld {
			return true
		}
	}
	return false
}
