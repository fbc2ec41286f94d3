package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/toolapi"
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
			s, err := r.openSite(cmd.Context(), dir)
			if err != nil {
				return err
			}
			return r.proposer(s, proposeOnly).Propose(cmd.Context(), s.Contract.Rollback.Name, toolapi.RollbackArgs{
				SiteID: toolapi.UUID(s.Site), Revision: toolapi.Name(revision), Force: force, Scope: s.Scope(),
			})
		},
	}
	r.addSite(cmd)
	addProposeOnly(cmd, &proposeOnly)
	cmd.Flags().BoolVar(&force, "force", false, "also when the site's database has migrations that the revision does not know")
	return cmd
}
