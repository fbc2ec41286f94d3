package publish

import (
	"context"
	"fmt"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// ConfirmOptions are those of `pages confirm`.
type ConfirmOptions struct {
	Remote     remote.Options
	NearestDir string
	ID         string
	From       string   // the file of the proposal, "" for where proposals are kept
	Words      []string // the tool and its arguments, for a proposal that is not kept here
}

// Confirm confirms a proposal, and prints what it did.
func Confirm(ctx context.Context, o ConfirmOptions) error {
	if !deploy.ValidID(o.ID) {
		return failure.Usage("the confirmation id is %q; it looks like 123e4567-e89b-42d3-a456-426614174000", o.ID)
	}
	t := o.Remote.Term
	p := &Proposer{Session: &remote.Session{Term: t, Dir: o.Remote.Dir}, NearestDir: o.NearestDir}
	proposal, err := p.read(o.ID, o.From)
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
		if proposal, err = p.spelledOut(ctx, o.ID, o.Words); err != nil {
			return err
		}
	case proposal == nil:
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-proposal", Message: fmt.Sprintf("the proposal %s is not kept here", o.ID),
			Fix: "name its file with --from, or the tool and its arguments: pages confirm " + o.ID + " page.publish site_id=…",
		}
	case proposal.BaseURL != p.Session.Client.BaseURL():
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "other-service",
			Message: fmt.Sprintf("this was proposed to %s, and the service here is %s", proposal.BaseURL, p.Session.Client.BaseURL()),
			Fix:     "confirm it there: PAGES_BASE_URL=" + wording.ShellWord(proposal.BaseURL),
		}
	}
	if proposal.Summary != "" {
		t.Progress("%s", wording.Printable(proposal.Summary))
	}
	p.showChanges(ctx, proposal)
	a, err := p.perform(ctx, proposal)
	if err != nil {
		return remote.CommandError(err)
	}
	if now := p.changedSince(ctx, proposal.Tool, a); now != "" {
		return p.reportRepeated(a, now)
	}
	return p.reportCall(proposal.Tool, a)
}

// spelledOut makes a proposal of a tool and its arguments.
func (p *Proposer) spelledOut(ctx context.Context, id string, words []string) (*deploy.Proposal, error) {
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
