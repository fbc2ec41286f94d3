// Package d1 is a SQLite database for Workers, with the shape of Cloudflare's D1.
//
// A [Database] runs a Worker's SQL in D1's sandbox: an allow-list of functions, pragmas and modules, no other files, no
// tables of the platform. [Funcs] is the Go half of D1Database in JavaScript. A [Console] runs SQL of the site's author by
// hand, in the same sandbox with the options of [ConsoleOptions].
//
// In: a *sql.DB of the SQLite driver that this project is built on, which its owner opens and closes. Out: results as JSON. Errors for
// a Worker have D1's texts; those of a Console are a [SQLError] with the place in the statement. Acknowledged writes are committed. A
// Database is safe for concurrent use, a Console serves one goroutine at a time. The package does not control access.
package d1

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// Options control a Worker's use of a database.
type Options struct {
	// ReadOnly refuses every write: the manifest's "projectDatabase": "read".
	ReadOnly bool
	// Now is the clock of durations. Default time.Now.
	Now func() time.Time
	// Timeout stops a query or batch that takes longer. Default 30 s, as D1's.
	Timeout time.Duration
	// Failed, if set, gets every error of a write before its caller does. It may be called
	// from several goroutines. An error of SQLite's has a method Code.
	Failed func(error)
}

// Database is a SQLite database with the shape and the sandbox of D1. It keeps one connection of the pool to write, and up
// to four to read, from their first use until they are idle or Close. Each runs one query at a time: when a promise
// resolves its query is committed, and visible to the next query. It is safe for concurrent use.
//
// Of the meta fields, rows_read and rows_written are estimates: SQLite counts less than D1 bills.
type Database struct {
	pool     *sql.DB
	o        Options
	turn     chan struct{} // holds one token: the right to use the fields below
	handle   *sqlHandle
	guard    authorizer
	pageSize int64 // in bytes; 0 before it is read
	size     int64 // of the database in bytes, after the last write
	grown    bool  // a statement wrote since size was read
	closed   bool

	queue   hostcall.Queue // of the calls of all isolates
	readers *readers
	idle    idle
	schemas atomic.Int64 // counts changes of the schema
	uses    atomic.Int64 // counts possible writes
	lastRow atomic.Int64 // the id of the row that was inserted last
	marked  atomic.Int64 // the microsecond of the last bookmark

	// For a reader: its writer, and the writer's counters at the last catch-up.
	writer              *Database
	schema, seen, rowID int64
}

// Query is SQL with the values to bind: float64, string, []byte or nil.
type Query struct {
	SQL    string
	Params []any
}

// New makes db available to Workers. The pool must have five connections
// to spare, opened with synchronous=FULL if commits are to be durable.
func New(db *sql.DB, o Options) *Database {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	d := &Database{pool: db, o: o, turn: make(chan struct{}, 1), readers: newReaders()}
	d.turn <- struct{}{}
	return d
}

// Close waits for running queries and releases the connections. Later queries fail.
func (d *Database) Close() error {
	d.readers.close()
	<-d.turn
	defer func() { d.turn <- struct{}{} }()
	d.closeHandle()
	d.closed = true
	return nil
}

func (d *Database) closeHandle() {
	if d.handle != nil {
		d.handle.close()
		d.handle = nil
	}
}

// query runs q and returns its rows in a shape, as JSON. shapeAll is an array of the parts of a D1Result: an array of the
// rows' objects, duration in milliseconds, changes, last_row_id, changed_db, size_after in bytes, rows_read, rows_written.
// Several statements are one transaction, and the last one returns the rows. Errors are *engine.Error with D1's texts.
func (d *Database) query(ctx context.Context, q Query, shape resultShape, column string) (*jsonText, error) {
	return d.queryInTurn(ctx, q, shape, column, func() {})
}

// queryInTurn is query, and calls begun once the snapshot of a read is fixed.
func (d *Database) queryInTurn(ctx context.Context, q Query, shape resultShape, column string, begun func()) (*jsonText, error) {
	w := newRowWriter(shape, column, bufferOf(ctx))
	err := d.read(ctx, q, w, begun)
	if errors.Is(err, errWriter) {
		err = d.withConnection(ctx, func(ctx context.Context) error { return d.run(ctx, q, w) })
	}
	return w.finish(err)
}

// batch runs the queries in order in one transaction, all or none, and returns a JSON array of their results in shapeAll.
func (d *Database) batch(ctx context.Context, queries []Query) (*jsonText, error) {
	return d.batchShaped(ctx, queries, shapeAll)
}

func (d *Database) batchShaped(ctx context.Context, queries []Query, shape resultShape) (*jsonText, error) {
	w := newRowWriter(shape, "", bufferOf(ctx))
	w.batch = trace.Start(ctx, "d1_batch", trace.Word(trace.DBSystem, dbSystem), trace.Int(trace.DBBatchSize, int64(len(queries))))
	w.b = append(w.b, '[')
	err := d.withConnection(ctx, func(ctx context.Context) error {
		if len(queries) == 0 {
			return errNoStatement
		}
		return d.transaction(func() error {
			for i, q := range queries {
				w.b = hostcall.AppendComma(w.b, i)
				if err := d.run(ctx, q, w); err != nil {
					return err
				}
			}
			return nil
		})
	})
	w.batch.End(err)
	w.b = append(w.b, ']')
	return w.finish(err)
}

// exec runs each line of text as one statement without parameters, all in one transaction, and returns {"count","duration"}
// as JSON. It skips blank lines and comments.
func (d *Database) exec(ctx context.Context, text string) (*jsonText, error) {
	begin, lines := d.o.Now(), strings.Split(strings.TrimSpace(text), "\n")
	count, failed, err := d.execLines(ctx, lines, noRows())
	if err != nil {
		return nil, prefixedError("D1_EXEC_ERROR", placeOf(lines, failed), err)
	}
	return &jsonText{b: fmt.Appendf(nil, `{"count":%d,"duration":%s}`, count, d.since(begin))}, nil
}

// placeOf names the failed line.
func placeOf(lines []string, failed int) string {
	return fmt.Sprintf("Error in line %d: %s: ", failed+1, strings.TrimRight(lines[failed], "\r"))
}

// execLines is exec of lines, whose results w gets. failed is the index of the line that failed.
func (d *Database) execLines(ctx context.Context, lines []string, w *rowWriter) (count, failed int, err error) {
	w.batch = trace.Start(ctx, "d1_exec", trace.Word(trace.DBSystem, dbSystem))
	defer func() { w.batch.End(err) }()
	err = d.withConnection(ctx, func(ctx context.Context) error {
		return d.transaction(func() error {
			for i, line := range lines {
				if blankSQL(line) {
					continue
				}
				w.b = hostcall.AppendComma(w.b, count)
				if err := d.run(ctx, Query{SQL: line}, w); err != nil {
					failed = i
					return err
				}
				count++
			}
			if count == 0 {
				return errNoStatement
			}
			return nil
		})
	})
	return count, failed, err
}

// withConnection runs fn when it is the caller's turn, on an open connection, and leaves the connection without a
// transaction and with its settings as they were.
func (d *Database) withConnection(ctx context.Context, fn func(ctx context.Context) error) error {
	select {
	case <-d.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { d.turn <- struct{}{}; d.noteUse() }()
	if d.closed {
		return errClosed
	}
	if err := d.open(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, d.o.Timeout)
	defer cancel()
	err := d.handle.do(limited, func() error { return fn(limited) })
	if err != nil && d.o.Failed != nil {
		d.o.Failed(err)
	}
	sqlErr, ok := errors.AsType[*sqlError](err)
	if d.resetConnection() != nil {
		d.closeHandle() // closing the connection rolls back its transaction
	} else if ok && sqlErr.code&0xff == sqlite3.SQLITE_FULL {
		// Release the disk space of the rollback: SQLite alone would do so some commits later. The next full disk retries a failure.
		_ = d.handle.conn.Raw(func(any) error { return d.handle.runTrusted("PRAGMA wal_checkpoint(TRUNCATE)") })
	}
	if !ok || sqlErr.code != sqlite3.SQLITE_INTERRUPT {
		return err
	}
	if ctx.Err() != nil { // the request ended before the time limit
		return ctx.Err()
	}
	return &sqlError{sqlErr.code, fmt.Sprintf("the query took longer than its limit of %v and was stopped", d.o.Timeout), -1}
}

func (d *Database) open(ctx context.Context) error {
	if d.handle != nil {
		return nil
	}
	h, err := openHandle(ctx, d.pool, &d.guard)
	if err != nil {
		return err
	}
	d.handle, d.guard.changed, d.grown = h, true, true
	if err = d.resetConnection(); err == nil {
		err = h.conn.Raw(func(any) error { return d.measure() })
	}
	if err != nil {
		d.closeHandle()
	}
	return err
}

// resetConnection ends a transaction that a failed statement left open, and resets the settings that a PRAGMA changed.
func (d *Database) resetConnection() error {
	h := d.handle
	return h.conn.Raw(func(any) error {
		if sqlite3.Xsqlite3_get_autocommit(h.tls, h.db) == 0 {
			if err := h.runTrusted("ROLLBACK"); err != nil {
				return err
			}
		}
		d.lastRow.Store(sqlite3.Xsqlite3_last_insert_rowid(h.tls, h.db))
		d.uses.Add(1)
		return d.resetSettings()
	})
}

func (d *Database) resetSettings() error {
	if !d.guard.changed {
		return nil
	}
	d.guard.changed = false
	for setting := range strings.SplitSeq(workerSettings, ";") {
		if err := d.handle.runTrusted(setting); err != nil {
			return err
		}
	}
	return nil
}

// transaction runs fn and commits; withConnection rolls back an uncommitted transaction.
func (d *Database) transaction(fn func() error) error {
	begin := "BEGIN IMMEDIATE"
	if d.o.ReadOnly {
		begin = "BEGIN"
	}
	if err := d.handle.runTrusted(begin); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	return d.handle.runTrusted("COMMIT")
}

// run runs the statements of q and writes the last one's rows to w, as query returns them.
func (d *Database) run(ctx context.Context, q Query, w *rowWriter) error {
	before := d.counters()
	begin := d.o.Now()
	w.beginSpan(ctx, q)
	w.b = append(w.b, w.shape.opening()...)
	spent, err := d.statements(ctx, q, w)
	w.span.End(err, trace.Int(trace.RowsReturned, int64(w.rows)), trace.Int(trace.RowsRead, spent.read),
		trace.Int(trace.RowsWritten, spent.written))
	if err != nil {
		return err
	}
	w.end()
	if w.shape == shapeAll {
		w.b, err = d.appendMeta(append(w.b, ','), before, d.since(begin), spent)
		w.b = append(w.b, ']')
	} else if w.shape.answers() {
		w.b, err = d.appendNamedMeta(w.b, before, d.since(begin), spent)
	}
	return err
}

// statements runs the first statement of q, and more in a transaction.
func (d *Database) statements(ctx context.Context, q Query, w *rowWriter) (spent rowCounts, err error) {
	s, err := d.prepare(q.SQL)
	if errors.Is(err, errNoCode) && blankSQL(q.SQL) && !strings.ContainsAny(q.SQL, ";/") {
		err = errNoStatement
	}
	if err != nil {
		return spent, err
	}
	outside := sqlite3.Xsqlite3_get_autocommit(d.handle.tls, d.handle.db) != 0
	switch {
	case !outside || s.rest == "" && s.readOnly():
		return d.runStatements(ctx, s, q.Params, w)
	case s.rest == "": // a transaction would undo rows that OR FAIL keeps
		begun := false
		err = d.transaction(func() (err error) {
			begun = true
			spent, err = d.statement(ctx, s, q.Params, w)
			return err
		})
		if !begun {
			s.close()
		}
		return spent, err
	}
	// Some PRAGMAs take effect when they are compiled, and not inside a transaction.
	s.close()
	if err := d.resetSettings(); err != nil {
		return spent, err
	}
	err = d.transaction(func() (err error) {
		if s, err = d.prepare(q.SQL); err != nil {
			return err
		}
		spent, err = d.runStatements(ctx, s, q.Params, w)
		return err
	})
	return spent, err
}

// runStatements runs s and the statements after it; the last statement gets the parameters and returns the rows.
func (d *Database) runStatements(ctx context.Context, s sqlStatement, params []any, w *rowWriter) (spent rowCounts, err error) {
	for s.rest != "" {
		if sqlite3.Xsqlite3_bind_parameter_count(d.handle.tls, s.stmt) > 0 {
			s.close()
			return spent, errEarlyBinding
		}
		if _, err := d.statement(ctx, s, nil, noRows()); err != nil {
			return spent, err
		}
		if s, err = d.prepare(s.rest); err != nil {
			return spent, err
		}
	}
	return d.statement(ctx, s, params, w)
}

func (d *Database) prepare(text string) (sqlStatement, error) {
	s, err := d.handle.prepare(text)
	if err == nil && s.stmt == 0 {
		err = errNoCode
	}
	return s, err
}

// rowCounts are the rows that D1 would bill.
type rowCounts struct{ read, written int64 }

func (d *Database) statement(ctx context.Context, s sqlStatement, params []any, w *rowWriter) (spent rowCounts, err error) {
	defer s.close()
	readOnly := s.readOnly()
	if d.o.ReadOnly && !readOnly {
		return spent, errReadOnly
	}
	if err := s.bind(params); err != nil {
		return spent, err
	}
	d.grown = d.grown || !readOnly
	before := sqlite3.Xsqlite3_total_changes64(s.h.tls, s.h.db)
	counted, err := s.run(ctx, w)
	if err != nil {
		return spent, err
	}
	if s.cost.schema {
		s.h.stale = true
		d.schemas.Add(1)
	}
	changes := sqlite3.Xsqlite3_total_changes64(s.h.tls, s.h.db) - before
	return rowCounts{s.rowsRead(int64(w.rows), counted), changes * (1 + s.cost.entries)}, nil
}

// run steps through s and writes its rows to w. counted is the result of a bare count(*).
func (s sqlStatement) run(ctx context.Context, w *rowWriter) (counted int64, err error) {
	readOnly := s.readOnly()
	for first, done := true, false; ; first = false {
		if err := ctx.Err(); err != nil {
			return 0, &sqlError{sqlite3.SQLITE_INTERRUPT, "interrupted", -1}
		}
		row, err := s.step()
		if err != nil {
			return 0, err
		}
		if first { // not earlier: the step may have recompiled s for a new schema
			w.begin(s)
		}
		if !row {
			return counted, nil
		}
		if s.cost.counts {
			counted = sqlite3.Xsqlite3_column_int64(s.h.tls, s.stmt, 0)
		}
		if done { // a write continues after the requested row
			continue
		}
		if done, err = w.row(s); err != nil {
			return 0, err
		}
		if done && readOnly {
			return counted, nil
		}
	}
}

type counters struct{ changes, rowID, size int64 }

func (d *Database) counters() counters {
	h := d.handle
	rowID := d.rowID
	if d.writer == nil {
		rowID = sqlite3.Xsqlite3_last_insert_rowid(h.tls, h.db)
	}
	return counters{sqlite3.Xsqlite3_total_changes64(h.tls, h.db), rowID, d.size}
}

// appendMeta writes the values of a D1Result's meta, in the order of query. They have no names, because JSON.parse would
// take longer than SQLite for a short statement.
func (d *Database) appendMeta(b []byte, before counters, duration string, spent rowCounts) ([]byte, error) {
	changes, rowID, changed, err := d.changesSince(before)
	if err != nil {
		return b, err
	}
	b = append(b, duration...)
	b = strconv.AppendInt(append(b, ','), changes, 10)
	b = strconv.AppendInt(append(b, ','), rowID, 10)
	b = strconv.AppendBool(append(b, ','), changed)
	for _, n := range [...]int64{d.size, spent.read, spent.written} {
		b = strconv.AppendInt(append(b, ','), n, 10)
	}
	return b, nil
}

// changesSince compares with counters of before a statement, and measures the database.
func (d *Database) changesSince(before counters) (changes, rowID int64, changed bool, err error) {
	after := d.counters()
	if err := d.measure(); err != nil {
		return 0, 0, false, err
	}
	changes = after.changes - before.changes
	return changes, after.rowID, changes != 0 || after.rowID != before.rowID || before.size != d.size, nil
}

// measure reads the size of the database, if it may have changed.
func (d *Database) measure() (err error) {
	if !d.grown {
		return nil
	}
	if d.pageSize == 0 { // it is constant while a connection is open
		if d.pageSize, err = d.handle.number("PRAGMA page_size"); err != nil {
			return err
		}
	}
	pages, err := d.handle.number("PRAGMA page_count")
	if err != nil {
		return err
	}
	free, err := d.handle.number("PRAGMA freelist_count")
	if err != nil {
		return err
	}
	d.size, d.grown = d.pageSize*(pages-free), false
	return nil
}

func (d *Database) since(begin time.Time) string {
	return strconv.FormatFloat(float64(d.o.Now().Sub(begin))/float64(time.Millisecond), 'f', -1, 64)
}
