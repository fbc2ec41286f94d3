package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// sqlitePage is the size of a page in bytes, where nobody sets another.
const sqlitePage = 4096

// openSQLite opens a database the way all state is kept: WAL with every commit
// synced, which is what lost nothing that was acknowledged in runs in which power failed.
func openSQLite(ctx context.Context, path string, readOnly bool) (*sql.DB, error) {
	return openBounded(ctx, path, readOnly, 0)
}

// openBounded is openSQLite for a database that may grow to so many bytes; 0 is any size.
// SQLite keeps the bound in each connection.
func openBounded(ctx context.Context, path string, readOnly bool, most int64) (*sql.DB, error) {
	q := url.Values{"_pragma": {"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(16777216)"}, "_txlock": {"immediate"}}
	if most > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", max(1, most/sqlitePage)))
	}
	if readOnly {
		q.Set("mode", "ro")
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
	}
	db, err := sql.Open("sqlite", dbfile.URI(path, q.Encode()))
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openUnsynced opens a database for what may be lost when power fails: on its one
// connection commits are in order, and reach the disk with the next that is synced.
func openUnsynced(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openSQLite(ctx, path, false)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
