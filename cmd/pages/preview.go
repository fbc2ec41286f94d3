package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/toolapi"
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
			f := deployFlags{preview: true, expires: expires}
			if err := f.check(r.term.Now()); err != nil {
				return err
			}
			revision, dir := first(args)
			if err := r.openSite(cmd.Context(), dir); err != nil {
				return err
			}
			return (&deployment{remote: r, deployFlags: &f}).makePreview(cmd.Context(), revision)
		},
	}
	r.siteFlags(cmd)
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
			if err := r.open(cmd.Context(), ""); err != nil {
				return err
			}
			if err := r.client.RevokePreviewLink(cmd.Context(), args[0]); err != nil {
				return remoteError(err)
			}
			if r.term.JSON {
				r.term.PrintJSON(revokedDoc{true, args[0]})
				return nil
			}
			r.term.Progress("the link %s leads nowhere now", args[0])
			return nil
		},
	}
	r.flags(cmd)
	return cmd
}

// revokedDoc is what `pages preview revoke --json` prints.
type revokedDoc struct {
	OK bool   `json:"ok"`
	ID string `json:"id"`
}

// previewSeconds is how an expiry is asked for.
func previewSeconds(d time.Duration) toolapi.PreviewSeconds {
	return toolapi.PreviewSeconds(d / time.Second)
}
