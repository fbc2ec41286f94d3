package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/pages-toolchain/pages/devserver"
)

// openUnsynced opens a database for what may be lost when power fails: on its one
// connection commits are in order, and reach the disk with the next that is synced.
func (s *state) openUnsynced(ctx context.Context, name string) (*sql.DB, error) {
	db, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, s.unopened(name, err)
	}
	return db, nil
}

// openLog opens the log of requests, on a connection of its own: it holds up
// nobody whose commits are synced.
func (r *devRun) openLog(ctx context.Context, logger *slog.Logger) (*devserver.RequestLog, error) {
	db, err := r.state.openUnsynced(ctx, platformFile)
	if err != nil {
		return nil, err
	}
	log, err := devserver.OpenRequestLog(ctx, db, devserver.RequestLogOptions{Now: r.now, Logger: logger})
	if err != nil {
		return nil, errors.Join(r.state.unopened(platformFile, err), db.Close())
	}
	return log, nil
}
