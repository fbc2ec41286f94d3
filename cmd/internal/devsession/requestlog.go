package devsession

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// openLog opens the log of requests, on a connection of its own: it holds up
// nobody whose commits are synced.
func (r *session) openLog(ctx context.Context, logger *slog.Logger) (*devserver.RequestLog, error) {
	db, err := r.state.OpenUnsynced(ctx, statefolder.PlatformFile)
	if err != nil {
		return nil, err
	}
	log, err := devserver.OpenRequestLog(ctx, db, devserver.RequestLogOptions{Now: r.process.Terminal.Now, Logger: logger})
	if err != nil {
		return nil, errors.Join(r.state.OpenError(statefolder.PlatformFile, err), db.Close())
	}
	return log, nil
}
