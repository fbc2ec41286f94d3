package devserver

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file keeps the history of requests, so that it can be searched after
// the fact and while no server runs. It is a convenience, not a promise: records
// are written a moment later and in batches, off the way of the requests, and
// are dropped rather than waited for.

const (
	keptLog    = 10_000 // records
	logRoom    = 4096   // records that may wait to be written
	logBatch   = 512
	logEvery   = 250 * time.Millisecond
	logGoodbye = 2 * time.Second // for the last batch
)

const logSchema = `CREATE TABLE IF NOT EXISTS request_log (
	id     INTEGER PRIMARY KEY,
	at     INTEGER NOT NULL, -- Unix milliseconds
	status INTEGER NOT NULL,
	path   TEXT NOT NULL,
	record TEXT NOT NULL     -- site.RequestRecord as JSON
) STRICT`

// RequestLog is the history of a site's requests in a database. Add, Requests
// and Lost are safe for concurrent use; Run runs once.
type RequestLog struct {
	db    *sql.DB
	queue chan site.RequestRecord
	lost  atomic.Int64
}

// RequestFilter chooses records. The zero value chooses all.
type RequestFilter struct {
	Since time.Time // not older
	// MinStatus and MaxStatus bound the HTTP status; 0 leaves the side open. "5xx" is 500 to 599.
	MinStatus, MaxStatus int
	// Path is a path of the site, or one that ends in "/*" and then stands for
	// everything below it and the path before the "/*" itself.
	Path  string
	Limit int // at most so many; 0 means all
}

// OpenRequestLog makes the log's table in db unless it is there.
func OpenRequestLog(ctx context.Context, db *sql.DB) (*RequestLog, error) {
	if _, err := db.ExecContext(ctx, logSchema); err != nil {
		return nil, fmt.Errorf("request log: %w", err)
	}
	return &RequestLog{db: db, queue: make(chan site.RequestRecord, logRoom)}, nil
}

// Add hands a record to Run. It never waits: when too many are waiting already,
// the record is lost.
func (l *RequestLog) Add(rec site.RequestRecord) {
	select {
	case l.queue <- rec:
	default:
		l.lost.Add(1)
	}
}

// Lost is how many records were never written.
func (l *RequestLog) Lost() int64 { return l.lost.Load() }

// Run writes records until the context ends, and then those that still wait.
// It returns the first error of the database, after which records are lost.
func (l *RequestLog) Run(ctx context.Context) error {
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := l.drain(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), logGoodbye)
			defer cancel()
			return l.drain(last)
		}
	}
}

// drain writes all that waits.
func (l *RequestLog) drain(ctx context.Context) error {
	for {
		batch := l.take()
		if len(batch) == 0 {
			return nil
		}
		if err := l.write(ctx, batch); err != nil {
			l.lost.Add(int64(len(batch)))
			return fmt.Errorf("request log: %w", err)
		}
	}
}

func (l *RequestLog) take() []site.RequestRecord {
	var batch []site.RequestRecord
	for len(batch) < logBatch {
		select {
		case rec := <-l.queue:
			batch = append(batch, rec)
		default:
			return batch
		}
	}
	return batch
}

// write stores a batch and drops the oldest records, in one transaction.
func (l *RequestLog) write(ctx context.Context, batch []site.RequestRecord) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit
	insert, err := tx.PrepareContext(ctx, "INSERT INTO request_log (at, status, path, record) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, rec := range batch {
		document, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, rec.At.UnixMilli(), rec.Status, rec.Path, string(document)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM request_log WHERE id <= (SELECT max(id) FROM request_log) - ?", keptLog); err != nil {
		return err
	}
	return tx.Commit()
}

// Requests returns the records that the filter chooses, newest first, never nil.
func (l *RequestLog) Requests(ctx context.Context, f RequestFilter) (records []site.RequestRecord, err error) {
	where, args := f.conditions()
	limit := f.Limit
	if limit <= 0 {
		limit = -1
	}
	query := "SELECT record FROM request_log WHERE " + where + " ORDER BY id DESC LIMIT ?"
	rows, err := l.db.QueryContext(ctx, query, append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("request log: %w", err)
	}
	defer rows.Close()
	records = []site.RequestRecord{}
	for rows.Next() {
		var document []byte
		var rec site.RequestRecord
		if err := rows.Scan(&document); err != nil {
			return nil, fmt.Errorf("request log: %w", err)
		}
		if err := json.Unmarshal(document, &rec); err != nil {
			return nil, fmt.Errorf("request log: %w", err)
		}
		records = append(records, rec)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("request log: %w", err)
	}
	return records, nil
}

// conditions writes the filter as SQL with its arguments.
func (f RequestFilter) conditions() (where string, args []any) {
	terms := []string{"true"}
	add := func(term string, values ...any) {
		terms, args = append(terms, term), append(args, values...)
	}
	if !f.Since.IsZero() {
		add("at >= ?", f.Since.UnixMilli())
	}
	if f.MinStatus > 0 {
		add("status >= ?", f.MinStatus)
	}
	if f.MaxStatus > 0 {
		add("status <= ?", f.MaxStatus)
	}
	if above, ok := strings.CutSuffix(f.Path, "/*"); ok {
		add("(path = ? OR substr(path, 1, ?) = ?)", above, len([]rune(above))+1, above+"/")
	} else if f.Path != "" {
		add("path = ?", f.Path)
	}
	return strings.Join(terms, " AND "), args
}
