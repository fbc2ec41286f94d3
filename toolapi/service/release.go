package service

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file takes a revision to its visitors. What may take long, or fail (files,
// migrations, the Worker), is done first and outside of any transaction, while the
// site is locked against another publish; then the pointer moves in the transaction of
// the call, and then the host shows what it has ready.

// releaseChange is what a call would make live; the zero value is nothing.
type releaseChange struct {
	site, revision string
	force          bool
}

// siteLocks are held while a revision of a site is made live.
type siteLocks struct {
	mu    sync.Mutex
	sites map[string]chan struct{}
}

// lock waits for the site's lock, or for ctx to end.
func (l *siteLocks) lock(ctx context.Context, site string) (unlock func(), err error) {
	l.mu.Lock()
	if l.sites == nil {
		l.sites = map[string]chan struct{}{}
	}
	held, ok := l.sites[site]
	if !ok {
		held = make(chan struct{}, 1)
		l.sites[site] = held
	}
	l.mu.Unlock()
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ready is a release that waits for the pointer to move.
type ready struct {
	prepared Prepared
	unlock   func()
}

// show shows it. A ready that is nil has nothing to show.
func (r *ready) show() {
	if r != nil {
		r.prepared.Show()
		r.unlock()
	}
}

func (r *ready) discard() {
	if r != nil {
		r.prepared.Discard()
		r.unlock()
	}
}

// makeReady makes ready what the call would make live. It returns nil when that is
// nothing, or when the call will be refused anyway.
func (h handler) makeReady(ctx context.Context, c *call) (r *ready, err error) {
	if h.ahead == nil || c.service.host == nil || !c.body.Has("confirmation_id") {
		return nil, nil //nolint:nilnil // nothing goes live, and nothing went wrong
	}
	what, err := h.lookAhead(ctx, c)
	if err != nil || what.site == "" {
		return nil, err
	}
	return c.service.readyFor(ctx, what, func() (bool, error) {
		now, err := h.lookAhead(ctx, c)
		return now == what, err
	})
}

// lookAhead finds out what a call would make live. A call that would be refused makes
// nothing live: it is refused in its own transaction.
func (h handler) lookAhead(ctx context.Context, c *call) (what releaseChange, err error) {
	err = c.service.db.read(ctx, func(t tx) error {
		if err := c.enter(t); err != nil {
			return err
		}
		in, source, err := c.who.resolve(c.body.String("workspace"))
		if err != nil || !roleAllows(in.role, h.needs) {
			return nil //nolint:nilerr // as was said
		}
		c.in, c.as = in, workingIn(in, source)
		what, err = h.ahead(c)
		if _, refused := refusedWith(err); refused {
			what, err = releaseChange{}, nil
		}
		return err
	})
	return what, err
}

// readyFor locks the site and has the host make the revision ready. Another publish may
// have held the lock meanwhile: what is not due any more then is left alone, migrations
// and all, and readyFor returns nil.
func (s *Service) readyFor(ctx context.Context, what releaseChange, still func() (bool, error)) (*ready, error) {
	unlock, err := s.locks.lock(ctx, what.site)
	if err != nil {
		return nil, err
	}
	if due, err := still(); err != nil || !due {
		unlock()
		return nil, err
	}
	var r Release
	err = s.db.read(ctx, func(t tx) (err error) {
		r, err = s.releaseOf(t, what.site, what.revision)
		return err
	})
	r.Force = what.force
	var prepared Prepared
	if err == nil {
		prepared, err = s.prepare(ctx, r)
	}
	if err != nil {
		unlock()
		if broken, ok := errors.AsType[*ReleaseError](err); ok {
			err = refuseAt(broken.Code, broken.Message, "revision", "")
		}
		return nil, err
	}
	return &ready{prepared, unlock}, nil
}

// restart starts what is live of a site anew, also when who asked for it has gone.
func (s *Service) restart(ctx context.Context, site string) {
	if err := s.tryRestart(context.WithoutCancel(ctx), site); err != nil && !errors.Is(err, errNothingLive) {
		s.log.Error("a page was not started anew", "site", site, "error", err.Error())
	}
}

func (s *Service) tryRestart(ctx context.Context, site string) error {
	unlock, err := s.locks.lock(ctx, site)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := s.release(ctx, site) // under the lock: a publish may have been under way
	if err != nil {
		return err
	}
	prepared, err := s.host.Prepare(ctx, r)
	if err != nil {
		return err
	}
	prepared.Show()
	return nil
}

// migrationsOf are the names of a revision's migrations.
func (t tx) migrationsOf(site, revision string) (names []string, err error) {
	var text []byte
	found, err := t.queryOne(
		"SELECT b.manifest FROM revisions r JOIN bundles b ON b.id = r.bundle_id WHERE r.site_id = ? AND r.name = ?",
		[]any{site, revision}, &text,
	)
	if err != nil || !found || !bytes.Contains(text, []byte(`"migrations"`)) {
		return nil, err // and the list of files need not be read
	}
	l, _, err := t.load(site, revision)
	if err != nil {
		return nil, err
	}
	for _, f := range l.bundle.Migrations() {
		names = append(names, path.Base(f.Path))
	}
	return names, nil
}

// noteMigrations notes that the migrations of a revision were applied.
func (t tx) noteMigrations(site, revision string) error {
	names, err := t.migrationsOf(site, revision)
	for _, name := range names {
		if err == nil {
			err = t.exec("INSERT OR IGNORE INTO site_migrations (site_id, name) VALUES (?, ?)", site, name)
		}
	}
	return err
}

// appliedMigrations are the migrations that a site's database has, sorted bytewise.
func (t tx) appliedMigrations(site string) ([]string, error) {
	return list(
		t, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		"SELECT name FROM site_migrations WHERE site_id = ? ORDER BY name", site,
	)
}

// checkSchema refuses a revision that does not know migrations which the site's
// database has.
func (t tx) checkSchema(site, revision string) error {
	applied, err := t.appliedMigrations(site)
	if err != nil || len(applied) == 0 {
		return err
	}
	known, err := t.migrationsOf(site, revision)
	if err != nil {
		return err
	}
	ahead := slices.DeleteFunc(applied, func(name string) bool { return slices.Contains(known, name) })
	if len(ahead) == 0 {
		return nil
	}
	return refuseAt(toolapi.CodeSchemaAhead,
		"The page's database has migrations that this revision does not know: "+strings.Join(ahead, ", ")+".",
		"revision", "publish a revision that has them, or send force: true if its code works with them")
}
