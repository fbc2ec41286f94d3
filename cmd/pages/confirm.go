package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
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
		return failure.Usage("the confirmation id is %q; it looks like 123e4567-e89b-42d3-a456-426614174000", id)
	}
	r.dir, _ = r.find(nil) // proposals are kept beside the site, if there is one
	p, err := r.kept(id, from)
	if err != nil && (from != "" || len(args) == 0) {
		return err
	}
	if p != nil && r.baseURL == "" && r.credentials().has(p.BaseURL) {
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
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-such-proposal", Message: fmt.Sprintf("the proposal %s is not kept here", id),
			Fix: "name its file with --from, or the tool and its arguments: pages confirm " + id + " page.publish site_id=…",
		}
	case p.BaseURL != r.client.BaseURL():
		return &failure.Error{Exit: failure.ExitRefused, Code: "other-service", Message: fmt.Sprintf("this was proposed to %s, and the service here is %s", p.BaseURL, r.client.BaseURL()), Fix: "confirm it there: PAGES_BASE_URL=" + wording.ShellWord(p.BaseURL)}
	}
	if p.Summary != "" {
		r.term.Progress("%s", wording.Printable(p.Summary))
	}
	r.showChanges(ctx, p)
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
		p, err := deploy.ReadProposal(r.term.Path(from))
		if err == nil && !strings.EqualFold(p.ID, id) {
			err = fmt.Errorf("%s holds the proposal %s", from, p.ID)
		}
		if err != nil {
			return nil, &failure.Error{Exit: failure.ExitRefused, Code: "bad-proposal", Message: err.Error(), Err: err}
		}
		return p, nil
	}
	var unreadable error
	beside, err := r.proposals()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{beside, r.ownProposals()} {
		p, err := deploy.Kept(dir, strings.ToLower(id))
		if err == nil {
			return p, nil
		}
		if unreadable == nil && !errors.Is(err, fs.ErrNotExist) {
			unreadable = &failure.Error{Exit: failure.ExitRefused, Code: "bad-proposal", Message: err.Error(), Fix: "propose again", Err: err}
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
		return nil, failure.Usage("%s takes one call; there is nothing to confirm", args[0])
	}
	arguments, err := r.arguments(ctx, "", args[1:], info)
	if err == nil {
		arguments, err = r.withWorkspace(arguments)
	}
	return &deploy.Proposal{ID: id, Tool: args[0], Arguments: arguments, BaseURL: r.client.BaseURL()}, err
}
