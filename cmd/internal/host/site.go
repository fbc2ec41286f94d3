package host

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/web/cache"
)

// hostedSite is a published site, or a preview of one: its state, its front door, and
// what it serves.
type hostedSite struct {
	host  *Host
	id    string
	dir   string // of its state
	busy  chan struct{}
	usage usage

	// What is below is set by open, and unset by rest, while busy is held.
	state    *localstate.State
	platform *sql.DB // the live site's, for a preview
	stores   *localstate.Stores
	uploads  *localstate.Stores // the live site's, for a preview
	of       *hostedSite        // the live site that a preview holds open
	database *sql.DB
	front    *site.Site
	caches   *cache.Store
	running  *siteworker.Shared // of what is shown; nil for a static site

	ran      bool // code ran
	ended    bool
	live     siteworker.Set
	showing  sync.Mutex   // held while something is put in the place of what was shown
	failedAt atomic.Int64 // when loading failed last, before anything was shown, in nanoseconds; 0 when it did not
}

// lock waits until nobody else opens the site or makes a release ready.
func (s *hostedSite) lock(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *hostedSite) unlock() { <-s.busy }

// Close ends the site.
func (s *hostedSite) close() error {
	if s.front == nil {
		return nil
	}
	for _, w := range s.live.All() {
		w.Close(siteworker.DrainTime)
	}
	s.letGo()
	return errors.Join(s.front.Close(), s.stores.Close(), s.caches.Close(), s.state.Close())
}

// letGo lets the live site be closed that a preview needs.
func (s *hostedSite) letGo() {
	if s.of != nil {
		s.of.usage.leave(s.host.o.Now())
		s.of = nil
	}
}

// forget forgets what was open.
func (s *hostedSite) forget() {
	s.letGo()
	s.state, s.platform, s.stores, s.uploads, s.database, s.front, s.caches, s.running = nil, nil, nil, nil, nil, nil, nil, nil
}
