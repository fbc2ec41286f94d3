package host

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/web/cache"
)

// hostedSite is a published site, or a preview of one: its state, its front door, and the release in service.
type hostedSite struct {
	host  *Host
	id    string
	dir   string // of its state
	busy  chan struct{}
	usage usage

	// open sets these fields, and closeIdle clears them, while busy is held.
	state    *localstate.State
	platform *sql.DB // the live site's, for a preview
	stores   *localstate.Stores
	uploads  *localstate.Stores // the live site's, for a preview
	of       *hostedSite        // the live site that a preview holds open
	database *sql.DB
	front    *site.Site
	caches   *cache.Store
	running  *siteworker.Shared // of the release in service; nil for a static site

	points   points
	restored string // the last restore whose data is in the database, as far as known
	shown    string // the published revision; showing guards it

	ran        bool // its code has run
	ended      bool
	unseeded   bool // the SQL that fills a preview has not run yet; open sets it
	live       siteworker.Set
	showing    sync.Mutex   // held while a new release replaces the old one
	unfinished atomic.Bool  // a publish or a restore is decided, and its data is not in the database yet
	failedAt   atomic.Int64 // time of the last failed load before any release was in service, in nanoseconds; 0 for none
}

// lock waits until no one else opens the site or prepares a release.
func (s *hostedSite) lock(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *hostedSite) unlock() { <-s.busy }

func (s *hostedSite) close() error {
	if s.front == nil {
		return nil
	}
	for _, w := range s.live.All() {
		w.Close(siteworker.DrainTime)
	}
	s.releaseLive()
	return errors.Join(s.front.Close(), s.stores.Close(), s.caches.Close(), s.state.Close())
}

// releaseLive releases a preview's reference to its live site.
func (s *hostedSite) releaseLive() {
	if s.of != nil {
		s.of.usage.leave(s.host.o.Now())
		s.of = nil
	}
}

// reset clears the fields that open sets.
func (s *hostedSite) reset() {
	s.releaseLive()
	s.state, s.platform, s.stores, s.uploads, s.database, s.front, s.caches, s.running = nil, nil, nil, nil, nil, nil, nil, nil
}

// usage counts the users of an open site: requests, prepared releases, and previews. The zero value belongs to a closed site.
type usage struct {
	mu    sync.Mutex
	open  bool // its state and its front door are open
	shown bool // a release is in service
	users int
	last  time.Time // when the last user left

	requests int // running, or waiting for the site
}

// enter reports whether a release is in service. If so, the site stays open until leave.
func (u *usage) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.shown {
		u.users++
	}
	return u.shown
}

// admit counts a request until the returned function is called; it returns nil if there are too many.
func (u *usage) admit(most int) (leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.requests >= most {
		return nil
	}
	u.requests++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.requests--
	}
}

// hold keeps the site open until leave. The caller holds the site's lock.
func (u *usage) hold() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users++
}

func (u *usage) leave(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
	u.last = now
}

// letGo is leave for an inspection that does not count as use: the site remains idle.
func (u *usage) letGo() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
}

func (u *usage) setOpen(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open, u.last = true, now
}

func (u *usage) setShown() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = true
}

// hide makes the next request load the site.
func (u *usage) hide() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = false
}

func (u *usage) isShown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown
}

// idle reports whether the site is open and whether it has no users, and since when.
func (u *usage) idle() (since time.Time, idle, open bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last, u.open && u.users == 0, u.open
}

// close closes the site to new users, unless it has users.
func (u *usage) close() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.open || u.users > 0 {
		return false
	}
	u.open, u.shown = false, false
	return true
}
