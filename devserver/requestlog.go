package devserver

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file writes the history of requests, which people can search later, without a running server, too. The history may have gaps: rows
// are written a moment later and in batches, beside the requests; requests never wait for them, so the log drops rows that it cannot write
// in time, and a power failure may lose the last ones. Bodies and headers are never stored.

const (
	// The log holds a bounded number of rows, requests and lines alike, and of bytes; beyond that, it drops the oldest, a tenth of all at a
	// time.
	keptRows  = 50_000
	keptBytes = 64 << 20

	logRoom  = 4096 // rows that may wait for their write; the second half is for failures
	logBatch = 256  // rows of one transaction
	// Between two batches the log pauses, so that it never takes more than a small part of a core, whatever the site's
	// traffic.
	logEvery   = 200 * time.Millisecond
	logGoodbye = 2 * time.Second // for the waiting rows when the log closes
)

// The kinds of rows, in the column "line".
const (
	rowRequest = 0
	rowLine    = 1
)

// logTable has requests and their lines in one table: one order, one cursor for followers, one sweep.
const logTable = `
CREATE TABLE IF NOT EXISTS request_log (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  request  TEXT NOT NULL,            -- id of the request, '' for a line of none
  line     INTEGER NOT NULL,         -- 0: the request itself, 1: a line of it
  at       INTEGER NOT NULL,         -- milliseconds since 1970
  severity INTEGER NOT NULL,         -- of a line its level, of a request that failed that of an error
  status   INTEGER NOT NULL DEFAULT 0,
  method   TEXT NOT NULL DEFAULT '',
  path     TEXT NOT NULL DEFAULT '',
  route    TEXT NOT NULL DEFAULT '',
  member   TEXT NOT NULL DEFAULT '',
  text     TEXT NOT NULL,            -- what a search looks at
  document TEXT NOT NULL,            -- site.RequestRecord or site.LogLine as JSON
  trace    TEXT,                     -- id of the trace of the request
  spans    TEXT                      -- of a request with spans: trace.Document as JSON
) STRICT`

// traceColumn is a column that logs of earlier versions lack, like the one after it.
const traceColumn = "trace"

// rowSize is the bytes that a row counts for.
const rowSize = "octet_length(document) + octet_length(text) + coalesce(octet_length(spans), 0)"

// logIndexes find the rows of a request and of a trace. Ids of one time are neighbours in both, so that a batch changes few pages.
const logIndexes = `
CREATE INDEX IF NOT EXISTS request_log_request ON request_log (request, line);
CREATE INDEX IF NOT EXISTS request_log_trace ON request_log (trace, line) WHERE trace IS NOT NULL`

// RequestLogOptions configure a log. The zero value works.
type RequestLogOptions struct {
	MaxRows  int              // default 50,000
	MaxBytes int64            // default 64 MiB, of documents and searched texts
	Now      func() time.Time // default time.Now
	Logger   *slog.Logger     // default none
}

// RequestLog writes the history of a site's requests into a database. Make it with OpenRequestLog, end it with Close. It
// is safe for concurrent use.
type RequestLog struct {
	db    *sql.DB
	o     RequestLogOptions
	queue chan logRow
	lost  atomic.Int64 // rows that were lost before the queue or the database
	told  int64        // of those, the ones that the log itself mentions

	// The size of the table, counted before the first batch: counting a full log takes a moment, which the start should not wait for.
	measured    bool
	rows, bytes int64

	flushes chan chan struct{} // each is closed after all waiting rows are written
	ended   chan struct{}

	stop context.CancelFunc
	done sync.WaitGroup
}

// logRow is a waiting row: a request or a line.
type logRow struct {
	record *site.RequestRecord
	line   *site.LogLine
}

// OpenRequestLog makes the log's table in db unless it exists, and begins to write. The caller keeps the database, and
// closes it after the log.
func OpenRequestLog(ctx context.Context, db *sql.DB, o RequestLogOptions) (*RequestLog, error) {
	if o.MaxRows <= 0 {
		o.MaxRows = keptRows
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = keptBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	l := &RequestLog{db: db, o: o, queue: make(chan logRow, logRoom), flushes: make(chan chan struct{}), ended: make(chan struct{})}
	if err := createLog(ctx, db); err != nil {
		return nil, err
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.done.Go(func() { l.run(ctx) })
	return l, nil
}

// createLog makes the table of the log, or adds to that of an earlier version.
func createLog(ctx context.Context, db *sql.DB) error {
	columns, err := logColumns(ctx, db)
	if err != nil {
		return err
	}
	schema := logTable + ";"
	if len(columns) > 0 && !slices.Contains(columns, traceColumn) {
		schema = "ALTER TABLE request_log ADD COLUMN trace TEXT; ALTER TABLE request_log ADD COLUMN spans TEXT;"
	}
	if _, err := db.ExecContext(ctx, schema+logIndexes); err != nil {
		return fmt.Errorf("request log: %w", err)
	}
	return nil
}

// Add queues the record of a request. It never waits: if too many rows are waiting already, the record is lost.
func (l *RequestLog) Add(rec site.RequestRecord) {
	l.put(logRow{record: &rec}, recordSeverity(rec) > 0)
}

// AddLine queues a line, as Add does a record.
func (l *RequestLog) AddLine(line site.LogLine) {
	l.put(logRow{line: &line}, severity(line.Level) >= severity("warn"))
}

func (l *RequestLog) put(row logRow, failed bool) {
	if !failed && len(l.queue) >= logRoom/2 {
		l.lost.Add(1)
		return
	}
	select {
	case l.queue <- row:
	default:
		l.lost.Add(1)
	}
}

// Flush returns after all rows queued before it are written or lost, or when ctx ends. The log does not pause before it: a person waits.
func (l *RequestLog) Flush(ctx context.Context) error {
	written := make(chan struct{})
	select {
	case l.flushes <- written:
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-written:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes the waiting rows, for a bounded time, and ends the log.
func (l *RequestLog) Close() {
	l.stop()
	l.done.Wait()
}

func (l *RequestLog) run(ctx context.Context) {
	defer close(l.ended)
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.write(ctx)
		case written := <-l.flushes:
			for l.write(ctx) {
			}
			close(written)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), logGoodbye)
			defer cancel()
			for l.write(last) {
			}
			if left := len(l.queue); left > 0 { // there was no time for them
				l.lost.Add(int64(left))
				l.o.Logger.Warn("the end of the request log was not written", "rows", left)
			}
			return
		}
	}
}

// write writes one batch and reports whether there may be more. A batch that cannot be written is lost: the site continues.
func (l *RequestLog) write(ctx context.Context) (more bool) {
	var batch []logRow
	for queued := true; queued && len(batch) < logBatch; {
		select {
		case row := <-l.queue:
			batch = append(batch, row)
		default:
			queued = false
		}
	}
	if len(batch) == 0 {
		return false
	}
	if err := l.commit(ctx, batch); err != nil {
		l.lost.Add(int64(len(batch)))
		l.o.Logger.Warn("the request log was not written", "rows", len(batch), "error", err)
		return false
	}
	return true
}

// commit stores a batch, and drops the oldest rows, in one transaction.
func (l *RequestLog) commit(ctx context.Context, batch []logRow) error {
	lost := l.lost.Load()
	if lost > l.told {
		batch = append(batch, logRow{line: &site.LogLine{
			Time: site.Stamp{Time: l.o.Now()}, Level: "warn",
			Text: fmt.Sprintf("%d requests and lines are missing here: they arrived faster than the log could write them", lost-l.told),
		}})
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	if err := l.measure(ctx, tx); err != nil {
		return err
	}
	count, size, err := insertRows(ctx, tx, batch)
	if err != nil {
		return err
	}
	rows, bytes := l.rows+count, l.bytes+size
	if rows > int64(l.o.MaxRows) || bytes > l.o.MaxBytes {
		if rows, bytes, err = l.sweep(ctx, tx, rows, bytes); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	l.rows, l.bytes, l.told = rows, bytes, lost
	return nil
}

// insertRows returns how many rows it wrote, and the bytes that they count for.
func insertRows(ctx context.Context, tx *sql.Tx, batch []logRow) (count, size int64, err error) {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO request_log
  (request, line, at, severity, status, method, path, route, member, text, document, trace, spans)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return 0, 0, err
	}
	defer insert.Close()
	for _, row := range batch {
		values, n, err := row.values()
		if err != nil {
			return 0, 0, err
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return 0, 0, err
		}
		count, size = count+1, size+n
	}
	return count, size, nil
}

// values returns the columns of a row, and the number of bytes that it counts as.
func (r logRow) values() (columns []any, size int64, err error) {
	if r.line != nil {
		document, err := marshalRow(r.line)
		l := r.line
		return []any{
			l.Request, rowLine, l.Time.UnixMilli(), severity(l.Level), 0, "", "", l.Route, "", l.Text, document, nil, nil,
		}, int64(len(document) + len(l.Text)), err
	}
	document, err := marshalRow(r.record)
	rec := r.record
	var traceID, spans any
	if !rec.TraceID.IsZero() {
		traceID = rec.TraceID.String()
	}
	text := requestTarget(*rec) + "\n" + rec.Error
	size = int64(len(document) + len(text))
	if rec.Trace != nil {
		b := rec.Trace.Document().AppendJSON(nil)
		spans, size = string(b), size+int64(len(b))
	}
	return []any{
		rec.ID, rowRequest, rec.At.UnixMilli(), recordSeverity(*rec), rec.Status, rec.Method, rec.Path, rec.Route, rec.Member,
		text, document, traceID, spans,
	}, size, err
}

// recordSeverity returns the severity of an error for a failed request, else 0.
func recordSeverity(rec site.RequestRecord) int {
	const failed = 500
	if rec.Failure != nil || rec.Status >= failed {
		return severity("error")
	}
	return 0
}

func marshalRow(row any) (string, error) {
	document, err := json.Marshal(row)
	return string(document), err
}

// severities lists the levels of lines from the least to the most severe.
var severities = []string{"debug", "trace", "log", "info", "warn", "error"} //nolint:gochecknoglobals // a constant

// severity orders levels; an unknown one counts as "log".
func severity(level string) int {
	switch level {
	case "debug":
		return 1
	case "trace":
		return 2
	case "warn":
		return 4
	case "error":
		return 5
	default: // log, info
		return 3
	}
}

// measure counts the table, once.
func (l *RequestLog) measure(ctx context.Context, tx *sql.Tx) error {
	if l.measured {
		return nil
	}
	const count = `SELECT count(*), coalesce(sum(` + rowSize + `), 0) FROM request_log`
	err := tx.QueryRowContext(ctx, count).Scan(&l.rows, &l.bytes)
	l.measured = err == nil
	return err
}

// sweep drops the oldest rows until a tenth of the log is free, and returns the new size.
func (l *RequestLog) sweep(ctx context.Context, tx *sql.Tx, rows, bytes int64) (leftRows, leftBytes int64, err error) {
	const share = 10
	dropRows := max(rows-int64(l.o.MaxRows)*(share-1)/share, 0)
	dropBytes := max(bytes-l.o.MaxBytes*(share-1)/share, 0)
	const oldest = `SELECT seq, ` + rowSize + ` FROM request_log ORDER BY seq`
	list, err := tx.QueryContext(ctx, oldest)
	if err != nil {
		return 0, 0, err
	}
	defer list.Close()
	var last, size, goneRows, goneBytes int64
	for (goneRows < dropRows || goneBytes < dropBytes) && list.Next() {
		if err := list.Scan(&last, &size); err != nil {
			return 0, 0, err
		}
		goneRows++
		goneBytes += size
	}
	if err := list.Err(); err != nil {
		return 0, 0, err
	}
	if err := list.Close(); err != nil {
		return 0, 0, err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM request_log WHERE seq <= ?`, last); err != nil {
		return 0, 0, err
	}
	return rows - goneRows, bytes - goneBytes, nil
}
