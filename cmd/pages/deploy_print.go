package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// finished is what `pages deploy` and `pages rollback` print with --json.
type finished struct {
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

// finish prints the result: stdout is the address.
func (d *deployment) finish(doc finished) error {
	d.term.Progress("%s", wording.Printable(d.outcome))
	if !d.term.JSON {
		fmt.Fprintln(d.term.Stdout, wording.Printable(d.url))
		return nil
	}
	doc.OK, doc.URL, doc.SiteID, doc.Workspace = true, d.url, d.site, d.workspace
	d.term.PrintJSON(doc)
	return nil
}

// sent says what an upload took.
func (d *deployment) sent(p *deploy.Progress) string {
	return fmt.Sprintf("%s (%s; %d there already)", wording.Count(int(p.BlobsStored.Load()), "file"), wording.Size(p.BytesSent.Load()), p.Had.Load())
}

// scheduled words a schedule, as the answer has it.
func scheduled(p toolapi.SchedulePublish) string {
	at := p.At
	if t, err := time.Parse(time.RFC3339Nano, p.At); err == nil {
		at = t.Format(longTime)
	}
	if p.Replaced {
		return fmt.Sprintf("revision %s is scheduled for %s, instead of what was scheduled before", p.Revision, at)
	}
	return fmt.Sprintf("revision %s is scheduled for %s", p.Revision, at)
}

// serving asks again what a page shows, and whether its address answers.
func (r *remote) serving(ctx context.Context, page toolapi.Page) (toolapi.Page, bool, error) {
	list, err := deploy.Pages(ctx, r.client, r.contract, r.workspace)
	if err != nil {
		return page, false, remoteError(err)
	}
	if page, err = deploy.FindPage(list, page.SiteID); err != nil {
		return page, false, remoteError(err)
	}
	domains, err := client.Run(ctx, r.client, r.contract.DomainList, toolapi.NoArgs{Scope: r.scope()})
	now := slices.ContainsFunc(domains.Domains, func(d toolapi.Domain) bool { return d.Hostname == page.Hostname && d.ServingNow })
	return page, now, remoteError(err)
}
