package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// publish proposes the revision, and takes it to a person.
func (d *deployment) publish(ctx context.Context, base toolapi.BaseRevision) error {
	p, err := d.to.ProposePublish(ctx, d.revision, base)
	if err != nil {
		return remoteError(err)
	}
	if p == nil {
		return d.alreadyLive(ctx)
	}
	a, err := d.settle(ctx, p)
	if deploy.Stale(err) {
		return d.stale(ctx)
	}
	if err != nil {
		return err
	}
	var said toolapi.Publish
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return err
	}
	d.url = d.client.SiteURL(said.Hostname)
	d.outcome = deploy.Serving(d.url+" with revision "+said.Revision, &said.Revision, said.ServingNow)
	return d.finish(finished{State: string(said.State), Revision: said.Revision, ServingNow: &said.ServingNow, Plan: d.planned})
}

// settle takes a proposal to a person.
func (d *deployment) settle(ctx context.Context, p *deploy.Proposal) (client.Answer, error) {
	d.proposal = p
	if d.proposalOut != "" {
		text, err := json.MarshalIndent(p, "", "  ")
		if err == nil {
			err = writePrivate(d.term.Path(d.proposalOut), append(text, '\n'))
		}
		if err != nil {
			return client.Answer{}, failure.Resource("proposal-unwritable", d.proposalOut+" cannot be written", "give a file that you may write to", err)
		}
	}
	a, err := d.decide(ctx, p, d.proposeOnly)
	d.printConfirm(err)
	return a, err
}

// stale is a confirmation that came too late: another deploy was faster. One of the same
// bundle has done what was asked for.
func (d *deployment) stale(ctx context.Context) error {
	live, err := d.to.Look(ctx)
	if err != nil {
		return remoteError(err)
	}
	if live.Revision == d.revision {
		return d.alreadyLive(ctx)
	}
	return remoteError(&deploy.ConflictError{Live: live.Revision})
}

// schedule proposes the revision for later.
func (d *deployment) schedule(ctx context.Context) error {
	p, err := d.to.ProposeSchedule(ctx, d.revision, d.at)
	if err != nil || p == nil {
		return commandError(err)
	}
	a, err := d.settle(ctx, p)
	if err != nil {
		return err
	}
	var said toolapi.SchedulePublish
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return err
	}
	d.url, d.outcome = d.client.SiteURL(said.Hostname), scheduled(said)
	return d.finish(finished{State: string(said.State), Revision: said.Revision, At: said.At, Plan: d.planned})
}

// makePreview makes a link that shows the revision.
func (d *deployment) makePreview(ctx context.Context, revision string) error {
	made, err := d.client.CreatePreviewLink(ctx, toolapi.PreviewLinkArgs{
		SiteID: toolapi.UUID(d.site), Revision: toolapi.Name(revision), ExpiresInSeconds: previewSeconds(d.expires), Scope: d.scope(),
	})
	if err != nil {
		return commandError(err)
	}
	d.url = made.URL
	d.outcome = fmt.Sprintf("whoever has the link sees revision %s until %s; take it back with pages preview revoke %s", made.Revision, made.ExpiresAt, wording.ShellWord(made.ID))
	return d.finish(finished{State: "preview", Revision: made.Revision, ID: made.ID, ExpiresAt: made.ExpiresAt, Plan: d.planned})
}

// alreadyLive says what is served of a page that shows the bundle.
func (d *deployment) alreadyLive(ctx context.Context) error {
	page, now, err := d.serving(ctx, d.page)
	if err != nil {
		return err
	}
	d.url = d.client.SiteURL(page.Hostname)
	d.outcome = "nothing is new: " + deploy.Serving(d.url, page.LiveRevision, now)
	doc := finished{State: "unchanged", ServingNow: &now, Plan: d.planned}
	if page.LiveRevision != nil {
		doc.Revision = *page.LiveRevision
	}
	return d.finish(doc)
}
