package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
)

func (c *cli) newPreview() *cobra.Command {
	r := c.newRemote()
	var expires time.Duration
	cmd := &cobra.Command{
		Use:   "preview [REVISION [DIR]]",
		Short: "Make a link that shows a revision before it is published",
		Long: "Make a link that shows a revision, the newest one or the one named, to whoever has\nthe link. It is printed this once. Members pages still ask for a member, and forms\nraise no events there. To send the site as it is now, run pages deploy --preview.\n\n" +
			"Exit codes: 0 done, 1 refused, 2 wrong usage, " + remoteExit,
		Example: "  pages preview\n  pages preview r16-4c1f0a92be77 --expires 2h\n  pages preview revoke ID",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkExpires(expires); err != nil {
				return err
			}
			revision, dir := first(args)
			s, err := r.openSite(cmd.Context(), dir)
			if err != nil {
				return err
			}
			return publish.Preview(cmd.Context(), s, revision, expires)
		},
	}
	r.addSite(cmd)
	cmd.Flags().DurationVar(&expires, "expires", 0, "`duration` that the link is good for, from 1m to 168h (default 24h)")
	cmd.AddCommand(c.newPreviewRevoke())
	return cmd
}

func (c *cli) newPreviewRevoke() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Make a preview link lead nowhere, at once",
		Long:    "Make a preview link lead nowhere, at once, also for those who opened it. The id was\nprinted when the link was made.\n\nExit codes: 0 done, 1 there is no such link, 2 wrong usage, " + remoteExit,
		Example: "  pages preview revoke prv_…",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.Client.RevokePreviewLink(cmd.Context(), args[0]); err != nil {
				return remote.Error(err)
			}
			if c.term.JSON {
				c.term.PrintJSON(revokedDoc{true, args[0]})
				return nil
			}
			c.term.Progress("the link %s leads nowhere now", args[0])
			return nil
		},
	}
	r.add(cmd)
	return cmd
}

// revokedDoc is what `pages preview revoke --json` prints.
type revokedDoc struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
}
