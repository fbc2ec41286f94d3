package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// decide takes a proposal to a person: it asks at a terminal, and elsewhere ends with
// exitPerson. The proposal is kept in either case, so that a confirmation whose answer
// is lost can be repeated, which performs it once.
func (r *remote) decide(ctx context.Context, p *deploy.Proposal, proposeOnly bool) (client.Answer, error) {
	r.keepProposal(p)
	if proposeOnly || !r.term.Interactive() {
		return client.Answer{}, r.outstanding(p, "nothing has changed yet")
	}
	fmt.Fprintf(r.term.Stderr, "%s\n", wording.Printable(p.Summary))
	yes, err := r.term.Agree(ctx, r.term.Paint("1", "Go ahead?"))
	switch {
	case ctx.Err() != nil:
		r.stopped("\nnothing has changed; until %s this confirms it: %s", p.Expires.UTC().Format(time.RFC3339), r.confirmHere(p))
		return client.Answer{}, context.Cause(ctx)
	case err != nil || !yes:
		return client.Answer{}, r.outstanding(p, "not confirmed, and nothing has changed")
	}
	a, err := r.perform(ctx, p)
	if deploy.NeedsMember(err) {
		return a, r.outstanding(p, "nothing has changed yet: a service account can propose and never confirm")
	}
	return a, commandError(err)
}

// keepProposal keeps a proposal beside the site, or else in the user's settings. Where neither can
// be written, the line that confirms says all that the proposal does.
func (r *remote) keepProposal(p *deploy.Proposal) {
	beside, err := r.proposals()
	if err == nil {
		err = p.Keep(beside)
	}
	if err == nil {
		return
	}
	other := err
	if r.term.ConfigDir != "" {
		other = p.Keep(r.ownProposals())
	}
	if other == nil {
		r.term.Progress("%s the proposal cannot be kept beside the site (%s); it is kept in your settings", r.term.Paint("33", "note:"), failure.Reason(err))
		return
	}
	r.unkept = p.ID
	r.term.Progress("%s the proposal cannot be kept: %s", r.term.Paint("33", "note:"), failure.Reason(err))
}

// perform makes the second call. Where its answer is missing, nobody knows whether it
// took effect, and repeating it tells.
func (r *remote) perform(ctx context.Context, p *deploy.Proposal) (client.Answer, error) {
	a, err := p.Confirm(ctx, r.client)
	switch {
	case err == nil || deploy.NeedsMember(err):
		return a, err
	case ctx.Err() != nil:
		r.stopped("\nstopped, and it is not known whether this happened: %s\nrun %s: it happens once, however often it is confirmed", wording.Printable(cmp.Or(p.Summary, p.Tool)), r.confirmHere(p))
		return a, context.Cause(ctx)
	case lostAnswer(err):
		return a, &failure.Error{
			Exit: failure.ExitResume, Code: "answer-lost", Message: fmt.Sprintf("it is not known whether this happened: %s (%s)", wording.Printable(cmp.Or(p.Summary, p.Tool)), wording.Printable(err.Error())),
			Fix: "run " + r.confirmHere(p) + ": it happens once, however often it is confirmed", Err: err, Detail: &failure.Detail{ConfirmationID: p.ID, Confirm: r.confirmHere(p)},
		}
	}
	return a, err
}

// stopped says what stands after a signal, once.
func (r *remote) stopped(format string, args ...any) {
	if !r.stopTold {
		fmt.Fprintf(r.term.Stderr, format+"\n", args...)
	}
	r.stopTold = true
}

// lostAnswer reports whether a call may have taken effect without saying so.
func lostAnswer(err error) bool {
	if lost, ok := errors.AsType[*client.TransportError](err); ok {
		return lost.Reached
	}
	if unclear, ok := errors.AsType[*client.ContractError](err); ok {
		return unclear.Status < http.StatusMultipleChoices
	}
	refused, ok := errors.AsType[*client.StatusError](err)
	return ok && refused.Status >= http.StatusInternalServerError
}

// confirmHere is the command that confirms a proposal where this one was run. It names
// the site, which keeps the proposal, unless it is the one that is found there anyway.
func (r *remote) confirmHere(p *deploy.Proposal) string {
	line := "pages confirm " + p.ID
	if r.unkept == p.ID {
		line = confirmAnywhere(p)
	}
	if near, err := r.nearest(); r.dir != "" && (err != nil || near != r.dir) {
		line += " -C " + wording.ShellWord(r.term.Shown(r.dir))
	}
	return line
}

// confirmAnywhere is the command that confirms a proposal also where it is not kept.
func confirmAnywhere(p *deploy.Proposal) string {
	return "pages confirm " + p.ID + " " + wording.ShellWord(p.Tool) + " " + spell(p.Arguments)
}

// outstanding is a proposal that waits for its confirmation.
func (r *remote) outstanding(p *deploy.Proposal, standing string) error {
	here := r.confirmHere(p)
	return &failure.Error{
		Exit: failure.ExitPerson, Code: idOutstanding, Message: standing, Fix: here,
		Detail: &failure.Detail{
			State: string(toolapi.ConfirmationRequired), Confirm: here, ConfirmationID: p.ID, Summary: wording.Printable(p.Summary), Expires: p.Expires.UTC().Format(time.RFC3339),
			Elsewhere: confirmAnywhere(p),
		},
	}
}

// printConfirm prints the line that confirms on stdout, for scripts.
func (c *cli) printConfirm(err error) {
	if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == idOutstanding && !c.term.JSON {
		fmt.Fprintln(c.term.Stdout, f.Detail.Confirm)
	}
}
