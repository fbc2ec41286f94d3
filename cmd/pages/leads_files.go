package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/inbox"
)

func (c *cli) newLeadsFiles() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "files ID [DIR]",
		Short: "The files that a visitor sent with a form",
		Long: "List the files that a visitor sent with a form, and with --out save them in a\nfolder. Each gets its number in front of its name, so that none is hidden or takes\nthe place of another.\n\n" +
			"What a stranger sends is not to be trusted: a file is what its bytes are, whatever\nits name and its type say.\n\nExit codes: 0 done, 1 there is no such lead or a file cannot be saved, 2 wrong\nusage, 9 the state folder cannot be used.",
		Example: "  pages leads files lead_4kx2…\n  pages leads files lead_4kx2… --out applications",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			if out != "" {
				out = c.term.Path(out)
			}
			list, err := in.Files(cmd.Context(), args[0], out)
			if err = printList(c, err, list, list.Files, inbox.FileLine); err == nil && !c.term.JSON && len(list.Files) == 0 {
				c.term.Progress("the lead has no files")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "save them in this `folder`, which is made if it is not there")
	return cmd
}
