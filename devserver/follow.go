package devserver

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Follow calls read, and calls it again after every settled batch of changes to
// the paths that the last call returned: files and folders, absolute, those that
// are missing included. Folders count with all that is in them. It is the watcher
// of the dev server for a command that serves nothing.
//
// Follow ends with the context, whose cause it returns, or with read's error.
// Calls to read never overlap.
func Follow(
	ctx context.Context, now func() time.Time, logger *slog.Logger,
	read func(ctx context.Context) (watch []string, err error),
) error {
	ctx, stop := context.WithCancel(ctx)
	w := newWatcher(now, logger)
	var running sync.WaitGroup
	running.Go(func() { w.run(ctx) })
	defer running.Wait()
	defer stop()
	for {
		start := now()
		watch, err := read(ctx)
		if err != nil {
			return err
		}
		w.watch(ctx, watch, start)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.changes():
		}
	}
}
