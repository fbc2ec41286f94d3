package host

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/toolapi/service"
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

// load shows what is live, unless it was shown meanwhile, and holds the site open.
func (s *hostedSite) load(ctx context.Context, load func(context.Context) (service.Release, error)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	now := s.host.o.Now()
	switch failed := s.failedAt.Load(); {
	case s.ended:
		return service.ErrPreviewEnded
	case s.usage.isShown():
		s.usage.hold()
		return nil
	case failed != 0 && within(loadPause, now.Sub(time.Unix(0, failed))):
		return errors.New("it could not be loaded a moment ago")
	}
	// The visitor may go; others wait for the same.
	ctx = context.WithoutCancel(ctx)
	r, err := load(ctx)
	var next *preparedRelease
	if err == nil {
		next, err = s.prepare(ctx, r)
	}
	switch {
	case err != nil && s.usage.isShown(): // by a publish, meanwhile
		s.usage.hold()
		return nil
	case err != nil:
		s.failedAt.Store(now.UnixNano())
		return err
	}
	next.showFirst()
	s.usage.hold()
	return nil
}

// within reports whether less than a pause has passed. A clock that was set back says that
// less than nothing has: then the pause is over, since nobody knows when it began.
func within(pause, passed time.Duration) bool { return passed >= 0 && passed < pause }

// open opens the site's state and its front door.
func (s *hostedSite) open(ctx context.Context, r service.Release) (err error) {
	if s.front != nil {
		return nil
	}
	s.host.makeRoom()
	defer func() {
		if err != nil && s.state != nil {
			err = errors.Join(err, s.state.Close())
		}
		if err != nil {
			s.forget()
		}
	}()
	if r.Preview {
		if err := s.openPreview(ctx, r); err != nil {
			return err
		}
	}
	opened, err := localstate.OpenFolder(s.dir)
	if err != nil {
		return err
	}
	s.state = opened
	if err := clearAway(s.dir); err != nil {
		return err
	}
	opened.Bounds = s.host.bounds
	if s.platform == nil {
		if s.platform, err = opened.Open(ctx, statefolder.PlatformFile); err != nil {
			return err
		}
	}
	if s.database, err = opened.Open(ctx, statefolder.SiteFile); err != nil {
		return err
	}
	s.stores = localstate.NewStores(localstate.StoresOptions{
		State: opened, ProjectFolder: filepath.Join(filepath.Dir(s.host.dir), "projects", fmt.Sprint(r.WorkspaceID)),
		Images: s.host.o.Images, Failed: s.host.notice, Now: s.host.o.Now,
	})
	if s.uploads == nil {
		s.uploads = s.stores
	}
	s.caches = localstate.NewCaches(opened.Dir, s.host.o.Logger)
	front, err := site.New(ctx, site.Options{
		DB: s.platform, SubmissionsDB: s.database, Files: localstate.NewFormFiles(s.uploads.OpenUploads), Cache: s.host.files, AllowHost: func(string) bool { return true }, Personas: []site.Persona{}, Links: links{r.People},
		IsMember:  func(ctx context.Context, m site.Member) bool { return r.People.IsMember(ctx, m.ID) },
		Workspace: r.Workspace, OnLead: func(site.Lead) { s.host.arrived(r.Site) }, DatabaseFailed: s.host.notice, ErrorPage: s.failed, Preview: r.Preview, Now: s.host.o.Now, Logger: s.host.o.Logger.With("site", s.id),
	})
	if err == nil {
		s.front = front
		s.usage.opened(s.host.o.Now())
	}
	return err
}

// clearAway removes what a service that was killed left in a site's state.
func clearAway(dir string) error {
	var errs []error
	for _, pattern := range []string{migrationsCopy + "[0-9]*", ".probe-[0-9]*"} {
		left, err := fs.Glob(os.DirFS(dir), pattern)
		for errs = append(errs, err); len(left) > 0; left = left[1:] {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, left[0])))
		}
	}
	return errors.Join(errs...)
}

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
