package migrate

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"go/token"
	"strings"
	"time"
)

// Apply runs the pending files in order, each in a transaction of its own
// that also holds its ledger row. It stops at the first failure: that file
// leaves no trace, the files before it stay, and Result names them. When it
// returns nil, all of them are committed and [Options.Tables] exist.
//
// While a file runs, its connection has the package's own authorizer;
// afterwards it has none.
func Apply(ctx context.Context, db *sql.DB, files []File, o Options) (Result, error) {
	r, err := newRun(ctx, db, files, o)
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	// Most runs find nothing to do, and need no write lock to see that.
	status, err := r.status(ctx)
	if err != nil {
		return Result{}, err
	}
	for more := len(status.Pending) > 0; more; {
		if more, err = r.transaction(ctx, r.next); err != nil {
			return r.result, err
		}
	}
	return r.result, r.checkTables(ctx)
}

// errRehearsed ends a rehearsal's transaction.
var errRehearsed = errors.New("rehearsed")

// Rehearse runs the pending files against the real data in one transaction,
// checks [Options.Tables], and rolls everything back. It holds the write
// lock meanwhile. Result is what [Apply] would give.
func Rehearse(ctx context.Context, db *sql.DB, files []File, o Options) (Result, error) {
	r, err := newRun(ctx, db, files, o)
	if err != nil {
		return Result{}, err
	}
	defer r.close()
	_, err = r.transaction(ctx, func(ctx context.Context) (bool, error) {
		for {
			more, err := r.next(ctx)
			if err == nil && !more {
				err = r.checkTables(ctx)
			}
			if err != nil {
				return false, err
			}
			if !more {
				return false, errRehearsed
			}
		}
	})
	if errors.Is(err, errRehearsed) {
		err = nil
	}
	return r.result, err
}

// run is one Apply or Rehearse on one connection.
type run struct {
	conn   *sql.Conn
	set    fileSet
	o      Options
	result Result
}

func newRun(ctx context.Context, db *sql.DB, files []File, o Options) (*run, error) {
	set, err := newFileSet(files)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, databaseError("the database cannot be opened", err)
	}
	return &run{conn: conn, set: set, o: o}, nil
}

func (r *run) status(ctx context.Context) (Status, error) {
	applied, err := readLedger(ctx, r.conn)
	if err != nil {
		return Status{}, databaseError("the migrations ledger cannot be read", err)
	}
	return r.set.compare(applied, r.o)
}

func (r *run) close() { _ = r.conn.Close() }

// transaction runs fn between BEGIN IMMEDIATE and COMMIT, or ROLLBACK when
// fn fails or wants no more.
func (r *run) transaction(ctx context.Context, fn func(context.Context) (bool, error)) (more bool, err error) {
	if _, err := r.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return false, databaseError("the database cannot be written", err)
	}
	more, err = fn(ctx)
	if err != nil || !more {
		r.rollback(ctx)
		return false, err
	}
	if _, err := r.conn.ExecContext(ctx, "COMMIT"); err != nil {
		r.rollback(ctx)
		r.result.Applied = r.result.Applied[:len(r.result.Applied)-1]
		return false, databaseError("the migration cannot be committed", err)
	}
	return true, nil
}

// rollback ends the transaction also when ctx is over. A connection that
// cannot even do that is dropped, which rolls back as well; that a failed
// statement already rolled back is fine.
func (r *run) rollback(ctx context.Context) {
	_, err := r.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
		_ = r.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// next applies the first pending file inside the open transaction, and
// reports whether there was one. The ledger is read again each time, since
// another runner may have been here between two transactions.
func (r *run) next(ctx context.Context) (bool, error) {
	status, err := r.status(ctx)
	if err != nil {
		return false, err
	}
	if len(status.Pending) == 0 {
		return false, nil
	}
	file := status.Pending[0]
	begin := r.o.now()
	entry := Entry{
		Name: file.Name, SHA256: r.set.sums[file.Name], N: nextN(status.Applied),
		AppliedAt: begin.UTC().Truncate(time.Millisecond), Tool: r.o.tool(),
	}
	// The row goes first: should a statement ever end the transaction, the
	// row is gone with the rest and COMMIT fails.
	if err := writeLedger(ctx, r.conn, entry); err != nil {
		return false, databaseError("the migrations ledger cannot be written", err)
	}
	if err := r.execute(ctx, file); err != nil {
		return false, err
	}
	entry.DurationMS = float64(r.o.now().Sub(begin)) / float64(time.Millisecond)
	r.result.Applied = append(r.result.Applied, entry)
	for _, w := range status.Warnings {
		if w.Name == file.Name {
			r.result.Warnings = append(r.result.Warnings, w)
		}
	}
	return true, nil
}

func nextN(applied []Entry) int {
	n := 0
	for _, e := range applied {
		n = max(n, e.N)
	}
	return n + 1
}

func (r *run) execute(ctx context.Context, f File) error {
	if err := f.checkText(); err != nil {
		return err
	}
	spans, err := scan(f)
	if err != nil {
		return err
	}
	err = guarded(ctx, r.conn, func(ctx context.Context, g *guard) error { return r.statements(ctx, f, spans, g) })
	if err != nil {
		return err
	}
	return r.checkForeignKeys(ctx, f)
}

// statements gives SQLite the file's stretches one after the other. A
// stretch it calls incomplete was cut too early, and is tried again together
// with the next.
func (r *run) statements(ctx context.Context, f File, spans []span, g *guard) error {
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
	}
	return nil
}

// incomplete is SQLite's message for text that ends within a statement.
const incomplete = "incomplete input"

func (r *run) exec(ctx context.Context, f File, s span, g *guard) *Error {
	text := string(f.SQL[s.start:s.end])
	*g = guard{}
	_, err := r.conn.ExecContext(ctx, text)
	if err == nil {
		return nil
	}
	begin := position(f.path(), f.SQL, s.start)
	if g.msg != "" {
		return &Error{Pos: begin, Code: CodeStatementForbidden, Msg: g.msg, Fix: g.fix, cause: err}
	}
	if firstWord(text) == "VACUUM" {
		return &Error{Pos: begin, Code: CodeStatementForbidden, Msg: "a migration must not vacuum", Fix: "remove the statement", cause: err}
	}
	e := databaseError("the statement fails", err)
	e.Pos = begin
	if !e.blamesDatabase() {
		e.Msg = message(err)
		e.Pos = position(f.path(), f.SQL, f.blame(s, e.Msg))
		if isForeignKey(err) {
			e.Code, e.Fix = CodeForeignKeys, "insert the parent row first, or begin the file with PRAGMA defer_foreign_keys = ON"
		}
	}
	return e
}

func firstWord(text string) string {
	return strings.ToUpper(text[:wordLength([]byte(text))])
}

// checkForeignKeys refuses a file that leaves a row without its parent,
// which SQLite would only notice at COMMIT, and without a name.
func (r *run) checkForeignKeys(ctx context.Context, f File) error {
	rows, err := r.conn.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return f.failed(err)
	}
	defer rows.Close()
	if rows.Next() {
		var table, parent string
		var rowid sql.NullInt64
		var key int
		if err := rows.Scan(&table, &rowid, &parent, &key); err != nil {
			return f.failed(err)
		}
		return f.errorWhole(CodeForeignKeys, violation(table, parent, rowid),
			"delete or repair the row in the same file")
	}
	if err := rows.Err(); err != nil {
		return f.failed(err)
	}
	return nil
}

func (f File) failed(err error) *Error {
	e := databaseError("foreign keys cannot be checked", err)
	e.Pos = token.Position{Filename: f.path()}
	return e
}

// checkTables is the last rule of an apply: what the manifest names exists.
func (r *run) checkTables(ctx context.Context) error {
	var errs Errors
	for _, name := range r.o.Tables {
		ok, err := hasTable(ctx, r.conn, name)
		if err != nil {
			return databaseError("the schema cannot be read", err)
		}
		if !ok {
			errs = append(errs, &Error{
				Code: CodeTableMissing,
				Msg:  `the manifest names the table "` + name + `", which no migration creates`,
				Fix:  "create it in a migration, or correct the name in the manifest",
			})
		}
	}
	return errs.orNil()
}
