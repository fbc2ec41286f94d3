package main

import (
	"context"
	"database/sql"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// followLogs prints what is there, and then what comes. The log need not be there yet.
func (c *cli) followLogs(ctx context.Context, s *localstate.State, f *logsFlags) error {
	db, err := c.awaitLog(ctx, s)
	if db == nil {
		return err
	}
	defer db.Close()
	follower, err := devserver.FollowLog(ctx, db, f.filter, c.term.Now)
	if err != nil {
		return c.unreadLog(ctx, s, err)
	}
	entries, err := devserver.ReadLog(ctx, db, f.filter)
	if err != nil {
		return c.unreadLog(ctx, s, err)
	}
	for _, e := range entries {
		c.tellEntry(e)
	}
	return c.unreadLog(ctx, s, follower.Run(ctx, c.tellEntry))
}

// awaitLog waits until there is a database; nil without an error when ctx ends first.
func (c *cli) awaitLog(ctx context.Context, s *localstate.State) (*sql.DB, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(localstate.GuardPoll)
	defer tick.Stop()
	for told := false; ; told = true {
		if there, err := s.Has(statefolder.PlatformFile); there || err != nil {
			break
		}
		if !told {
			c.term.Progress("waiting for pages dev to run")
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-tick.C:
		}
	}
	return s.OpenToRead(ctx, statefolder.PlatformFile)
}

// tellEntry prints an entry of a log that is followed.
func (c *cli) tellEntry(e devserver.LogEntry) {
	switch {
	case !c.term.JSON:
		c.printEntry(e)
	case e.Request != nil:
		c.term.PrintJSONLine(typedLoggedRequest{"request", *e.Request})
	default:
		c.term.PrintJSONLine(typedLine{"log", *e.Line})
	}
}

// typedLoggedRequest is a request among the lines of --json.
type typedLoggedRequest struct {
	Type string `json:"type"`
	devserver.LoggedRequest
}
