package inbox

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Log returns the entries of the request log that match a filter.
func (b Inbox) Log(ctx context.Context, f devserver.LogFilter) ([]devserver.LogEntry, error) {
	s := b.State
	if err := s.Check(); err != nil {
		return nil, err
	}
	s.FlushLog(ctx)
	db, err := s.OpenToRead(ctx, statefolder.PlatformFile)
	if err != nil {
		return nil, err
	}
	entries, err := devserver.ReadLog(ctx, db, f)
	return entries, b.logError(ctx, errors.Join(err, db.Close()))
}

// FollowLog calls show with the present entries of the log, and then with each new one, until ctx ends. The log may not exist yet.
func (b Inbox) FollowLog(ctx context.Context, f devserver.LogFilter, show func(devserver.LogEntry)) error {
	db, err := b.awaitDatabase(ctx)
	if db == nil {
		return err
	}
	defer db.Close()
	follower, err := devserver.FollowLog(ctx, db, f, b.Now)
	if err != nil {
		return b.logError(ctx, err)
	}
	entries, err := devserver.ReadLog(ctx, db, f)
	if err != nil {
		return b.logError(ctx, err)
	}
	for _, e := range entries {
		show(e)
	}
	return b.logError(ctx, follower.Run(ctx, show))
}

// logError returns the error of an unreadable log; nil if ctx ended the reading.
func (b Inbox) logError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		return b.State.OpenError(statefolder.PlatformFile, err)
	}
	return nil
}

// awaitDatabase waits for a database; it returns nil without an error if ctx ends first.
func (b Inbox) awaitDatabase(ctx context.Context) (*sql.DB, error) {
	s := b.State
	if err := s.Check(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(localstate.GuardPoll)
	defer tick.Stop()
	for told := false; ; told = true {
		if exists, err := s.Has(statefolder.PlatformFile); exists || err != nil {
			break
		}
		if !told {
			b.Waiting()
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-tick.C:
		}
	}
	return s.OpenToRead(ctx, statefolder.PlatformFile)
}
