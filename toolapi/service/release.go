package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file releases a revision. Slow work that can fail (files, migrations, the Worker) comes first, outside of any
// transaction, under the site's lock. Then the call's transaction moves the pointer, and the host shows the prepared release.

// releaseChange is the revision that a call would make live; the zero value is none.
type releaseChange struct {
	site, revision string
	force          bool
	restore        restoreChange // the data that go with it
}

// siteLocks are held while a revision of a site goes live.
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

// preparedRelease is ready for the move of the pointer. nil has nothing to show.
type preparedRelease struct {
	prepared Prepared
	unlock   func()
}

// migrated reports the effect of the release's migrations.
func (r *preparedRelease) migrated() (m toolapi.Migrated) {
	if r != nil {
		m = r.prepared.Migrated()
	}
	return m
}

// restored describes the data that the release restores; nil for none.
func (r *preparedRelease) restored() *Restored {
	if r == nil {
		return nil
	}
	return r.prepared.Restored()
}

func (r *preparedRelease) show() {
	if r != nil {
		r.prepared.Show()
		r.unlock()
	}
}

func (r *preparedRelease) discard() {
	if r != nil {
		r.prepared.Discard()
		r.unlock()
	}
}

// prepareRelease prepares the release of a call. It returns nil for a call without one, or one that will be refused anyway.
func (h handler) prepareRelease(ctx context.Context, c *call) (*preparedRelease, error) {
	if h.plannedRelease == nil || c.service.host == nil || !c.body.Has("confirmation_id") {
		return nil, nil //nolint:nilnil // no release, no error
	}
	planned := func() (change releaseChange, agreed approval, err error) {
		err = c.lookAhead(ctx, h.needs, func() error {
			change, agreed, err = h.plannedRelease(c)
			return err
		})
		return change, agreed, err
	}
	change, agreed, err := planned()
	if err != nil || change.site == "" {
		return nil, err
	}
	return c.service.lockAndPrepare(ctx, change, agreed, func() (bool, error) {
		now, _, err := planned()
		return now == change, err
	})
}

// lockAndPrepare locks the site and makes the host prepare the revision. After a wait for the lock, the release may no
// longer be due: then nothing runs, and lockAndPrepare returns nil. Migrations whose losses exceed the approval are refused
// and rolled back.
func (s *Service) lockAndPrepare(
	ctx context.Context, change releaseChange, agreed approval, stillDue func() (bool, error),
) (*preparedRelease, error) {
	unlock, err := s.locks.lock(ctx, change.site)
	if err != nil {
		return nil, err
	}
	if due, err := stillDue(); err != nil || !due {
		unlock()
		return nil, err
	}
	r, err := readTx(ctx, s.db, func(t tx) (Release, error) { return s.releaseOf(t, change.site, change.revision) })
	r.Force, r.Judge, r.Restore = change.force, agreed.judge, change.restore.restoration()
	if r.Restore != nil {
		r.Judge = agreed.judgeRestore
	}
	var prepared Prepared
	if err == nil {
		prepared, err = s.prepare(ctx, r)
	}
	if err != nil {
		unlock()
		return nil, refusedRelease(err, "revision")
	}
	return &preparedRelease{prepared, unlock}, nil
}

// refusedRelease converts an error of the release itself to a refusal at the argument path; it returns other errors unchanged.
func refusedRelease(err error, path string) error {
	if broken, ok := errors.AsType[*ReleaseError](err); ok {
		return refuseAt(broken.Code, broken.Message, path, releaseFix(broken.Code))
	}
	return err
}

// restart restarts the live release of a site.
func (s *Service) restart(ctx context.Context, site string) error {
	unlock, err := s.locks.lock(ctx, site)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := s.release(ctx, site) // under the lock: another publish may have been in progress
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

// migrationsOf returns the names of a revision's migrations.
func (t tx) migrationsOf(site, revision string) (names []string, err error) {
	var text []byte
	found, err := t.queryOne("SELECT b.manifest FROM revisions r JOIN bundles b ON b.id = r.bundle_id WHERE r.site_id = ? AND r.name = ?",
		[]any{site, revision}, &text)
	if err != nil || !found || !bytes.Contains(text, []byte(`"migrations"`)) {
		return nil, err // without reading the list of files
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

// appliedMigrations returns the migrations of a site's database, sorted bytewise.
func (t tx) appliedMigrations(site string) ([]string, error) {
	return listColumn[string](t, "SELECT name FROM site_migrations WHERE site_id = ? ORDER BY name", site)
}

// checkSchema refuses a revision that uses the site's database and lacks some of its migrations.
func (c *call) checkSchema(site, revision string) error {
	applied, err := c.appliedMigrations(site)
	if err != nil || len(applied) == 0 {
		return err
	}
	known, err := c.migrationsOf(site, revision)
	if err != nil {
		return err
	}
	ahead := slices.DeleteFunc(applied, func(name string) bool { return slices.Contains(known, name) })
	if len(ahead) > 0 {
		if ahead, err = c.unknownTo(site, revision, ahead); err != nil {
			return err
		}
	}
	if len(ahead) == 0 {
		return nil
	}
	var next string // which replaced the revision
	if _, err := c.queryOne("SELECT coalesce((SELECT revision FROM publishes WHERE site_id = s.id AND id > "+
		"(SELECT max(id) FROM publishes WHERE site_id = s.id AND revision = ?) ORDER BY id LIMIT 1), live_revision, '') "+
		"FROM sites s WHERE id = ?", []any{revision, site}, &next); err != nil {
		return err
	}
	return refuseAt(toolapi.CodeSchemaAhead,
		"The site's database has migrations that this revision does not know: "+strings.Join(ahead, ", ")+".",
		"revision", "restore the code with its data: page.restore_data with before_revision: "+strconv.Quote(next)+
			"; or publish a revision that has them, or send force: true if its code works with them")
}

// unknownTo returns the migrations that no squash of a revision replaces; none for a revision without a database. It reads the
// revision's files, so call it only for a revision that lacks migrations.
func (c *call) unknownTo(site, revision string, ahead []string) ([]string, error) {
	r, err := c.service.releaseOf(c.tx, site, revision)
	if damaged, ok := errors.AsType[*ReleaseError](err); ok && damaged.Code == toolapi.CodeRevisionDamaged {
		return ahead, nil
	}
	if err != nil || r.Bundle.Manifest.Bindings.Database == nil {
		return nil, err
	}
	for _, f := range r.Bundle.Migrations() {
		text, err := readStored(r.Files, f)
		if errors.Is(err, fs.ErrNotExist) {
			continue // preparing the release reports it
		}
		if err != nil {
			return nil, err
		}
		squashed := migrate.SquashedNames(text)
		ahead = slices.DeleteFunc(ahead, func(name string) bool { return slices.Contains(squashed, name) })
	}
	return ahead, nil
}

func readStored(files *blob.Space, f sitefile.File) (text []byte, err error) {
	opened, err := files.Open(f.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return io.ReadAll(io.LimitReader(opened, f.Size))
}

// errNothingLive means that the page was unpublished in the meantime.
var errNothingLive = errors.New("nothing is live")

// release returns the live release of a site.
func (s *Service) release(ctx context.Context, site string) (Release, error) {
	r, err := readTx(ctx, s.db, func(t tx) (r Release, err error) {
		var live string
		if err := t.queryOr(errNothingLive, "SELECT live_revision FROM sites WHERE id = ? AND live_revision IS NOT NULL",
			[]any{site}, &live); err != nil {
			return r, err
		}
		return s.releaseOf(t, site, live)
	})
	r.Force = true // it went live with that database
	return r, err
}

// releaseOf makes a release of a revision.
func (s *Service) releaseOf(t tx, site, revision string) (Release, error) {
	r := Release{Site: site, Revision: revision}
	store, err := s.store()
	if err != nil {
		return r, err
	}
	if _, err := t.queryOne("SELECT w.id, w.slug, s.name, coalesce(s.live_revision, ''), coalesce(s.restore_id, '') "+
		"FROM sites s JOIN workspaces w ON w.id = s.workspace_id WHERE s.id = ?",
		[]any{site}, &r.WorkspaceID, &r.Workspace, &r.Name, &r.Live, &r.LastRestore,
	); err != nil {
		return r, err
	}
	l, ok, err := t.load(site, revision)
	if err != nil {
		return r, err
	}
	if !ok {
		return r, &ReleaseError{Code: toolapi.CodeRevisionDamaged, Message: "Revision " + revision + " has no contents."}
	}
	r.Bundle, r.Files, r.People = l.bundle, store.Space(r.WorkspaceID), &people{s, site, r.WorkspaceID}
	r.Answers = func(host string) bool { return s.servesHost(site, host) }
	if r.Secrets, err = s.secretValues(t, site, l.bundle.Manifest.Bindings.Secrets); err != nil {
		return r, err
	}
	settings, err := t.settings(site)
	if err != nil {
		return r, err
	}
	r.SpamOff, r.ProofOfWork = settings.SpamFilter == toolapi.SpamFilterOff, settings.ProofOfWork == toolapi.ProofOfWorkOn
	r.Applied, err = t.appliedMigrations(site)
	return r, err
}

// prepare verifies the files that the live release lacks, and makes the host prepare the new one.
func (s *Service) prepare(ctx context.Context, r Release) (Prepared, error) {
	served := map[string]bool{}
	err := s.db.read(ctx, func(t tx) error {
		var live string
		if found, err := t.queryOne(
			"SELECT live_revision FROM sites WHERE id = ? AND live_revision IS NOT NULL", []any{r.Site}, &live,
		); err != nil || !found {
			return err
		}
		l, ok, err := t.load(r.Site, live)
		if ok {
			for _, f := range l.bundle.Files {
				served[f.SHA256] = true
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range r.Bundle.Files {
		if served[f.SHA256] {
			continue
		}
		err := r.Files.Verify(f.SHA256, f.Size)
		_, other := errors.AsType[*blob.MismatchError](err)
		if other { // moved away, so that the next upload sends it again
			if err := r.Files.SetAside(f.SHA256); err == nil {
				s.log.Error("a stored file was damaged, and was moved aside", "site", r.Site, "revision", r.Revision, "file", f.SHA256)
			} else if !errors.Is(err, fs.ErrNotExist) {
				s.log.Error("a damaged file was not moved aside", "site", r.Site, "file", f.SHA256, "error", err.Error())
			}
		}
		if other || errors.Is(err, fs.ErrNotExist) {
			return nil, &ReleaseError{
				Code:    toolapi.CodeRevisionDamaged,
				Message: "The stored bytes of " + strconv.Quote(f.Path) + " are damaged: upload the site again.",
			}
		}
		if err != nil { // such as too many open files: the bytes may be intact
			return nil, fmt.Errorf("read the stored bytes of %q: %w", f.Path, err)
		}
		served[f.SHA256] = true
	}
	return s.host.Prepare(ctx, r)
}
