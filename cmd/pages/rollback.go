package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

func (c *cli) newRollback() *cobra.Command {
	r := c.newRemote()
	var proposeOnly, force bool
	cmd := &cobra.Command{
		Use:   "rollback [REVISION [DIR]]",
		Short: "Make an earlier revision what the site serves again",
		Long: "Make an earlier revision what the site serves again: the one that was live before, or\nthe one named. What the site's database, keys and objects hold stays as it is. At a\nterminal you are asked; elsewhere the line that confirms is printed: exit code 4.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages rollback\n  pages rollback r16-4c1f0a92be77\n  pages rollback --propose-only",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			revision, dir := first(args)
			return r.rollback(cmd.Context(), revision, dir, proposeOnly, force)
		},
	}
	r.siteFlags(cmd)
	proposeFlag(cmd, &proposeOnly)
	cmd.Flags().BoolVar(&force, "force", false, "also when the site's database has migrations that the revision does not know")
	return cmd
}

func (r *remote) rollback(ctx context.Context, revision string, dir []string, proposeOnly, force bool) error {
	if err := r.openSite(ctx, dir); err != nil {
		return err
	}
	arguments, err := json.Marshal(toolapi.RollbackArgs{SiteID: toolapi.UUID(r.site), Revision: toolapi.Name(revision), Force: force, Scope: r.scope()})
	if err != nil {
		return err
	}
	return r.propose(ctx, r.contract.Rollback.Name, arguments, proposeOnly)
}

// openSite finds the service and the site; args may name the folder of the site here.
func (r *remote) openSite(ctx context.Context, args []string) error {
	if err := r.siteArgument(args); err != nil {
		return err
	}
	if err := r.open(ctx, ""); err != nil {
		return err
	}
	page, in, err := r.chooseSite(ctx)
	if err == nil {
		r.term.Progress("%s %s (%s) in the workspace %s at %s", r.term.Paint("1", "on"), wording.Printable(page.Name), wording.Printable(page.Hostname), wording.Printable(in.Workspace), r.client.BaseURL())
	}
	return err
}

// propose takes a two-call tool to a person, and prints what was done.
func (r *remote) propose(ctx context.Context, tool string, arguments json.RawMessage, proposeOnly bool) error {
	p, a, err := deploy.Propose(ctx, r.client, tool, arguments, r.term.Now())
	if err != nil {
		return commandError(err)
	}
	if p != nil {
		r.showChanges(ctx, p)
		if a, err = r.decide(ctx, p, proposeOnly); err != nil {
			r.printConfirm(err)
			return err
		}
	}
	return r.reportCall(tool, a)
}
