package localstate

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"

	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/web/cache"
)

// statefolder.CacheFile is the database of caches.default and caches.open in the state folder.

// NewCaches returns the caches of the site whose state is in dir. They outlive its Workers.
// The database is opened when a Worker first uses a cache: most never do. Nothing in it
// is a promise, so its commits reach the disk in their own time.
func NewCaches(dir string, logger *slog.Logger) *cache.Store {
	return cache.New(cache.Options{Logger: logger, Open: func(ctx context.Context) (*sql.DB, error) {
		return OpenUnsynced(ctx, filepath.Join(dir, statefolder.CacheFile))
	}})
}
