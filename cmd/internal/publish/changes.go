package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file shows a person what a proposal would change for visitors: the plan that `pages deploy` shows, of a revision that is
// uploaded already.

// showChanges shows what a revision that is to go live changes. An error is only told: it keeps nobody from going ahead.
func (p *Proposer) showChanges(ctx context.Context, proposal *deploy.Proposal) {
	t := p.Session.Term
	if t.JSON || t.Quiet {
		return
	}
	plan, err := p.changes(ctx, proposal)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.Progress("%s what it changes cannot be shown: %s", t.Paint("33", "note:"), wording.Printable(failure.Reason(err)))
	case plan != nil:
		PrintPlan(t, t.Stderr, plan)
	}
}

// changes compares the revision of a proposal with what is live; nil when the proposal is about none, has expired, or names what is
// live already.
func (p *Proposer) changes(ctx context.Context, proposal *deploy.Proposal) (*deploy.Plan, error) {
	s := p.Session
	var args struct {
		SiteID    string `json:"site_id"`
		Revision  string `json:"revision"`
		Workspace string `json:"workspace"`
	}
	if !slices.Contains([]string{s.Contract.Publish.Name, s.Contract.Rollback.Name, s.Contract.SchedulePublish.Name}, proposal.Tool) {
		return nil, nil //nolint:nilnil // the comment above says when
	}
	if err := json.Unmarshal(proposal.Arguments, &args); err != nil {
		return nil, err
	}
	revision := cmp.Or(proposal.Revision, args.Revision)
	if revision == "" || !proposal.Expires.IsZero() && proposal.Expires.Before(s.Term.Now()) {
		return nil, nil //nolint:nilnil // the comment above says when
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	d := &deploy.Deployer{
		Client: s.Client, Contract: s.Contract, Workspace: cmp.Or(args.Workspace, proposal.Workspace), Site: args.SiteID,
		Version: s.Version,
		Now:     s.Term.Now,
	}
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
