package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/pages-toolchain/pages/runtime/web"
)

// cacheFile is the database of caches.default and caches.open in the state folder.
const cacheFile = "cache.db"

// newCaches are the caches of the site, which outlive its Workers. The database
// is opened when a Worker first uses a cache: most never do. Nothing in it is a
// promise, so its commits reach the disk in their own time.
func (b *siteBuilder) newCaches() *web.Caches { return cachesIn(b.state.dir, b.console.logger()) }

// cachesIn are the caches of the site whose state is in dir.
func cachesIn(dir string, logger *slog.Logger) *web.Caches {
	path := filepath.Join(dir, cacheFile)
	return web.NewCaches(web.CachesOptions{Logger: logger, Open: func(ctx context.Context) (*sql.DB, error) {
		db, err := openSQLite(ctx, path, false)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		if _, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return db, nil
	}})
}
