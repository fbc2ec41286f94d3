package host

import (
	"context"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// preparedRelease is a release of a site that waits to be shown. It implements
// service.Prepared.
type preparedRelease struct {
	site     *hostedSite
	revision site.Revision
	worker   *siteworker.Shared // nil for a static site
	held     bool               // it keeps the site open
}

// Show implements service.Prepared.
func (p *preparedRelease) Show() {
	p.site.showing.Lock()
	defer p.site.showing.Unlock()
	p.show()
	p.leave()
}

// leave lets the site be closed when nobody needs it.
func (p *preparedRelease) leave() {
	if p.held {
		p.held = false
		p.site.usage.leave(p.site.host.o.Now())
	}
}

// showFirst shows what a visitor had loaded, unless a publish has shown something
// meanwhile: what was live when the visitor came may not be any more.
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
	s.failedAt.Store(0)
	s.usage.shows()
}

// Discard implements service.Prepared.
func (p *preparedRelease) Discard() {
	if p.worker != nil {
		p.worker.Close(0)
	}
	p.leave()
}

// prepare makes a release ready, and opens the site for it.
func (s *hostedSite) prepare(ctx context.Context, r service.Release) (*preparedRelease, error) {
	if err := s.open(ctx, r); err != nil {
		return nil, err
	}
	r, err := configured(r)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx, r); err != nil {
		return nil, err
	}
	p := &preparedRelease{site: s, revision: site.Revision{
		ID: r.Revision, Manifest: r.Bundle.Manifest, AssetsDir: filepath.FromSlash(r.Files.Dir()),
	}}
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
		p.revision.Rules, _ = edgerules.Parse(rules["/_headers"], rules["/_redirects"]) // broken lines were told of when it was built
	}
	if r.Bundle.Manifest.Entry == "" {
		return p, nil
	}
	worker, err := s.start(ctx, r)
	if err != nil {
		return nil, err
	}
	p.worker, p.revision.Worker = worker, worker
	worker.Uses.Store(2) // the revision's, and that of what is shown
	return p, nil
}

// Prepare implements service.Host.
func (h *Host) Prepare(ctx context.Context, r service.Release) (service.Prepared, error) {
	s := h.site(r.Site)
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	next, err := s.prepare(ctx, r)
	if err != nil {
		h.notice(err)
		return nil, err
	}
	next.held = true
	s.usage.hold()
	return next, nil
}
