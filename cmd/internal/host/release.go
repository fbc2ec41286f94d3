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

// preparedRelease is a release that waits to be shown. It implements service.Prepared.
type preparedRelease struct {
	site     *hostedSite
	revision site.Revision
	worker   *siteworker.Shared // nil for a static site
	migrated toolapi.Migrated
	restore  *preparedRestore // nil for none
	held     bool             // it keeps the site open
}

// Migrated implements service.Prepared.
func (p *preparedRelease) Migrated() toolapi.Migrated { return p.migrated }

// Restored implements service.Prepared.
func (p *preparedRelease) Restored() *service.Restored {
	if p.restore == nil {
		return nil
	}
	return &p.restore.restored
}

// Show implements service.Prepared.
func (p *preparedRelease) Show() {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	if p.restore != nil {
		if err := p.restore.commit(); err != nil {
			// It is decided: what comes next puts the data back, and shows nothing before.
			p.site.host.notice(err)
			p.site.host.o.Logger.Error("the data of a site are not put back yet", "site", p.site.id, "error", err.Error())
			p.site.unrestored.Store(true)
			p.site.usage.hide()
			p.Discard()
			return
		}
		p.restore = nil
	}
	p.show()
	p.leave()
}

// leave lets the site be closed when it is idle.
func (p *preparedRelease) leave() {
	if p.held {
		p.held = false
		p.site.usage.leave(p.site.host.o.Now())
	}
}

// showFirst shows a release that a request loaded, unless a publish has shown another meanwhile: the one loaded may not
// be live any more.
func (p *preparedRelease) showFirst() {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	if p.site.usage.isShown() {
		p.Discard()
		return
	}
	p.show()
}

func (p *preparedRelease) show() {
	s := p.site
	p.revision.Drained = func() {
		if p.worker != nil {
			p.worker.Release()
		}
	}
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
	if p.restore != nil && !p.site.unrestored.Load() {
		p.restore.abort()
	}
	if p.worker != nil {
		p.worker.Close(0)
	}
	p.leave()
}

// prepare opens the site, migrates and starts the Worker of a release.
func (s *hostedSite) prepare(ctx context.Context, r service.Release) (*preparedRelease, error) {
	if err := s.open(ctx, r); err != nil {
		return nil, err
	}
	r, err := withRuntimeFlags(r)
	if err != nil {
		return nil, err
	}
	if s.unrestored.Load() {
		if err := s.endRestore(ctx, r); err != nil {
			return nil, err
		}
		s.unrestored.Store(false)
	}
	p := &preparedRelease{site: s, revision: site.Revision{
		ID: r.Revision, Manifest: r.Bundle.Manifest, AssetsDir: filepath.FromSlash(r.Files.Dir()),
	}}
	if r.Restore == nil || r.Preview {
		if p.migrated, err = s.migrate(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := s.seed(ctx, r); err != nil {
		return nil, err
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
		worker, err := s.startWorker(ctx, r)
		if err != nil {
			return nil, err
		}
		p.worker, p.revision.Worker = worker, worker
		worker.Uses.Store(2) // of the revision, and of hostedSite.running
	}
	if r.Restore == nil || r.Preview {
		return p, nil
	}
	// Last, since others wait to write from now on.
	if p.restore, err = s.prepareRestore(ctx, r); err != nil {
		p.Discard()
		return nil, err
	}
	p.migrated = p.restore.migrated
	return p, nil
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
	next, err := s.prepare(ctx, r)
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

// withRuntimeFlags returns a release whose manifest has the compatibility flags of a JSON runtime config among its files,
// as where the site was built.
func withRuntimeFlags(r service.Release) (service.Release, error) {
	flags, err := bundle.Flags(r.Bundle.Text, func(name string) ([]byte, error) {
		file, ok := r.Bundle.File(name)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return contents(r, file)
	})
	if refused, ok := errors.AsType[*bundle.FaultError](err); ok { // finalized before the service checked this
		return r, &service.ReleaseError{Code: toolapi.CodeWorkerFailed, Message: "The Worker could not be started. " + refused.Message}
	}
	if err == nil && len(flags) > 0 {
		b, m := *r.Bundle, *r.Bundle.Manifest
		m.Runtime.CompatibilityFlags, b.Manifest, r.Bundle = flags, &m, &b
	}
	return r, err
}
