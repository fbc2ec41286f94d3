package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
)

func (c *cli) newUnschedule() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "unschedule [DIR]",
		Short: "Cancel the scheduled publish of the site",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			return publish.Unschedule(cmd.Context(), s)
		},
	}
	r.addSite(cmd)
	return cmd
}
