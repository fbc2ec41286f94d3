package publish

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// Result is what `pages deploy` and `pages preview` print with --json.
type Result struct {
	OK         bool         `json:"ok"`
	State      string       `json:"state"` // done, unchanged, preview
	URL        string       `json:"url"`
	Revision   string       `json:"revision"`
	ServingNow *bool        `json:"serving_now,omitempty"`
	At         string       `json:"at,omitempty"`
	ID         string       `json:"id,omitempty"` // of a preview link
	ExpiresAt  string       `json:"expires_at,omitempty"`
	SiteID     string       `json:"site_id"`
	Workspace  string       `json:"workspace"`
	Plan       *deploy.Plan `json:"plan,omitempty"`
}

// printResult prints a result: stdout is the address.
func printResult(s *remote.Session, outcome string, r Result) {
	s.Term.Progress("%s", wording.Printable(outcome))
	if !s.Term.JSON {
		fmt.Fprintln(s.Term.Stdout, wording.Printable(r.URL))
		return
	}
	r.OK, r.SiteID, r.Workspace = true, s.Site, s.Workspace
	s.Term.PrintJSON(r)
}

// Preview makes a link that shows a revision, "" for the newest, and prints it.
func Preview(ctx context.Context, s *remote.Session, revision string, expires time.Duration) error {
	outcome, result, err := makePreview(ctx, s, revision, expires)
	if err == nil {
		printResult(s, outcome, result)
	}
	return err
}

func makePreview(ctx context.Context, s *remote.Session, revision string, expires time.Duration) (outcome string, r Result, err error) {
	made, err := s.Client.CreatePreviewLink(ctx, toolapi.PreviewLinkArgs{
		SiteID: toolapi.UUID(
			s.Site,
		), Revision: toolapi.Name(revision), ExpiresInSeconds: toolapi.PreviewSeconds(expires / time.Second), Scope: s.Scope(),
	})
	if err != nil {
		return "", r, remote.CommandError(err)
	}
	outcome = fmt.Sprintf("whoever has the link sees revision %s until %s; take it back with pages preview revoke %s",
		made.Revision, made.ExpiresAt, wording.ShellWord(made.ID))
	return outcome, Result{State: "preview", URL: made.URL, Revision: made.Revision, ID: made.ID, ExpiresAt: made.ExpiresAt}, nil
}

// serving asks again what a page shows, and whether its address answers.
func serving(ctx context.Context, s *remote.Session, page toolapi.Page) (toolapi.Page, bool, error) {
	list, err := deploy.Pages(ctx, s.Client, s.Contract, s.Workspace)
	if err != nil {
		return page, false, remote.Error(err)
	}
	if page, err = deploy.FindPage(list, page.SiteID); err != nil {
		return page, false, remote.Error(err)
	}
	domains, err := client.Run(ctx, s.Client, s.Contract.DomainList, toolapi.NoArgs{Scope: s.Scope()})
	now := slices.ContainsFunc(domains.Domains, func(d toolapi.Domain) bool { return d.Hostname == page.Hostname && d.ServingNow })
	return page, now, remote.Error(err)
}
