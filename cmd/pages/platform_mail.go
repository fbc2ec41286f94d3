package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

func (c *cli) newPlatformMail(f *platformFlags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "mail [EMAIL]",
		Short: "Show the newest mail that the local service sent",
		Long: "Show the newest mail that the local service sent, or the newest to an address, such as\nthe link that signs a member in on a page. The service sends no mail itself: it keeps\neach for a day in the folder outbox of its data, as a file for a mail program.\n\n" +
			"With --json all are listed, the newest first.\n\nExit codes: 0 done, 1 there is none, 2 wrong usage, 9 the data folder cannot be read.",
		Example: "  pages platform mail\n  pages platform mail ana@acme.test --data /srv/pages\n  pages platform mail --json | jq -r '.mails[0].text'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.showMail(f.at(c).Dir(), strings.Join(args, ""), all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "show all, the newest first")
	return cmd
}

func (c *cli) showMail(dir, to string, all bool) error {
	list, err := platform.Mails(dir, to)
	if err != nil {
		return err
	}
	if c.term.JSON {
		c.term.PrintJSON(list)
		return nil
	}
	if len(list.Mails) == 0 {
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "no-mail", Message: "there is no mail in the outbox of " + wording.QuotePath(dir),
			Fix: "name the service's data folder with --data; a page's sign-in form sends one to a member's address",
		}
	}
	if !all {
		list.Mails = list.Mails[:1]
	}
	for i, m := range list.Mails {
		if i > 0 {
			fmt.Fprintln(c.term.Stdout)
		}
		fmt.Fprintf(c.term.Stdout, "%s  to %s\n%s\n\n", wording.Clock(m.At), wording.Printable(m.To), wording.Printable(m.Subject))
		for line := range strings.Lines(m.Text) {
			fmt.Fprintln(c.term.Stdout, wording.Printable(strings.TrimSuffix(line, "\n")))
		}
	}
	return nil
}
