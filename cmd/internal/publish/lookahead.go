package publish

import (
	"context"

	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// lookAhead requests the list of sites and the live revision during the build. The result is as old as the beginning of the build: the
// service refuses a deploy that began from another revision than the live one.
type lookAhead struct {
	cancel  context.CancelFunc
	release func()        // releases the notes of the session
	done    chan struct{} // closed when all results are known

	list     toolapi.PageList
	listErr  error
	taken    bool // list was used
	site     string
	found    deploy.Live
	foundErr error
}

// lookAhead starts the requests; it returns nil if the site does not exist yet.
func (d *deployment) lookAhead(ctx context.Context) *lookAhead {
	if d.options.Create != "" {
		return nil
	}
	s := d.session
	a := &lookAhead{release: s.HoldNotes(), done: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		a.look(ctx, s)
	}()
	return a
}

func (a *lookAhead) look(ctx context.Context, s *remote.Session) {
	if a.list, a.listErr = deploy.Pages(ctx, s.Client, s.Contract, s.Workspace); a.listErr != nil {
		return
	}
	page, err := deploy.FindPage(a.list, s.Site)
	if err != nil { // a person may choose one
		return
	}
	to := &deploy.Deployer{
		Client: s.Client, Contract: s.Contract, Workspace: a.list.Workspace, Site: page.SiteID, Version: s.Version, Now: s.Term.Now,
	}
	a.site = page.SiteID
	a.found, a.foundErr = to.LookAt(ctx, page)
}

// end waits for the requests, or cancels them.
func (a *lookAhead) end(giveUp bool) {
	if a == nil {
		return
	}
	if giveUp {
		a.cancel()
	}
	<-a.done
	a.cancel()
	a.release()
}

// pages returns the sites of the session's workspace, which may be another workspace in the second call.
func (a *lookAhead) pages(ctx context.Context, s *remote.Session) (toolapi.PageList, error) {
	if a == nil || a.taken {
		return deploy.Pages(ctx, s.Client, s.Contract, s.Workspace)
	}
	a.taken = true
	return a.list, a.listErr
}

// live returns the live state of a site.
func (a *lookAhead) live(ctx context.Context, to *deploy.Deployer, page toolapi.Page) (deploy.Live, error) {
	if a == nil || a.site != page.SiteID || a.list.Workspace != to.Workspace {
		return to.LookAt(ctx, page)
	}
	return a.found, a.foundErr
}
