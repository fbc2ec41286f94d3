package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// ConfirmOptions are the options of `pages confirm`.
type ConfirmOptions struct {
	Remote     remote.Options
	NearestDir string
	ID         string
	From       string   // the file of the proposal; "" for the usual places
	Words      []string // the tool and its arguments, for a proposal that is not saved here
	// AllowLoss are the tables that may lose rows and values through the migrations.
	AllowLoss toolapi.TableNames
}

// Confirm confirms a proposal, and prints the result.
func Confirm(ctx context.Context, o ConfirmOptions) error {
	if !deploy.ValidID(o.ID) {
		return failure.Usage("the confirmation id is %q; it looks like 123e4567-e89b-42d3-a456-426614174000", o.ID)
	}
	t := o.Remote.Term
	p := &Proposer{Session: &remote.Session{Term: t, Dir: o.Remote.Dir}, NearestDir: o.NearestDir}
	proposal, err := p.load(o.ID, o.From)
	if err != nil && (o.From != "" || len(o.Words) == 0) {
		return err
	}
	if proposal != nil && o.Remote.BaseURL == "" && remote.HasLogin(t, proposal.BaseURL) {
		o.Remote.BaseURL = proposal.BaseURL
	}
	if p.Session, err = remote.Open(ctx, o.Remote); err != nil {
		return err
	}
	switch {
	case len(o.Words) > 0:
		if proposal, err = p.proposalOfWords(ctx, o.ID, o.Words); err != nil {
			return err
		}
	case proposal == nil:
		return failure.Refused("no-such-proposal", fmt.Sprintf("this machine has no proposal %s", o.ID),
			"name its file with --from, or the tool and its arguments: pages confirm "+o.ID+" page.publish site_id=…")
	case proposal.BaseURL != p.Session.Client.BaseURL():
		return failure.Refused("other-service",
			fmt.Sprintf("this was proposed to %s, and the service here is %s", proposal.BaseURL, p.Session.Client.BaseURL()),
			"confirm it there: PAGES_BASE_URL="+wording.ShellWord(proposal.BaseURL))
	}
	if proposal.Summary != "" {
		t.Progress("%s", wording.Printable(proposal.Summary))
	}
	lost := p.printChanges(ctx, proposal, true)
	allowed := o.AllowLoss
	if len(o.Words) > 0 { // this command line names them
		allowed = append(slices.Clip(allowed), allowedIn(proposal.Arguments)...)
	}
	if _, err := nameLosses(ctx, t, lost, allowed, true, p.namingSite("pages confirm "+o.ID)); err != nil {
		return addNeedless(err, allowed, lost)
	}
	resp, err := p.confirm(ctx, proposal)
	if err != nil {
		return remote.CommandError(err)
	}
	if now := p.changedSince(ctx, proposal.Tool, resp); now != "" {
		return p.reportRepeated(resp, now)
	}
	return p.reportCall(proposal.Tool, resp)
}

// proposalOfWords makes a proposal from a tool and its arguments.
func (p *Proposer) proposalOfWords(ctx context.Context, id string, words []string) (*deploy.Proposal, error) {
	s := p.Session
	info, err := toolcall.Find(ctx, s, words[0])
	if err != nil {
		return nil, err
	}
	if !info.TwoCalls {
		return nil, failure.Usage("%s takes one call; there is nothing to confirm", words[0])
	}
	arguments, err := toolcall.Arguments(ctx, s.Term, "", words[1:], info)
	if err == nil {
		arguments, err = toolcall.WithWorkspace(arguments, s.Workspace)
	}
	return &deploy.Proposal{ID: id, Tool: words[0], Arguments: arguments, BaseURL: s.Client.BaseURL()}, err
}

// changedSince describes in a sentence what has changed since the call was confirmed, because a repeated confirmation gets the response of
// the first one. It returns "" if nothing changed or the check failed.
func (p *Proposer) changedSince(ctx context.Context, tool string, resp client.Response) string {
	s := p.Session
	var done struct {
		Workspace string `json:"workspace"`
		SiteID    string `json:"site_id"`
		Hostname  string `json:"hostname"`
		Revision  string `json:"revision"`
		At        string `json:"at"`
	}
	if json.Unmarshal(resp.Body, &done) != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	switch tool {
	case s.Contract.Publish.Name, s.Contract.Rollback.Name, s.Contract.SchedulePublish.Name:
		list, err := deploy.Pages(ctx, s.Client, s.Contract, done.Workspace)
		if err != nil {
			return ""
		}
		page, err := deploy.FindPage(list, done.SiteID)
		switch {
		case err != nil:
			return "the site no longer exists"
		case tool == s.Contract.SchedulePublish.Name:
			return scheduleSince(page, done.Revision, done.At)
		case page.LiveRevision == nil:
			return "nothing is published there now"
		case *page.LiveRevision != done.Revision:
			return fmt.Sprintf("revision %s is published there now, and not %s", *page.LiveRevision, done.Revision)
		}
	case s.Contract.PointAtSite.Name, s.Contract.Connect.Name:
		scope := toolapi.Scope{Workspace: toolapi.Slug(done.Workspace)}
		list, err := client.Run(ctx, s.Client, s.Contract.DomainList, toolapi.NoArgs{Scope: scope})
		if err != nil {
			return ""
		}
		i := slices.IndexFunc(list.Domains, func(d toolapi.Domain) bool { return d.Hostname == done.Hostname })
		switch {
		case i < 0:
			return done.Hostname + " is not a domain of the workspace any more"
		case list.Domains[i].SiteID != done.SiteID:
			return done.Hostname + " points at " + list.Domains[i].SiteName + " now"
		}
	}
	return ""
}

func scheduleSince(page toolapi.Page, revision, at string) string {
	sameMoment := func(a, b string) bool { // they may have different offsets
		x, errX := time.Parse(time.RFC3339Nano, a)
		y, errY := time.Parse(time.RFC3339Nano, b)
		return errX == nil && errY == nil && x.Equal(y)
	}
	switch {
	case page.Schedule != nil && page.Schedule.Revision == revision && sameMoment(page.Schedule.At, at):
		return ""
	case page.Schedule != nil:
		return fmt.Sprintf("revision %s is scheduled for %s now", page.Schedule.Revision, page.Schedule.At)
	case page.LiveRevision != nil && *page.LiveRevision == revision:
		return fmt.Sprintf("nothing is scheduled any more: revision %s is published", revision)
	}
	return "nothing is scheduled any more"
}

// reportRepeated prints the result of an earlier confirmation of the call, and the state now.
func (p *Proposer) reportRepeated(resp client.Response, now string) error {
	t := p.Session.Term
	t.Progress("%s this was confirmed before, and took effect once: %s", t.Paint("33", "note:"), wording.Printable(now))
	var done struct {
		Hostname string `json:"hostname"`
		At       string `json:"at"` // of a schedule
	}
	if err := json.Unmarshal(resp.Body, &done); err != nil {
		return err
	}
	if t.JSON {
		toolcall.PrintResponse(t, resp.Body)
	} else {
		fmt.Fprintln(t.Stdout, wording.Printable(cmp.Or(done.At, p.Session.Client.SiteURL(done.Hostname))))
	}
	return nil
}
