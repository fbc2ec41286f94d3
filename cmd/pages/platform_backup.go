package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/backup"
)

func (c *cli) newPlatformBackup(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write the service's data to a file, even while it runs",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := terminal.NotStdout("a backup", args[0]); err != nil {
				return err
			}
			sum, err := platform.Backup(cmd.Context(), f.at(c).Dir(), c.term.Path(args[0]), c.term.Now())
			if err != nil {
				return err
			}
			c.printBackup(sum, "written to "+args[0])
			return nil
		},
	}
}

func (c *cli) newPlatformRestore(f *platformFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Create a data folder from a backup",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := f.at(c).Dir()
			sum, err := platform.Restore(cmd.Context(), c.term.Path(args[0]), dir)
			if err != nil {
				return err
			}
			c.printBackup(sum, "restored to "+c.term.Shown(dir))
			return nil
		},
	}
}

func (c *cli) printBackup(sum backup.Summary, done string) {
	if c.term.JSON {
		c.term.PrintJSON(sum)
		return
	}
	c.term.Progress("%d files, %d of them databases, %d bytes: %s", sum.Files, sum.Databases, sum.Bytes, done)
}

func (c *cli) newPlatformMail(f *platformFlags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "mail [EMAIL]",
		Short: "Show the newest mail that the local service sent",
		Args:  cobra.MaximumNArgs(1),
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
			Fix: "name the service's data folder with --data; the sign-in form of a site sends one to a member",
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

func (c *cli) newPlatformOpenAPI() *cobra.Command {
	return &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI 3.1 document of the tool API",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			document, err := toolapi.NewContract().OpenAPI()
			if err != nil {
				return err
			}
			_, err = c.term.Stdout.Write(document)
			return err
		},
	}
}
