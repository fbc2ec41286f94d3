package main

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file shows a person what a proposal would change for visitors: the plan that
// `pages deploy` shows, of a revision that is uploaded already.

// showChanges shows what a revision that is to go live changes. It is only told: what
// cannot be read now keeps nobody from going ahead.
func (r *remote) showChanges(ctx context.Context, p *deploy.Proposal) {
	if r.term.JSON || r.term.Quiet {
		return
	}
	plan, err := r.changes(ctx, p)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.term.Progress("%s what it changes cannot be shown: %s", r.term.Paint("33", "note:"), wording.Printable(failure.Reason(err)))
	case plan != nil:
		r.printPlan(r.term.Stderr, plan)
	}
}

// changes compares the revision of a proposal with what is live; nil when the proposal
// is about none, has expired, or names what is live already.
func (r *remote) changes(ctx context.Context, p *deploy.Proposal) (*deploy.Plan, error) {
	var args struct {
		SiteID    string `json:"site_id"`
		Revision  string `json:"revision"`
		Workspace string `json:"workspace"`
	}
	switch p.Tool {
	case r.contract.Publish.Name, r.contract.Rollback.Name, r.contract.SchedulePublish.Name:
	default:
		return nil, nil //nolint:nilnil // as was said
	}
	if err := json.Unmarshal(p.Arguments, &args); err != nil {
		return nil, err
	}
	revision := cmp.Or(p.Revision, args.Revision)
	if revision == "" || !p.Expires.IsZero() && p.Expires.Before(r.term.Now()) {
		return nil, nil //nolint:nilnil // as was said
	}
	ctx, cancel := context.WithTimeout(ctx, sinceTime)
	defer cancel()
	d := &deploy.Deployer{Client: r.client, Contract: r.contract, Workspace: cmp.Or(args.Workspace, p.Workspace), Site: args.SiteID, Version: version, Now: r.term.Now}
	live, err := d.Look(ctx)
	if err != nil || live.Revision == revision {
		return nil, err
	}
	b, err := d.Uploaded(ctx, revision)
	if err != nil {
		return nil, err
	}
	plan, err := deploy.Compare(live, b)
	return &plan, err
}
