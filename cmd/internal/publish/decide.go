package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// Propose takes a call of a two-call tool to a person, and prints what was done.
func (p *Proposer) Propose(ctx context.Context, tool string, arguments any) error {
	s := p.Session
	body, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	proposal, a, err := deploy.Propose(ctx, s.Client, tool, body, s.Term.Now())
	if err != nil {
		return remote.CommandError(err)
	}
	if proposal != nil {
		p.showChanges(ctx, proposal)
		if a, err = p.decide(ctx, proposal); err != nil {
			p.printConfirmLine(err)
			return err
		}
	}
	return p.reportCall(tool, a)
}

// decide takes a proposal to a person: it asks at a terminal, and elsewhere ends with failure.ExitPerson. The proposal is kept in
// either case, so that a confirmation whose answer is lost can be repeated, which performs it once.
func (p *Proposer) decide(ctx context.Context, proposal *deploy.Proposal) (client.Answer, error) {
	t := p.Session.Term
	p.keep(proposal)
	if p.ProposeOnly || !t.Interactive() {
		return client.Answer{}, p.outstanding(proposal, "nothing has changed yet")
	}
	fmt.Fprintf(t.Stderr, "%s\n", wording.Printable(proposal.Summary))
	yes, err := t.Agree(ctx, t.Paint("1", "Go ahead?"))
	switch {
	case ctx.Err() != nil:
		p.stopped(
			"\nnothing has changed; until %s this confirms it: %s",
			proposal.Expires.UTC().Format(time.RFC3339),
			p.confirmHere(proposal),
		)
		return client.Answer{}, context.Cause(ctx)
	case err != nil || !yes:
		return client.Answer{}, p.outstanding(proposal, "not confirmed, and nothing has changed")
	}
	a, err := p.perform(ctx, proposal)
	if deploy.NeedsMember(err) {
		return a, p.outstanding(proposal, "nothing has changed yet: a service account can propose and never confirm")
	}
	return a, remote.CommandError(err)
}

// perform makes the second call. Where its answer is missing, nobody knows whether it took effect, and repeating it tells.
func (p *Proposer) perform(ctx context.Context, proposal *deploy.Proposal) (client.Answer, error) {
	a, err := proposal.Confirm(ctx, p.Session.Client)
	what := wording.Printable(cmp.Or(proposal.Summary, proposal.Tool))
	switch {
	case err == nil || deploy.NeedsMember(err):
		return a, err
	case ctx.Err() != nil:
		p.stopped(
			"\nstopped, and it is not known whether this happened: %s\nrun %s: it happens once, however often it is confirmed",
			what,
			p.confirmHere(proposal),
		)
		return a, context.Cause(ctx)
	case isAnswerLost(err):
		return a, &failure.Error{
			Exit: failure.ExitResume, Code: "answer-lost",
			Message: fmt.Sprintf("it is not known whether this happened: %s (%s)", what, wording.Printable(err.Error())),
			Fix:     "run " + p.confirmHere(proposal) + ": it happens once, however often it is confirmed", Err: err,
			Detail: &failure.Detail{ConfirmationID: proposal.ID, Confirm: p.confirmHere(proposal)},
		}
	}
	return a, err
}

// isAnswerLost reports whether a call may have taken effect without saying so.
func isAnswerLost(err error) bool {
	if lost, ok := errors.AsType[*client.TransportError](err); ok {
		return lost.Reached
	}
	if unclear, ok := errors.AsType[*client.ContractError](err); ok {
		return unclear.Status < http.StatusMultipleChoices
	}
	refused, ok := errors.AsType[*client.StatusError](err)
	return ok && refused.Status >= http.StatusInternalServerError
}
