package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// InWorkspace makes a call; when it needs a workspace, a person at a terminal is asked, and nobody else is chosen for.
func (s *Session) InWorkspace(ctx context.Context, call func() error) error {
	err := call()
	refused, ok := errors.AsType[*client.RefusalError](err)
	if !ok || refused.Refusal.Code != toolapi.CodeWorkspaceAmbiguous || !s.Term.Interactive() {
		return Error(err)
	}
	n, err := s.Term.Choose(ctx, "In which workspace?", refused.Refusal.Workspaces, terminal.NoDefault)
	if err != nil {
		return err
	}
	s.Workspace = refused.Refusal.Workspaces[n]
	return Error(call())
}

// ChooseSite finds the site that is meant; a person at a terminal is asked when none is.
func (s *Session) ChooseSite(ctx context.Context) (page toolapi.Page, in toolapi.WorkingIn, err error) {
	var list toolapi.PageList
	err = s.InWorkspace(ctx, func() (err error) {
		list, err = deploy.Pages(ctx, s.Client, s.Contract, s.Workspace)
		return err
	})
	if err != nil {
		return page, in, err
	}
	in, s.Workspace = list.WorkingIn, list.Workspace
	page, err = deploy.FindPage(list, s.Site)
	unknown, ok := errors.AsType[*deploy.UnknownSiteError](err)
	if !ok || unknown.Name != "" || len(unknown.Pages) == 0 || !s.Term.Interactive() {
		s.Site = page.SiteID
		return page, in, Error(err)
	}
	names := make([]string, len(list.Pages))
	for i, p := range list.Pages {
		names[i] = fmt.Sprintf("%s  %s", p.Name, p.Hostname)
	}
	n, err := s.Term.Choose(ctx, "Which site?", names, terminal.NoDefault)
	if err != nil {
		return page, in, err
	}
	page = list.Pages[n]
	s.Site = page.SiteID
	return page, in, s.SaveLink()
}
