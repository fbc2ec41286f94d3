// Package publish changes the published site: it plans, sends, proposes, and asks a person to confirm.
//
// Input: a session, a built site and options. Output: reports, printed on the session's terminal, and a *failure.Error with the line that
// confirms a pending proposal. An interrupted deploy resumes when it is run again; a confirmation whose response is lost can be repeated,
// and takes effect once. After a signal, it prints the state before it returns the error. A Proposer is for one goroutine.
//
// It confirms only with a person's consent, and reports a revision as live only if the service does.
package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// CodeOutstanding is the code of the failure for a proposal that waits for a person.
const CodeOutstanding = "confirmation-outstanding"

// Proposer asks a person to confirm proposals.
type Proposer struct {
	Session *remote.Session
	// NearestDir is the site's folder that a command finds by itself; "" for none. A command that confirms names any other folder.
	NearestDir  string
	ProposeOnly bool // never ask
	// Command is the beginning of the command that proposes again, for a fix; "" for none.
	Command string

	stopPrinted  bool     // the state after a signal was printed
	unsaved      string   // the id of a proposal that could not be saved
	restoreShown []string // lines of the proposed restore, as they were printed
}

// Propose proposes a call of a two-call tool, asks a person to confirm it, and prints the result.
func (p *Proposer) Propose(ctx context.Context, tool string, arguments any) error {
	s := p.Session
	body, err := json.Marshal(arguments)
	if err != nil {
		return err
	}
	proposal, resp, err := deploy.Propose(ctx, s.Client, tool, body, s.Term.Now())
	if refused, ok := errors.AsType[*client.RefusalError](err); ok && len(refused.Refusal.DataLoss) > 0 {
		allowed, failed := nameLosses(ctx, s.Term, refused.Refusal.DataLoss, allowedIn(body), !p.ProposeOnly, p.namingSite(p.Command))
		if failed != nil {
			return failed
		}
		if body, err = toolcall.SetField(body, "allow_data_loss", allowed); err != nil {
			return err
		}
		proposal, resp, err = deploy.Propose(ctx, s.Client, tool, body, s.Term.Now())
	}
	if err != nil {
		return remote.CommandError(err)
	}
	if proposal != nil {
		p.printChanges(ctx, proposal, false)
		if resp, err = p.decide(ctx, proposal); err != nil {
			p.printConfirmLine(err)
			return err
		}
	}
	return p.reportCall(tool, resp)
}

// decide asks a person to confirm a proposal: at a terminal it asks, elsewhere it ends with failure.ExitPerson. It saves the proposal in
// either case, so that a confirmation whose response is lost can be repeated; it takes effect once.
func (p *Proposer) decide(ctx context.Context, proposal *deploy.Proposal) (client.Response, error) {
	t := p.Session.Term
	p.save(proposal)
	if p.ProposeOnly || !t.Interactive() {
		return client.Response{}, p.outstandingError(proposal, "nothing has changed yet")
	}
	fmt.Fprintf(t.Stderr, "%s\n", wording.Printable(proposal.Summary))
	yes, err := t.Agree(ctx, t.Paint("1", "Go ahead?"))
	switch {
	case ctx.Err() != nil:
		p.printStopped("\nnothing has changed; to confirm it until %s: %s",
			proposal.Expires.UTC().Format(time.RFC3339), p.confirmHere(proposal))
		return client.Response{}, context.Cause(ctx)
	case err != nil || !yes:
		return client.Response{}, p.outstandingError(proposal, "not confirmed, and nothing has changed")
	}
	resp, err := p.confirm(ctx, proposal)
	if deploy.NeedsMember(err) {
		return resp, p.outstandingError(proposal, "nothing has changed yet: a service account can propose, but cannot confirm")
	}
	return resp, remote.CommandError(err)
}

// confirm makes the second call. Without a response it is unknown whether the call took effect; a repeated call shows it.
func (p *Proposer) confirm(ctx context.Context, proposal *deploy.Proposal) (client.Response, error) {
	resp, err := proposal.Confirm(ctx, p.Session.Client)
	what := wording.Printable(cmp.Or(proposal.Summary, proposal.Tool))
	switch {
	case err == nil || deploy.NeedsMember(err):
		return resp, err
	case ctx.Err() != nil:
		p.printStopped("\nstopped; it is unknown whether this took effect: %s\n"+
			"run %s: it takes effect only once, even if it is confirmed again",
			what, p.confirmHere(proposal))
		return resp, context.Cause(ctx)
	case isResponseLost(err):
		return resp, &failure.Error{
			Exit: failure.ExitResume, Code: "answer-lost",
			Message: fmt.Sprintf("it is unknown whether this took effect: %s (%s)", what, wording.Printable(err.Error())),
			Fix:     "run " + p.confirmHere(proposal) + ": it takes effect only once, even if it is confirmed again", Err: err,
			Detail: &failure.Detail{ConfirmationID: proposal.ID, Confirm: p.confirmHere(proposal)},
		}
	}
	return resp, err
}

// isResponseLost reports whether a call may have taken effect without a response.
func isResponseLost(err error) bool {
	if lost, ok := errors.AsType[*client.TransportError](err); ok {
		return lost.Reached
	}
	if unclear, ok := errors.AsType[*client.ContractError](err); ok {
		return unclear.Status < http.StatusMultipleChoices
	}
	refused, ok := errors.AsType[*client.StatusError](err)
	return ok && refused.Status >= http.StatusInternalServerError
}

// printStopped prints the state after a signal, once.
func (p *Proposer) printStopped(format string, args ...any) {
	if !p.stopPrinted {
		fmt.Fprintf(p.Session.Term.Stderr, format+"\n", args...)
	}
	p.stopPrinted = true
}

// siteFolder returns the folder in which the proposals of this site are saved.
func (p *Proposer) siteFolder() (string, error) {
	if p.Session.Dir != "" {
		return localstate.InPagesFolder(p.Session.Dir, "proposals")
	}
	return p.settingsFolder(), nil
}

func (p *Proposer) settingsFolder() string {
	return filepath.Join(p.Session.Term.ConfigDir, "pages", "proposals")
}

// save saves a proposal beside the site, or else in the user's settings. If neither can be written, the command that confirms has the whole
// proposal.
func (p *Proposer) save(proposal *deploy.Proposal) {
	t := p.Session.Term
	beside, err := p.siteFolder()
	if err == nil {
		err = proposal.Save(beside)
	}
	if err == nil {
		return
	}
	other := err
	if t.ConfigDir != "" {
		other = proposal.Save(p.settingsFolder())
	}
	if other == nil {
		t.Progress("%s the proposal cannot be kept beside the site (%s); it is kept in your settings",
			t.Paint("33", "note:"), failure.Reason(err))
		return
	}
	p.unsaved = proposal.ID
	t.Progress("%s the proposal cannot be kept: %s", t.Paint("33", "note:"), failure.Reason(err))
}

// load finds a saved proposal, in the file from if one is named; nil if there is none.
func (p *Proposer) load(id, from string) (*deploy.Proposal, error) {
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
	beside, err := p.siteFolder()
	if err != nil {
		return nil, err
	}
	var unreadable error
	for _, dir := range []string{beside, p.settingsFolder()} {
		proposal, err := deploy.LoadProposal(dir, strings.ToLower(id))
		if err == nil {
			return proposal, nil
		}
		if unreadable == nil && !errors.Is(err, fs.ErrNotExist) {
			unreadable = &failure.Error{
				Exit: failure.ExitRefused, Code: "bad-proposal", Message: err.Error(), Fix: "propose again", Err: err,
			}
		}
	}
	return nil, unreadable // the command line may have the whole call
}

// confirmHere is the command that confirms a proposal on this machine. It names the site whose folder has the proposal, unless pages
// confirm finds that site anyway.
func (p *Proposer) confirmHere(proposal *deploy.Proposal) string {
	line := "pages confirm " + proposal.ID
	if p.unsaved == proposal.ID {
		line = confirmAnywhere(proposal)
	} else {
		line += lossFlags(toolapi.LosingTables(toolapi.UnallowedLosses(proposal.DataLoss, nil)))
	}
	return p.namingSite(line)
}

// namingSite makes a command name the site's folder, unless pages finds that site anyway.
func (p *Proposer) namingSite(line string) string {
	if dir := p.Session.Dir; dir != "" && p.NearestDir != dir {
		line += " -C " + wording.ShellWord(p.Session.Term.Shown(dir))
	}
	return line
}

// confirmAnywhere is the command that confirms a proposal, even without the saved file.
func confirmAnywhere(proposal *deploy.Proposal) string {
	return "pages confirm " + proposal.ID + " " + wording.ShellWord(proposal.Tool) + " " + wording.ShellArguments(proposal.Arguments)
}

// outstandingError is the failure for a proposal that waits for its confirmation.
func (p *Proposer) outstandingError(proposal *deploy.Proposal, standing string) error {
	here := p.confirmHere(proposal)
	return &failure.Error{
		Exit: failure.ExitPerson, Code: CodeOutstanding, Message: standing, Fix: here,
		Detail: &failure.Detail{
			State: string(toolapi.ConfirmationRequired), Confirm: here, ConfirmationID: proposal.ID,
			Summary: wording.Printable(proposal.Summary), Expires: proposal.Expires.UTC().Format(time.RFC3339),
			Elsewhere: confirmAnywhere(proposal), DataLoss: proposal.DataLoss, Rehearsal: proposal.Rehearsal,
		},
	}
}

// printConfirmLine prints the command that confirms on stdout, for scripts.
func (p *Proposer) printConfirmLine(err error) {
	if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == CodeOutstanding && !p.Session.Term.JSON {
		fmt.Fprintln(p.Session.Term.Stdout, f.Detail.Confirm)
	}
}

// PrintOutstanding prints for people how to confirm an outstanding proposal.
func PrintOutstanding(t *terminal.Terminal, f *failure.Error) {
	fmt.Fprintf(t.Stderr, "%s %s\n", t.Paint("33;1", "proposed:"), f.Detail.Summary)
	fmt.Fprintf(t.Stderr, "%s. To confirm it, run as a member, by %s:\n\n  %s\n\n",
		f.Message, f.Detail.Expires, t.Paint("1", f.Detail.Confirm))
	fmt.Fprintf(t.Stderr, "or on another machine:\n\n  %s\n", f.Detail.Elsewhere)
}

// printChanges prints the changes of a proposal for visitors: the plan of `pages deploy`, of a revision that is uploaded already; with now,
// it rehearses the migrations once more. It returns the data losses of the plan, or else of the proposal. It prints an error and continues:
// a person can still confirm the proposal.
func (p *Proposer) printChanges(ctx context.Context, proposal *deploy.Proposal, now bool) []toolapi.DataLoss {
	t := p.Session.Term
	if t.JSON || t.Quiet {
		return proposal.DataLoss
	}
	if proposal.Tool == p.Session.Contract.RestoreData.Name {
		p.printRestore(proposal.Migrated)
		return proposal.DataLoss
	}
	plan, err := p.plan(ctx, proposal, now)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.Progress("%s what it changes cannot be shown: %s", t.Paint("33", "note:"), wording.Printable(failure.Reason(err)))
	case plan != nil:
		PrintPlan(t, t.Stderr, plan)
		if plan.Rehearsal.State != toolapi.RehearsalSkipped {
			return plan.DataLoss
		}
	}
	return proposal.DataLoss
}

// lookTimeout bounds the wait of a confirmation for the live state, and rehearsalTimeout the one for a rehearsal.
const (
	lookTimeout      = 5 * time.Second
	rehearsalTimeout = time.Minute
)

// plan compares the revision of a proposal with the live one. It returns nil if the proposal has no revision, has expired, or names
// the live revision.
func (p *Proposer) plan(ctx context.Context, proposal *deploy.Proposal, now bool) (*deploy.Plan, error) {
	s := p.Session
	var args struct {
		SiteID    string `json:"site_id"`
		Revision  string `json:"revision"`
		Workspace string `json:"workspace"`
		Force     bool   `json:"force"`
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
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	d := &deploy.Deployer{
		Client: s.Client, Contract: s.Contract, Workspace: cmp.Or(args.Workspace, proposal.Workspace), Site: args.SiteID,
		Version: s.Version, Now: s.Term.Now,
	}
	live, err := d.Look(looking)
	if err != nil || live.Revision == revision {
		return nil, err
	}
	b, err := d.Uploaded(looking, revision)
	if err != nil {
		return nil, err
	}
	plan, err := deploy.Compare(live, b)
	switch {
	case err != nil:
		return nil, err
	case now:
		ctx, cancel := context.WithTimeout(ctx, rehearsalTimeout)
		defer cancel()
		if failed := d.RehearseRevision(ctx, revision, args.Force, &plan); failed != nil {
			plan.Rehearsal = toolapi.NewRehearsal(toolapi.RehearsalSkipped, reasonOf(failed))
		}
	case proposal.Rehearsal != nil:
		plan.DataLoss, plan.Rehearsal = proposal.DataLoss, *proposal.Rehearsal
	}
	return &plan, nil
}

// reasonOf returns the reason of a failed call, as the end of a sentence.
func reasonOf(err error) string {
	if refused, ok := errors.AsType[*client.RefusalError](err); ok {
		return strings.TrimSuffix(refused.Refusal.Message, ".")
	}
	return failure.Reason(err)
}

// allowedIn returns the tables that the arguments of a call allow to lose rows.
func allowedIn(arguments json.RawMessage) toolapi.TableNames {
	var args struct {
		Allowed toolapi.TableNames `json:"allow_data_loss"`
	}
	if json.Unmarshal(arguments, &args) != nil {
		return nil // the service reports the error
	}
	return args.Allowed
}
