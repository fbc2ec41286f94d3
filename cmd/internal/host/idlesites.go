package host

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// This file closes published sites that nobody visits, so that a service holds the
// databases and Workers of those that are visited, and not of all it ever showed. The
// next visitor has the site loaded again, which takes some milliseconds.

const (
	// restAfter is how long nobody visits a site before it is closed.
	restAfter = 10 * time.Minute
	// restStep is how often it is looked for such sites.
	restStep = time.Minute
	// mostOpenSites is how many sites are open at a time, also where the system would let
	// a process have more files: each takes one to two megabytes.
	mostOpenSites = 256
	// SiteFiles is how many files a site has open when it is busy: the connections of its five
	// databases, each with the write-ahead log, and the index of each log. Of the database of
	// its Worker those count that one Worker keeps.
	SiteFiles = 2*(d1.MaxConns+3*localstate.StoreConns+localstate.UsualConns) + 5
	// OtherFiles are left to connections, to the service's own databases, and to what a site
	// reads from its buckets and writes there at once.
	OtherFiles = 256
)

// openConns is how many connections may be open at a time in such a process: each may
// have a file besides, and the databases of what is visited are left theirs.
func openConns(files uint64) int {
	const least, most = 256, 8192
	taken := uint64(OtherFiles + openSites(files)*SiteFiles)     //nolint:gosec // a few thousand at most
	return int(min(max(files, taken+2*least)-taken, 2*most) / 2) //nolint:gosec // most at most
}

// MaxConns is how many connections this process may have open at a time.
func MaxConns() int { return openConns(mostFiles()) }

// openSites is how many sites may be open at a time in a process that may have so many
// files.
func openSites(files uint64) int {
	if files <= OtherFiles+SiteFiles {
		return 1
	}
	return int(min(mostOpenSites, (files-OtherFiles)/SiteFiles)) //nolint:gosec // mostOpenSites at most
}

// visitorsOf is how many requests for one site may be under way at a time, of so many connections: others find one free,
// whatever one site's visitors wait for.
func visitorsOf(conns int) int {
	const least = 128
	return max(least, conns/4)
}

// usage is who needs an open site: visitors, releases that wait to be shown, and previews.
// The zero value is that of a site that is not open.
type usage struct {
	mu    sync.Mutex
	open  bool // its state and its front door are
	shown bool
	users int
	last  time.Time // when one left

	visitors int // whose requests are under way, or wait for the site
}

// enter reports whether visitors are shown something. If so the site stays open until
// leave.
func (u *usage) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.shown {
		u.users++
	}
	return u.shown
}

// admit lets a visitor in, until the returned function is called; it is nil where so many are in already.
func (u *usage) admit(most int) (leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.visitors >= most {
		return nil
	}
	u.visitors++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.visitors--
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

// opened notes that the site is open.
func (u *usage) opened(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.open, u.last = true, now
}

// shows notes that visitors are shown something.
func (u *usage) shows() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = true
}

func (u *usage) isShown() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown
}

func (u *usage) isOpen() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.open
}

// resting reports whether the site is open and nobody needs it, and since when.
func (u *usage) resting() (since time.Time, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last, u.open && u.users == 0
}

// rest lets nobody in any more, unless someone needs the site.
func (u *usage) rest() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.open || u.users > 0 {
		return false
	}
	u.open, u.shown = false, false
	return true
}

// rest closes the site if nobody needs it, and reports whether it did. Who comes meanwhile
// waits until it is closed, and opens it again.
func (s *hostedSite) rest() bool {
	select {
	case s.busy <- struct{}{}:
	default:
		return false // it is being opened, or a release made ready
	}
	defer s.unlock()
	if s.ended || !s.usage.rest() { // what has ended is closed
		return false
	}
	if err := s.close(); err != nil {
		s.host.o.Logger.Warn("a site was not closed", "site", s.id, "error", err.Error())
		s.host.notice(err)
	}
	s.forget()
	return true
}

// resting are the sites that nobody needs, those first that nobody has needed for
// longest, and how many sites are open.
func (h *Host) resting() (all []*hostedSite, open int) {
	since := map[*hostedSite]time.Time{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, places := range []map[string]*hostedSite{h.previews, h.sites} {
		for _, s := range places {
			if s.usage.isOpen() {
				open++
			}
			if at, ok := s.usage.resting(); ok {
				since[s] = at
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b *hostedSite) int { return cmp.Or(since[a].Compare(since[b]), cmp.Compare(a.id, b.id)) })
	return all, open
}

// makeRoom closes sites that nobody needs until one more may be open.
func (h *Host) makeRoom() {
	resting, open := h.resting()
	for _, s := range resting {
		if open < h.most {
			return
		}
		if s.rest() {
			open--
		}
	}
}

// closeResting closes the sites that nobody has needed for restAfter.
func (h *Host) closeResting() {
	now := h.o.Now()
	resting, _ := h.resting()
	for _, s := range resting {
		if since, ok := s.usage.resting(); ok && now.Sub(since) >= restAfter {
			s.rest()
		}
	}
}

// WatchResting does that from time to time, until the returned function is called.
func (h *Host) WatchResting() (stop func()) {
	ctx, cancel := context.WithCancel(h.until)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		step := time.NewTicker(restStep)
		defer step.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-step.C:
				h.closeResting()
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
