package service

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

//go:embed schema/*.sql
var schema embed.FS

// database is the service's SQLite file: one connection for writes, with every commit synced, and
// several for reads.
type database struct {
	writing, reading *pool
	cache            *requestCache
	bundles          *bundleCache
}

// bundleCache keeps committed bundles by their ids.
type bundleCache = recentCache[int64, *bundle.Bundle]

// DamagedError is a database that does not belong to the data folder.
type DamagedError struct {
	Path   string
	Reason error
}

func (e *DamagedError) Error() string {
	return "the database " + e.Path + " is damaged: " + e.Reason.Error()
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }

// openDatabase opens the database of the blobs in a folder, and brings its schema up to date. It refuses a
// database without tables beside existing blobs: a new service would remove those blobs.
func openDatabase(ctx context.Context, path, blobs string, now func() time.Time) (*database, error) {
	bundles := &bundleCache{most: maxBundles}
	writing, err := newPool(dsn(path, false), "BEGIN IMMEDIATE", 1, bundles)
	if err != nil {
		return nil, err
	}
	var tables int
	if err := writing.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err == nil && tables == 0 {
		if held, err := blob.Holds(blobs); err == nil && held {
			emptied := errors.New("it is empty, but the folder has uploaded files")
			return nil, errors.Join(&DamagedError{path, emptied}, writing.close())
		}
	}
	if _, err := migrate.New(writing.db, schema, migrate.Options{Dir: "schema", Now: now, Tool: "pages platform"}).Apply(ctx); err != nil {
		if e, ok := errors.AsType[*migrate.Error](err); ok && e.Code == migrate.CodeDatabaseDamaged {
			return nil, errors.Join(&DamagedError{path, err}, writing.close())
		}
		return nil, errors.Join(fmt.Errorf("migrate the service's database: %w", err), writing.close())
	}
	reading, err := newPool(dsn(path, true), "BEGIN", readers, bundles)
	if err != nil {
		return nil, errors.Join(err, writing.close())
	}
	cache, err := newRequestCache(dsn(path, true))
	if err != nil {
		return nil, errors.Join(err, reading.close(), writing.close())
	}
	return &database{writing: writing, reading: reading, cache: cache, bundles: bundles}, nil
}

// pageSize is SQLite's page size, in bytes. A list of a hundred adjacent rows takes over twenty reads with the default
// of 4096. 16384 gain little more, and each commit writes whole pages.
const pageSize = "8192"

func dsn(path string, readOnly bool) string {
	q := url.Values{
		"_pragma": {
			"busy_timeout(" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) + ")", "foreign_keys(1)",
			"journal_size_limit(16777216)",
		},
	}
	if readOnly {
		q.Set("mode", "ro")
	} else {
		q.Add("_pragma", "page_size("+pageSize+")") // of a new file
		q.Set("_journal_mode", "WAL")               // writes the file: the driver sets it after the pragmas
		q.Add("_pragma", "synchronous(FULL)")
	}
	return dbfile.URI(path, q.Encode())
}

func (d *database) close() error {
	return errors.Join(d.cache.close(), d.reading.close(), d.writing.close())
}

// read runs do in a read transaction. readTx also returns the result of do.
func (d *database) read(ctx context.Context, do func(tx) error) error {
	return d.reading.transact(ctx, do)
}

// write runs do in the write transaction, and commits it. writeTx also returns the result of do.
func (d *database) write(ctx context.Context, do func(tx) error) error {
	return d.writing.transact(ctx, do)
}

func readTx[T any](ctx context.Context, d *database, do func(tx) (T, error)) (result T, err error) {
	err = d.read(ctx, func(t tx) (err error) {
		result, err = do(t)
		return err
	})
	return result, err
}

func writeTx[T any](ctx context.Context, d *database, do func(tx) (T, error)) (result T, err error) {
	err = d.write(ctx, func(t tx) (err error) {
		result, err = do(t)
		return err
	})
	return result, err
}

// tx is a transaction and its context.
type tx struct {
	on  *connection
	ctx context.Context // a transaction lasts for one call
}

// exec runs a statement.
func (t tx) exec(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// change runs a statement and returns how many rows it changed.
func (t tx) change(query string, args ...any) (int64, error) {
	s, err := t.on.statement(t.ctx, query) //nolint:sqlclosecheck // the connection keeps it
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// queryOne scans the only row of a query; false when there is none.
func (t tx) queryOne(query string, args []any, into ...any) (bool, error) {
	s, err := t.on.statement(t.ctx, query) //nolint:sqlclosecheck // the connection keeps it
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(t.ctx, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// queryOr is queryOne, with an error for no row.
func (t tx) queryOr(missing error, query string, args []any, into ...any) error {
	found, err := t.queryOne(query, args, into...)
	if err == nil && !found {
		err = missing
	}
	return err
}

// list scans the rows of a query.
func list[T any](t tx, scan func(*sql.Rows, *T) error, query string, args ...any) ([]T, error) {
	s, err := t.on.statement(t.ctx, query) //nolint:sqlclosecheck // the connection keeps it
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		var item T
		if err := scan(rows, &item); err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, rows.Err()
}

// listColumn returns the only column of a query.
func listColumn[T any](t tx, query string, args ...any) ([]T, error) {
	return list(t, func(rows *sql.Rows, value *T) error { return rows.Scan(value) }, query, args...)
}

// formatTime formats a time of the database for a response.
func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// formatOptionalTime is formatTime for a column that may be NULL.
func formatOptionalTime(ms sql.NullInt64) *string {
	if !ms.Valid {
		return nil
	}
	text := formatTime(ms.Int64)
	return &text
}

// optionalText is a text column that may be NULL.
func optionalText(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

// pool runs transactions on connections of one kind, one on each at a time. The connections keep their prepared
// statements, a fixed set: parsing took longer than running them. database/sql does not keep statements for
// transactions; keeping them doubled the calls a second.
type pool struct {
	db    *sql.DB
	begin string
	idle  chan *connection
	// noticed is called with the error of each failed transaction, before the next one begins.
	noticed func(error)
}

// connection is opened when it is first needed.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	bundles  *bundleCache
}

func newPool(dsn, begin string, size int, bundles *bundleCache) (*pool, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	p := &pool{db: db, begin: begin, idle: make(chan *connection, size)}
	for range size {
		p.idle <- &connection{bundles: bundles}
	}
	return p, nil
}

// transact runs do in a transaction. It commits when do succeeds, and rolls back when do fails or
// panics, or ctx ends first.
func (p *pool) transact(ctx context.Context, do func(tx) error) (err error) {
	var c *connection
	select {
	case c = <-p.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		if err != nil && p.noticed != nil {
			p.noticed(err)
		}
		p.idle <- c
	}()
	if c.conn == nil {
		if c.conn, err = p.db.Conn(ctx); err != nil {
			return err
		}
		c.prepared = map[string]*sql.Stmt{}
	}
	t := tx{c, ctx}
	if err := t.exec(p.begin); err != nil {
		return errors.Join(err, c.drop()) // the transaction may have begun
	}
	// Nothing may interrupt the commit or rollback.
	last := tx{c, context.WithoutCancel(ctx)}
	committed := false
	defer func() {
		if !committed && last.exec("ROLLBACK") != nil {
			err = errors.Join(err, c.drop())
		}
	}()
	if err := do(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = last.exec("COMMIT")
	committed = err == nil
	return err
}

// statement is a query, prepared.
func (c *connection) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.prepared[query]; ok {
		return s, nil
	}
	s, err := c.conn.PrepareContext(ctx, query)
	if err == nil {
		c.prepared[query] = s
	}
	return s, err
}

// drop closes a connection whose transaction cannot be ended.
func (c *connection) drop() error {
	var errs []error
	for _, s := range c.prepared {
		errs = append(errs, s.Close())
	}
	err := c.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil // reported before
	}
	c.conn, c.prepared = nil, nil
	return errors.Join(append(errs, err)...)
}

// close waits for the transactions and closes the connections.
func (p *pool) close() error {
	var errs []error
	for range cap(p.idle) {
		c := <-p.idle
		for _, s := range c.prepared {
			errs = append(errs, s.Close())
		}
		if c.conn != nil {
			errs = append(errs, c.conn.Close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}
