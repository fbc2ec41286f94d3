package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// idOutstanding is the failure of a proposal that waits for a person.
const idOutstanding = "confirmation-outstanding"

func (c *cli) newConfirm() *cobra.Command {
	r := c.newRemote()
	var from string
	cmd := &cobra.Command{
		Use:   "confirm ID [TOOL KEY=VALUE…]",
		Short: "Confirm what was proposed: it then happens",
		Long: "Confirm what was proposed: it then happens. The call repeats the arguments of the\nproposal, which the proposing command kept beside the site, or in your settings.\n" +
			"On another machine, name its file with --from, or the tool and its arguments.\n\n" +
			"Typing this command is the go-ahead: nothing is asked. A service account can propose\nand never confirm. What was confirmed before is not done again; what has become of it\nmeanwhile is told.\n\n" +
			"Exit codes: 0 done, 1 there is no such proposal here, 2 wrong usage, " + remoteExit + "\n75 no answer came to the confirmation: confirm it again.",
		Example: "  pages confirm 123e4567-e89b-42d3-a456-426614174000\n  pages confirm ID --from confirmation.json\n  pages confirm ID page.publish site_id=… revision=…",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.confirm(cmd.Context(), args[0], args[1:], from)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&from, "from", "", "`file` of the proposal, as --confirmation-out wrote it")
	return cmd
}

func (r *remote) confirm(ctx context.Context, id string, args []string, from string) error {
	if !deploy.ValidID(id) {
		return usageError("the confirmation id is %q; it looks like 123e4567-e89b-42d3-a456-426614174000", id)
	}
	r.dir, _ = r.find(nil) // proposals are kept beside the site, if there is one
	p, err := r.kept(id, from)
	if err != nil && (from != "" || len(args) == 0) {
		return err
	}
	if p != nil && r.baseURL == "" && (isLocal(p.BaseURL) || r.credentials().has(p.BaseURL)) {
		r.baseURL = p.BaseURL
	}
	if err := r.open(ctx, r.dir); err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		if p, err = r.spelledOut(ctx, id, args); err != nil {
			return err
		}
	case p == nil:
		return &failure{
			code: exitRefused, id: "no-such-proposal", msg: fmt.Sprintf("the proposal %s is not kept here", id),
			fix: "name its file with --from, or the tool and its arguments: pages confirm " + id + " page.publish site_id=…",
		}
	case p.BaseURL != r.client.BaseURL():
		return &failure{code: exitRefused, id: "other-service", msg: fmt.Sprintf("this was proposed to %s, and the service here is %s", p.BaseURL, r.client.BaseURL()), fix: "confirm it there: PAGES_BASE_URL=" + p.BaseURL}
	}
	if p.Summary != "" {
		r.progress("%s", printable(p.Summary))
	}
	a, err := r.perform(ctx, p)
	if err != nil {
		return commandError(err)
	}
	if now := r.since(ctx, p.Tool, a); now != "" {
		return r.reportRepeated(a, now)
	}
	return r.reportCall(p.Tool, a)
}

// kept finds a kept proposal; nil when there is none.
func (r *remote) kept(id, from string) (*deploy.Proposal, error) {
	if from != "" {
		p, err := deploy.ReadProposal(r.path(from))
		if err == nil && !strings.EqualFold(p.ID, id) {
			err = fmt.Errorf("%s holds the proposal %s", from, p.ID)
		}
		if err != nil {
			return nil, &failure{code: exitRefused, id: "bad-proposal", msg: err.Error(), err: err}
		}
		return p, nil
	}
	var unreadable error
	for _, dir := range []string{r.proposals(), r.ownProposals()} {
		p, err := deploy.Kept(dir, strings.ToLower(id))
		if err == nil {
			return p, nil
		}
		if unreadable == nil && !errors.Is(err, fs.ErrNotExist) {
			unreadable = &failure{code: exitRefused, id: "bad-proposal", msg: err.Error(), fix: "propose again", err: err}
		}
	}
	return nil, unreadable // it may be spelled out
}

// spelledOut is a proposal whose tool and arguments are given.
func (r *remote) spelledOut(ctx context.Context, id string, args []string) (*deploy.Proposal, error) {
	info, err := r.tool(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if !info.TwoCalls {
		return nil, usageError("%s takes one call; there is nothing to confirm", args[0])
	}
	arguments, err := r.arguments("", args[1:], info)
	if err == nil {
		arguments, err = r.withWorkspace(arguments)
	}
	return &deploy.Proposal{ID: id, Tool: args[0], Arguments: arguments, BaseURL: r.client.BaseURL()}, err
}

// decide takes a proposal to a person: it asks at a terminal, and elsewhere ends with
// exitPerson. The proposal is kept in either case, so that a confirmation whose answer
// is lost can be repeated, which performs it once.
func (r *remote) decide(ctx context.Context, p *deploy.Proposal, proposeOnly bool) (client.Answer, error) {
	r.keepProposal(p)
	if proposeOnly || !r.interactive() {
		return client.Answer{}, r.outstanding(p, "nothing has changed yet")
	}
	fmt.Fprintf(r.stderr, "%s\n", printable(p.Summary))
	yes, err := r.agree(ctx, r.paint("1", "Go ahead?"))
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
	_, err := p.Keep(r.proposals())
	if err == nil {
		return
	}
	other := err
	if r.configDir != "" {
		_, other = p.Keep(r.ownProposals())
	}
	if other == nil {
		r.progress("%s the proposal cannot be kept beside the site (%s); it is kept in your settings", r.paint("33", "note:"), reason(err))
		return
	}
	r.unkept = p.ID
	r.progress("%s the proposal cannot be kept: %s", r.paint("33", "note:"), reason(err))
}

// perform makes the second call. Where its answer is missing, nobody knows whether it
// took effect, and repeating it tells.
func (r *remote) perform(ctx context.Context, p *deploy.Proposal) (client.Answer, error) {
	a, err := p.Confirm(ctx, r.client)
	switch {
	case err == nil || deploy.NeedsMember(err):
		return a, err
	case ctx.Err() != nil:
		r.stopped("\nstopped, and it is not known whether this happened: %s\nrun %s: it happens once, however often it is confirmed", printable(cmp.Or(p.Summary, p.Tool)), r.confirmHere(p))
		return a, context.Cause(ctx)
	case lostAnswer(err):
		return a, &failure{
			code: exitResume, id: "answer-lost", msg: "it is not known whether this happened: " + printable(cmp.Or(p.Summary, p.Tool)),
			fix: "run " + r.confirmHere(p) + ": it happens once, however often it is confirmed", err: err, said: &said{ConfirmationID: p.ID, Confirm: r.confirmHere(p)},
		}
	}
	return a, err
}

// stopped says what stands after a signal, once.
func (r *remote) stopped(format string, args ...any) {
	if !r.stopTold {
		fmt.Fprintf(r.stderr, format+"\n", args...)
	}
	r.stopTold = true
}

// lostAnswer reports whether a call may have taken effect without saying so.
func lostAnswer(err error) bool {
	if lost, ok := errors.AsType[*client.TransportError](err); ok {
		return lost.Reached
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
		line += " -C " + shellWord(r.shown(r.dir))
	}
	return line
}

// confirmAnywhere is the command that confirms a proposal also where it is not kept.
func confirmAnywhere(p *deploy.Proposal) string {
	return "pages confirm " + p.ID + " " + p.Tool + " " + spell(p.Arguments)
}

// outstanding is a proposal that waits for its confirmation.
func (r *remote) outstanding(p *deploy.Proposal, standing string) error {
	here := r.confirmHere(p)
	return &failure{
		code: exitPerson, id: idOutstanding, msg: standing, fix: here,
		said: &said{
			State: string(toolapi.ConfirmationRequired), Confirm: here, ConfirmationID: p.ID, Summary: printable(p.Summary), Expires: p.Expires.UTC().Format(time.RFC3339),
			Elsewhere: confirmAnywhere(p),
		},
	}
}

// printConfirm prints the line that confirms on stdout, for scripts.
func (c *cli) printConfirm(err error) {
	if f, ok := errors.AsType[*failure](err); ok && f.id == idOutstanding && !c.json {
		fmt.Fprintln(c.stdout, f.said.Confirm)
	}
}

// spell writes arguments as one word of a shell.
func spell(arguments json.RawMessage) string { return shellWord(string(arguments)) }

// shellWord writes a text as one word of a shell.
func shellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:@%+=") == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
