package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file keeps proposals until a person confirms them.

// CodeOutstanding is the code of the failure of a proposal that waits for a person.
const CodeOutstanding = "confirmation-outstanding"

// folder is where proposals of this site are kept.
func (p *Proposer) folder() (string, error) {
	if p.Session.Dir != "" {
		return localstate.InPagesFolder(p.Session.Dir, "proposals")
	}
	return p.settingsFolder(), nil
}

// settingsFolder is where proposals are kept that cannot be kept beside a site.
func (p *Proposer) settingsFolder() string {
	return filepath.Join(p.Session.Term.ConfigDir, "pages", "proposals")
}

// keep keeps a proposal beside the site, or else in the user's settings. Where neither can be written, the line that confirms says
// all that the proposal does.
func (p *Proposer) keep(proposal *deploy.Proposal) {
	t := p.Session.Term
	beside, err := p.folder()
	if err == nil {
		err = proposal.Keep(beside)
	}
	if err == nil {
		return
	}
	other := err
	if t.ConfigDir != "" {
		other = proposal.Keep(p.settingsFolder())
	}
	if other == nil {
		t.Progress(
			"%s the proposal cannot be kept beside the site (%s); it is kept in your settings",
			t.Paint("33", "note:"),
			failure.Reason(err),
		)
		return
	}
	p.unkept = proposal.ID
	t.Progress("%s the proposal cannot be kept: %s", t.Paint("33", "note:"), failure.Reason(err))
}

// read finds a kept proposal; nil when there is none.
func (p *Proposer) read(id, from string) (*deploy.Proposal, error) {
	if from != "" {
		proposal, err := deploy.ReadProposal(p.Session.Term.Path(from))
		if err == nil && !strings.EqualFold(proposal.ID, id) {
			err = fmt.Errorf("%s holds the proposal %s", from, proposal.ID)
		}
		if err != nil {
			return nil, &failure.Error{Exit: failure.ExitRefused, Code: "bad-proposal", Message: err.Error(), Err: err}
		}
		return proposal, nil
	}
	var unreadable error
	beside, err := p.folder()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{beside, p.settingsFolder()} {
		proposal, err := deploy.Kept(dir, strings.ToLower(id))
		if err == nil {
			return proposal, nil
		}
		if unreadable == nil && !errors.Is(err, fs.ErrNotExist) {
			unreadable = &failure.Error{
				Exit:    failure.ExitRefused,
				Code:    "bad-proposal",
				Message: err.Error(),
				Fix:     "propose again",
				Err:     err,
			}
		}
	}
	return nil, unreadable // the call may be spelled out
}

// confirmHere is the command that confirms a proposal where this one was run. It names the site, which keeps the proposal, unless it
// is the one that is found there anyway.
func (p *Proposer) confirmHere(proposal *deploy.Proposal) string {
	line := "pages confirm " + proposal.ID
	if p.unkept == proposal.ID {
		line = confirmAnywhere(proposal)
	}
	if dir := p.Session.Dir; dir != "" && p.NearestDir != dir {
		line += " -C " + wording.ShellWord(p.Session.Term.Shown(dir))
	}
	return line
}

// confirmAnywhere is the command that confirms a proposal also where it is not kept.
func confirmAnywhere(proposal *deploy.Proposal) string {
	return "pages confirm " + proposal.ID + " " + wording.ShellWord(proposal.Tool) + " " + wording.ShellArguments(proposal.Arguments)
}

// outstanding is the failure of a proposal that waits for its confirmation.
func (p *Proposer) outstanding(proposal *deploy.Proposal, standing string) error {
	here := p.confirmHere(proposal)
	return &failure.Error{
		Exit: failure.ExitPerson, Code: CodeOutstanding, Message: standing, Fix: here,
		Detail: &failure.Detail{
			State: string(
				toolapi.ConfirmationRequired,
			), Confirm: here, ConfirmationID: proposal.ID, Summary: wording.Printable(proposal.Summary),
			Expires: proposal.Expires.UTC().Format(time.RFC3339), Elsewhere: confirmAnywhere(proposal),
		},
	}
}

// printConfirmLine prints the line that confirms on stdout, for scripts.
func (p *Proposer) printConfirmLine(err error) {
	if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == CodeOutstanding && !p.Session.Term.JSON {
		fmt.Fprintln(p.Session.Term.Stdout, f.Detail.Confirm)
	}
}

// PrintOutstanding prints for people how an outstanding proposal is confirmed.
func PrintOutstanding(t *terminal.Terminal, f *failure.Error) {
	fmt.Fprintf(t.Stderr, "%s %s\n", t.Paint("33;1", "proposed:"), f.Detail.Summary)
	fmt.Fprintf(
		t.Stderr,
		"%s. To confirm it, run as a member, by %s:\n\n  %s\n\n",
		f.Message,
		f.Detail.Expires,
		t.Paint("1", f.Detail.Confirm),
	)
	fmt.Fprintf(t.Stderr, "or on another machine:\n\n  %s\n", f.Detail.Elsewhere)
}
