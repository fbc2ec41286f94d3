package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// preparedRelease is a release that is ready to be shown. It implements service.Prepared.
type preparedRelease struct {
	site     *hostedSite
	revision site.Revision
	worker   *siteworker.Shared // nil for a static site
	migrated toolapi.Migrated
	restored *service.Restored
	data     preparedData // nil for none
	held     bool         // it keeps the site open
	spamOff  bool
	proofs   bool // forms require a proof of work
}

// preparedData is a change of a site's data that waits for the service's decision; no other connection writes meanwhile. The service calls
// either commit or abort, once.
type preparedData interface {
	// commit fails only if the next process must finish the change.
	commit() error
	abort()
}

// Migrated implements service.Prepared.
func (p *preparedRelease) Migrated() toolapi.Migrated { return p.migrated }

// Restored implements service.Prepared.
func (p *preparedRelease) Restored() *service.Restored { return p.restored }

// Show implements service.Prepared.
func (p *preparedRelease) Show() {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	if err := p.commit(); err != nil {
		return // the next request loads the site
	}
	p.show()
	p.leave()
}

// commit commits the data of a release that the service has decided. After an error the site shows nothing until the next prepare has
// finished the change.
func (p *preparedRelease) commit() error {
	if p.data == nil {
		return nil
	}
	err := p.data.commit()
	p.data = nil
	if err != nil {
		p.site.host.notice(err)
		p.site.host.o.Logger.Error("the data of a site is not changed yet", "site", p.site.id, "error", err.Error())
		p.site.unfinished.Store(true)
		p.site.usage.hide()
		p.Discard()
	}
	return err
}

// leave allows the idle site to close.
func (p *preparedRelease) leave() {
	if p.held {
		p.held = false
		p.site.usage.leave(p.site.host.o.Now())
	}
}

// showFirst shows a release that a request loaded, unless a publish has shown another one meanwhile: the loaded release may not be live any
// more.
func (p *preparedRelease) showFirst() error {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	if p.site.usage.isShown() {
		p.Discard()
		return nil
	}
	if err := p.commit(); err != nil {
		return err
	}
	p.show()
	return nil
}

func (p *preparedRelease) show() {
	s := p.site
	p.revision.Drained = func() {
		if p.worker != nil {
			p.worker.Release()
		}
	}
	s.front.SetSpamFilter(!p.spamOff)
	s.front.SetProofOfWork(p.proofs)
	s.front.Swap(p.revision)
	old := s.running
	s.running = p.worker
	if old != nil {
		old.Retire()
	}
	s.shown = p.revision.ID
	s.failedAt.Store(0)
	s.usage.setShown()
}

// Discard implements service.Prepared.
func (p *preparedRelease) Discard() {
	if p.data != nil {
		p.data.abort()
	}
	if p.worker != nil {
		p.worker.Close(0)
	}
	p.leave()
}

// prepare opens the site, migrates and starts the Worker of a release. shown is true if the release was in service before.
func (s *hostedSite) prepare(ctx context.Context, r service.Release, shown bool) (*preparedRelease, error) {
	if err := s.open(ctx, r); err != nil {
		return nil, err
	}
	r, err := withRuntimeFlags(r)
	if err != nil {
		return nil, err
	}
	if s.unfinished.Load() {
		if err := s.finish(ctx, r); err != nil {
			return nil, err
		}
	}
	p := &preparedRelease{site: s, spamOff: r.SpamOff, proofs: r.ProofOfWork, revision: site.Revision{
		ID: r.Revision, Manifest: r.Bundle.Manifest, AssetsDir: filepath.FromSlash(r.Files.Dir()),
	}}
	if r.Preview {
		if err := p.fillPreview(ctx, r); err != nil {
			return nil, err
		}
	}
	rules, assets := map[string]string{}, r.Bundle.Assets()
	for i, a := range assets {
		assets[i].File = filepath.FromSlash(r.Files.Path(a.SHA256))
		if sitepath.EdgeFile(a.Path) {
			text, err := contents(r, sitefile.File{SHA256: a.SHA256, Size: a.Size})
			if err != nil {
				return nil, err
			}
			rules[a.Path] = string(text)
		}
	}
	p.revision.Assets = assets
	if len(rules) > 0 {
		p.revision.Rules, _ = edgerules.Parse(rules["/_headers"], rules["/_redirects"]) // the build reported broken lines
	}
	if r.Bundle.Manifest.Entry != "" {
		worker, err := s.startWorker(ctx, r, shown)
		if err != nil {
			return nil, err
		}
		p.worker, p.revision.Worker = worker, worker
		worker.Uses.Store(2) // of the revision, and of hostedSite.running
	}
	if r.Preview {
		return p, nil
	}
	// This comes last, since others wait to write from now on.
	if err := p.begin(ctx, r); err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

// fillPreview brings the data of a preview to the state that its release needs. They are the preview's own, so the service decides nothing
// about them.
func (p *preparedRelease) fillPreview(ctx context.Context, r service.Release) error {
	migrated, begun, err := p.site.beginMigrations(ctx, r)
	if err == nil && begun != nil {
		err = begun.commit()
	}
	p.migrated = migrated
	if err != nil {
		return err
	}
	return p.site.seed(ctx, r)
}

// begin changes the site's data for the release, up to the commit.
func (p *preparedRelease) begin(ctx context.Context, r service.Release) error {
	if r.Restore != nil {
		restore, err := p.site.prepareRestore(ctx, r)
		if err != nil {
			return err
		}
		p.data, p.migrated, p.restored = restore, restore.migrated, &restore.restored
		return nil
	}
	migrated, begun, err := p.site.beginMigrations(ctx, r)
	p.migrated = migrated
	if err == nil && begun != nil {
		p.data = begun
	}
	return err
}

// finish completes the last publish or restore of a site after a killed process or a failed commit.
func (s *hostedSite) finish(ctx context.Context, r service.Release) error {
	if r.Preview {
		return nil
	}
	err := s.endRestore(ctx, r)
	if err == nil {
		err = s.endPublish(ctx, r)
	}
	s.unfinished.Store(err != nil)
	return err
}

// settle finishes an interrupted publish or restore of a site before its database is read.
func (s *hostedSite) settle(ctx context.Context, r service.Release) error {
	if _, _, open := s.usage.idle(); open && !s.unfinished.Load() {
		return nil
	}
	left, err := filepath.Glob(filepath.Join(globQuote(s.dir), "*.json"))
	if err != nil || len(left) == 0 {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	r.Preview = false
	if err := s.open(ctx, r); err != nil || !s.unfinished.Load() {
		return err
	}
	return s.finish(ctx, r)
}

// Prepare implements service.Host.
func (h *Host) Prepare(ctx context.Context, r service.Release) (service.Prepared, error) {
	return h.site(r.Site).prepareToShow(ctx, r)
}

// prepareToShow prepares a release, and holds the site open until it is shown or discarded.
func (s *hostedSite) prepareToShow(ctx context.Context, r service.Release) (service.Prepared, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	if s.ended {
		return nil, service.ErrPreviewEnded
	}
	next, err := s.prepare(ctx, r, false)
	if err != nil {
		s.host.notice(err)
		return nil, err
	}
	next.held = true
	s.usage.hold()
	return next, nil
}

// contents returns the bytes of a file of a release.
func contents(r service.Release, f sitefile.File) (text []byte, err error) {
	opened, err := r.Files.Open(f.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return io.ReadAll(io.LimitReader(opened, f.Size))
}

// withRuntimeFlags returns a release whose manifest has the compatibility flags of a JSON runtime config among its files, as the build of
// the site had.
func withRuntimeFlags(r service.Release) (service.Release, error) {
	flags, err := bundle.Flags(r.Bundle.Text, func(name string) ([]byte, error) {
		file, ok := r.Bundle.File(name)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return contents(r, file)
	})
	if refused, ok := errors.AsType[*bundle.FaultError](err); ok { // finalized before the service made this check
		return r, &service.ReleaseError{Code: toolapi.CodeWorkerFailed, Message: "The Worker could not be started. " + refused.Message}
	}
	if err == nil && len(flags) > 0 {
		b, m := *r.Bundle, *r.Bundle.Manifest
		m.Runtime.CompatibilityFlags, b.Manifest, r.Bundle = flags, &m, &b
	}
	return r, err
}
