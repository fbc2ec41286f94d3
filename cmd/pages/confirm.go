package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
)

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
			return publish.Confirm(cmd.Context(), publish.ConfirmOptions{Remote: r.options(""), NearestDir: c.nearestDir(), ID: args[0], From: from, Words: args[1:]})
		},
	}
	r.add(cmd)
	cmd.Flags().StringVar(&from, "from", "", "`file` of the proposal, as --confirmation-out wrote it")
	return cmd
}
