package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// hostedSite is a published site, or a preview of one: its state, its front door, and
// what it serves.
type hostedSite struct {
	host *siteHost
	id   string
	dir  string // of its state
	busy chan struct{}

	// What is below is set by open, once, while busy is held.
	state    *state
	platform *sql.DB // the live site's, for a preview
	stores   *stores
	uploads  *stores // the live site's, for a preview
	database *sql.DB
	front    *site.Site
	caches   *web.Caches
	ran      bool // code ran
	ended    bool

	live     workerSet
	running  *sharedWorker // of what is shown; nil for a static site
	hosts    hostNames
	showing  sync.Mutex // held while something is put in the place of what was shown
	shown    atomic.Bool
	failedAt atomic.Int64 // when loading failed last, before anything was shown, in nanoseconds; 0 when it did not
}

func (h *siteHost) newSite(id, dir string) *hostedSite {
	return &hostedSite{host: h, id: id, dir: dir, busy: make(chan struct{}, 1)}
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

var errEnded = errors.New("the preview has ended")

// load shows what is live, unless it was shown meanwhile.
func (s *hostedSite) load(ctx context.Context, load func(context.Context) (service.Release, error)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	now := s.host.cli.now()
	switch failed := s.failedAt.Load(); {
	case s.ended:
		return errEnded
	case s.shown.Load():
		return nil
	case failed != 0 && now.Sub(time.Unix(0, failed)) < loadPause:
		return errors.New("it could not be loaded a moment ago")
	}
	// The visitor may go; others wait for the same.
	ctx = context.WithoutCancel(ctx)
	r, err := load(ctx)
	if err == nil {
		err = s.open(ctx, r)
	}
	var next *preparedRelease
	if err == nil {
		next, err = s.prepare(ctx, r)
	}
	switch {
	case err != nil && s.shown.Load(): // by a publish, meanwhile
		return nil
	case err != nil:
		s.failedAt.Store(now.UnixNano())
		return err
	}
	next.showFirst()
	return nil
}

// open opens the site's state and its front door.
func (s *hostedSite) open(ctx context.Context, r service.Release) (err error) {
	if s.front != nil {
		return nil
	}
	if r.Preview {
		if err := s.openPreview(ctx, r); err != nil {
			return err
		}
	}
	opened, err := openStateIn(s.dir)
	if err != nil {
		return err
	}
	if err := clearAway(s.dir); err != nil {
		return errors.Join(err, opened.Close())
	}
	defer func() {
		if err != nil {
			s.state, s.platform, s.uploads = nil, nil, nil
			err = errors.Join(err, opened.Close())
		}
	}()
	s.state = opened
	if s.platform == nil {
		if s.platform, err = opened.open(ctx, platformFile); err != nil {
			return err
		}
	}
	if s.database, err = opened.open(ctx, siteFile); err != nil {
		return err
	}
	c := s.host.cli
	run := &devRun{cli: c, flags: &devFlags{projectState: filepath.Join(filepath.Dir(s.host.dir), "projects", fmt.Sprint(r.WorkspaceID))}, state: opened}
	s.stores = newStores(run)
	s.stores.failed = s.host.notice
	if s.uploads == nil {
		s.uploads = s.stores
	}
	s.caches = cachesIn(opened.dir, s.host.logger)
	front, err := site.New(ctx, site.Options{
		DB: s.platform, SubmissionsDB: s.database, Files: formFiles{s.uploads.openUploads}, Cache: s.host.files, AllowHost: func(string) bool { return true }, Personas: []site.Persona{}, Links: links{r.People},
		IsMember:  func(ctx context.Context, m site.Member) bool { return r.People.IsMember(ctx, m.ID) },
		Workspace: r.Workspace, OnLead: func(site.Lead) { s.host.arrived(r.Site) }, DatabaseFailed: s.host.notice, ErrorPage: s.failed, Preview: r.Preview, Now: c.now, Logger: s.host.logger.With("site", s.id),
	})
	s.front = front
	return err
}

// clearAway removes what a service that was killed left in a site's state.
func clearAway(dir string) error {
	var errs []error
	for _, pattern := range []string{migrationsCopy, ".probe-*"} {
		left, err := fs.Glob(os.DirFS(dir), pattern)
		for errs = append(errs, err); len(left) > 0; left = left[1:] {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, left[0])))
		}
	}
	return errors.Join(errs...)
}

// migrationsCopy are folders in which the migrations of a release lie while they run.
const migrationsCopy = "migrations-*"

// openPreview gives a preview a state of its own: what the live site's databases hold
// now. Its leads are among the site's.
func (s *hostedSite) openPreview(ctx context.Context, r service.Release) error {
	s.dir = filepath.Join(s.host.dir, r.Site, "previews", s.id)
	live := s.host.site(r.Site)
	if err := live.lock(ctx); err != nil {
		return err
	}
	defer live.unlock()
	published := r
	published.Preview = false
	if err := live.open(ctx, published); err != nil {
		return err
	}
	s.platform, s.uploads = live.platform, live.stores
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{siteFile, kvFile} {
		if err := copyDatabase(ctx, filepath.Join(live.dir, name), filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyDatabase copies a database as it is now; one that is not there is not copied.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	if !isFile(from) || isFile(to) {
		return nil
	}
	db, err := openSQLite(ctx, from, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// close ends the site.
func (s *hostedSite) close() error {
	if s.front == nil {
		return nil
	}
	for _, w := range s.live.all() {
		w.close(drainTime)
	}
	return errors.Join(s.front.Close(), s.stores.close(), s.caches.Close(), s.state.Close())
}

// preparedRelease is a release of a site that waits to be shown. It implements
// service.Prepared.
type preparedRelease struct {
	site     *hostedSite
	revision site.Revision
	worker   *sharedWorker // nil for a static site
}

// Show implements service.Prepared.
func (p *preparedRelease) Show() {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	p.show()
}

// showFirst shows what a visitor had loaded, unless a publish has shown something
// meanwhile: what was live when the visitor came may not be any more.
func (p *preparedRelease) showFirst() {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	if p.site.shown.Load() {
		p.Discard()
		return
	}
	p.show()
}

func (p *preparedRelease) show() {
	s := p.site
	p.revision.Drained = func() {
		if p.worker != nil {
			p.worker.release()
		}
	}
	s.front.Swap(p.revision)
	old := s.running
	s.running = p.worker
	if old != nil {
		old.retire()
	}
	s.shown.Store(true)
}

// Discard implements service.Prepared.
func (p *preparedRelease) Discard() {
	if p.worker != nil {
		p.worker.close(0)
	}
}

// prepare makes a release ready.
func (s *hostedSite) prepare(ctx context.Context, r service.Release) (*preparedRelease, error) {
	if err := s.migrate(ctx, r); err != nil {
		return nil, err
	}
	p := &preparedRelease{site: s, revision: site.Revision{ID: r.Revision, Manifest: r.Bundle.Manifest, AssetsDir: filepath.FromSlash(r.Files.Dir())}}
	rules, assets := map[string]string{}, r.Bundle.Assets()
	p.revision.Assets = make([]site.Asset, 0, len(assets))
	for _, a := range assets {
		p.revision.Assets = append(p.revision.Assets, site.Asset{
			Path: a.URL, File: filepath.FromSlash(r.Files.Path(a.SHA256)), Size: a.Size, SHA256: a.SHA256, ContentType: a.ContentType,
		})
		if manifest.EdgeFile(a.URL) {
			text, err := contents(r, a.File)
			if err != nil {
				return nil, err
			}
			rules[a.URL] = string(text)
		}
	}
	if len(rules) > 0 {
		p.revision.Rules, _ = manifest.ParseEdgeRules(rules["/_headers"], rules["/_redirects"]) // broken lines were told of when it was built
	}
	if r.Bundle.Manifest.Entry == "" {
		return p, nil
	}
	worker, err := s.start(ctx, r)
	if err != nil {
		return nil, err
	}
	p.worker, p.revision.Worker = worker, worker
	worker.uses.Store(2) // the revision's, and that of what is shown
	return p, nil
}

// contents are the bytes of a file of a release.
func contents(r service.Release, f bundle.File) (text []byte, err error) {
	opened, err := r.Files.Open(f.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return io.ReadAll(io.LimitReader(opened, f.Size))
}

// migrate brings the site's database to where the release needs it.
func (s *hostedSite) migrate(ctx context.Context, r service.Release) (err error) {
	m := r.Bundle.Manifest
	if m.Bindings.Database == nil {
		return nil
	}
	dir, err := os.MkdirTemp(s.state.dir, migrationsCopy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, f := range r.Bundle.Migrations() {
		text, err := contents(r, f)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, text, 0o600)); err != nil {
			return err
		}
	}
	migrator := s.host.cli.migrator(s.state, s.database, dir, m, migrate.Options{})
	status, err := migrator.Status(ctx)
	if err != nil {
		s.host.notice(err)
		return migrationRefused(ctx, err, "")
	}
	switch {
	case len(status.Missing) > 0 && r.Force:
		return nil
	case len(status.Missing) > 0:
		return &service.ReleaseError{Code: toolapi.CodeSchemaAhead, Message: "The page's database has the migration " + status.Missing[0].Name + ", which this revision does not know."}
	}
	result, err := migrator.Apply(ctx)
	if err != nil {
		s.host.notice(err)
		return migrationRefused(ctx, err, result.Stands())
	}
	return nil
}

// migrationRefused is the failure of a migration, unless the call was given up.
func migrationRefused(ctx context.Context, err error, stands string) error {
	if ctx.Err() != nil {
		return err
	}
	message := "A migration failed: " + err.Error() + "."
	if stands != "" {
		message += " " + strings.ToUpper(stands[:1]) + stands[1:] + "."
	}
	return &service.ReleaseError{Code: toolapi.CodeMigrationFailed, Message: message}
}

// start starts the Worker of a release: its entry as one module, with the WebAssembly
// modules of its folder.
func (s *hostedSite) start(ctx context.Context, r service.Release) (*sharedWorker, error) {
	m := r.Bundle.Manifest
	entry, _ := r.Bundle.File(path.Clean(m.Entry)) // it is there, or the bundle would not be one
	code, err := contents(r, entry)
	if err != nil {
		return nil, err
	}
	var source []byte
	if f, ok := r.Bundle.File(entry.Path + ".map"); ok {
		if source, err = contents(r, f); err != nil {
			return nil, err
		}
	}
	modules, err := wasmOf(r, path.Dir(entry.Path))
	if err != nil {
		return nil, err
	}
	rt, err := s.host.runtime()
	if err != nil {
		return nil, err
	}
	s.ran = true
	set, err := s.stores.bindings(ctx, m, s.database, r.Secrets, s.front.AssetsHandler())
	if err != nil {
		return nil, err
	}
	logger := s.host.logger.With("site", r.Site)
	mask := maskOf(r.Secrets)
	worker, err := rt.NewWorker(s.host.until, pagesruntime.WorkerOptions{
		Name: path.Base(entry.Path), Code: code, Map: source, Wasm: modules, Bindings: set,
		Limits: pagesruntime.Limits{CPU: time.Duration(m.Limits.CPUMs) * time.Millisecond, SubRequests: m.Limits.SubRequests},
		NodeJS: slices.Contains(m.Runtime.CompatibilityFlags, manifest.FlagNodeJS),
		Web: web.Options{
			Self: s.front, IsSelf: s.hosts.has, StrictlyPublic: slices.Contains(m.Runtime.CompatibilityFlags, manifest.FlagStrictlyPublic),
			Caches: s.caches, Now: s.host.cli.now, Logger: logger,
		},
		Console: consoleOf(s.host.until, logger, r, mask), Logger: logger,
	})
	if err != nil {
		err = errors.Join(maskedError(mask, err), closeDatabases(set))
		if broken, ok := errors.AsType[*pagesruntime.Error](err); ok {
			return nil, &service.ReleaseError{Code: toolapi.CodeWorkerFailed, Message: "The Worker could not be started: " + broken.Error() + ". It must be one module, as pages build makes it."}
		}
		return nil, err
	}
	return s.live.add(s.host.until, worker, set, m.Limits, mask), nil
}

// wasmOf are the WebAssembly modules of a folder, by how a module in it imports them.
func wasmOf(r service.Release, folder string) (map[string][]byte, error) {
	modules := map[string][]byte{}
	for _, f := range r.Bundle.Files {
		if path.Dir(f.Path) != folder || path.Ext(f.Path) != ".wasm" {
			continue
		}
		text, err := contents(r, f)
		if err != nil {
			return nil, err
		}
		modules["./"+path.Base(f.Path)] = text
	}
	return modules, nil
}

// failed answers for a Worker that did not.
func (s *hostedSite) failed(w http.ResponseWriter, r *http.Request, err error) {
	refusal := &site.RefusalError{Status: http.StatusInternalServerError, Code: "worker_failed", Message: "the site's code failed to answer"}
	broken, ok := errors.AsType[*pagesruntime.Error](err)
	if ok && broken.Limit != "" {
		refusal = &site.RefusalError{Status: http.StatusServiceUnavailable, Code: "limit_exceeded", Message: "the site's code went over its limit " + broken.Limit}
	}
	s.host.logger.Warn("a Worker failed", "site", s.id, "path", r.URL.EscapedPath(), "error", err)
	site.Refuse(w, r, refusal)
}
