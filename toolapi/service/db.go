package service

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

//go:embed schema/*.sql
var schema embed.FS

// database is the service's SQLite file: one connection that writes, every commit
// synced, and some that read beside it.
type database struct {
	writing, reading *pool
	lately           *requestCache
}

// DamagedError is a database that cannot be what the data folder had.
type DamagedError struct {
	Path   string
	Reason error
}

func (e *DamagedError) Error() string {
	return "the database " + e.Path + " is damaged: " + e.Reason.Error()
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }

var errEmptied = errors.New("it is empty, and uploaded files lie beside it")

// refuseEmptied refuses a database without a table beside blobs. It would become a new service, which removes the files
// that nothing of its own refers to.
func refuseEmptied(ctx context.Context, db *sql.DB, dir string) error {
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables > 0 {
		return err
	}
	if held, err := blob.Holds(dir); err != nil || !held {
		return err
	}
	return errEmptied
}

// openDatabase opens the database of the blobs that lie in a folder.
func openDatabase(ctx context.Context, path, blobs string, now func() time.Time) (*database, error) {
	writing, err := newPool(dsn(path, false), "BEGIN IMMEDIATE", 1)
	if err != nil {
		return nil, err
	}
	if err := refuseEmptied(ctx, writing.db, blobs); errors.Is(err, errEmptied) {
		return nil, errors.Join(&DamagedError{path, err}, writing.close())
	}
	if _, err := migrate.New(writing.db, schema, migrate.Options{Dir: "schema", Now: now, Tool: "pages platform"}).Apply(ctx); err != nil {
		if e, ok := errors.AsType[*migrate.Error](err); ok && e.Code == migrate.CodeDatabaseDamaged {
			return nil, errors.Join(&DamagedError{path, err}, writing.close())
		}
		return nil, errors.Join(fmt.Errorf("bring the service's database up to date: %w", err), writing.close())
	}
	reading, err := newPool(dsn(path, true), "BEGIN", readers)
	if err != nil {
		return nil, errors.Join(err, writing.close())
	}
	recent, err := newLately(dsn(path, true))
	if err != nil {
		return nil, errors.Join(err, reading.close(), writing.close())
	}
	return &database{writing: writing, reading: reading, lately: recent}, nil
}

// pageSize is how many bytes of the database are read and kept at once. A page of a tool's answer is a hundred rows that
// lie together, which with SQLite's own 4096 are over twenty reads. 16384 gain little more, and each commit writes whole
// pages.
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
		q.Set("_journal_mode", "WAL")               // which writes it: the driver does this after the pragmas
		q.Add("_pragma", "synchronous(FULL)")
	}
	return dbfile.URI(path, q.Encode())
}

func (d *database) close() error {
	return errors.Join(d.lately.close(), d.reading.close(), d.writing.close())
}

// read runs do in a transaction that sees one state of the database.
func (d *database) read(ctx context.Context, do func(tx) error) error {
	return d.reading.transact(ctx, do)
}

// write runs do in a transaction that nobody else writes beside, and commits it.
func (d *database) write(ctx context.Context, do func(tx) error) error {
	return d.writing.transact(ctx, do)
}

// tx is a transaction, with the context it ends with.
type tx struct {
	on  *connection
	ctx context.Context // a transaction does not outlive the call it is for
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

// formatTime is a time of the database as an answer shows it.
func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

// formatOptionalTime is instant for a column that may be NULL.
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
