package main

import (
	"github.com/spf13/cobra"
)

func (c *cli) newWhoami() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Say which key goes to which service, and in which workspace calls run",
		Long: "Say which key goes to which service, where the key comes from, and in which workspace\ncalls run. A key that reaches several workspaces with none chosen lists them.\nThe key is shown by how it starts.\n\n" +
			"Exit codes: 0 the key is good, 1 something failed, 2 wrong usage, " + remoteExit,
		Example: "  pages whoami\n  pages whoami --workspace acme --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			who, err := s.Who(cmd.Context())
			if err != nil {
				return err
			}
			if c.term.JSON {
				c.term.PrintJSON(who)
				return nil
			}
			who.Write(c.term.Stdout)
			return nil
		},
	}
	r.add(cmd)
	return cmd
}
