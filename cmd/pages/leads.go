package main

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newLeads() *cobra.Command {
	cmd := &cobra.Command{Use: "leads", Short: "Read and mark the leads from the site's forms", Args: cobra.NoArgs, RunE: help}
	cmd.AddCommand(c.newLeadsList(), c.newLeadsShow(), c.newLeadsFiles(), c.newLeadsReplay(), c.newLeadsExport(), c.newLeadsSpam(),
		c.newLeadsHam())
	return cmd
}

func (c *cli) newLeadsList() *cobra.Command {
	var filter site.LeadFilter
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the leads that forms captured, newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLimit(filter.Limit); err != nil {
				return err
			}
			in, err := c.openInbox(args)
			if err != nil {
				return err
			}
			leads, err := in.Leads(cmd.Context(), filter)
			if err = printList(c, err, site.LeadList{Leads: leads}, leads, inbox.LeadLine); err == nil && !c.term.JSON {
				c.term.PrintNoneMatching(len(leads), "leads", filter.Form != "" || filter.Spam)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&filter.Form, "form", "", "only leads of this form, by `name`")
	cmd.Flags().BoolVar(&filter.Spam, "spam", false, "list the spam, with its reasons, instead of the leads")
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "at most `n`; 0 for all")
	return cmd
}

func (c *cli) newLeadsShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID [DIR]",
		Short: "Show one lead: its answers, its row, its events",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			lead, err := in.Lead(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			c.printLead(lead)
			return nil
		},
	}
}

func (c *cli) newLeadsReplay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID [DIR]",
		Short: "Process a lead again: its row, if it is missing, and its events",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			lead, err := in.Replay(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return c.printFollowed(lead)
		},
	}
}

// printFollowed prints a lead whose row was written, or refused.
func (c *cli) printFollowed(lead inbox.Lead) error {
	c.printLead(lead)
	switch {
	case lead.OK:
		return nil
	case c.term.JSON:
		return failure.ErrShown
	}
	return &failure.Error{
		Exit: failure.ExitRefused, Code: "row-refused",
		Message: "the table " + lead.Lead.Submission.Table + " refused the row again",
		Fix:     "correct the table with a migration, then replay the lead",
	}
}

func (c *cli) newLeadsSpam() *cobra.Command {
	return &cobra.Command{
		Use:   "spam ID [DIR]",
		Short: "Mark a lead as spam",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			lead, err := in.MarkSpam(cmd.Context(), args[0])
			if err != nil {
				return c.hintPublished(err, args, "true")
			}
			c.printLead(lead)
			return nil
		},
	}
}

func (c *cli) newLeadsHam() *cobra.Command {
	return &cobra.Command{
		Use:   "ham ID [DIR]",
		Short: "Mark spam as a lead: raise its events and write its row",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			lead, err := in.MarkHam(cmd.Context(), args[0])
			if err != nil {
				return c.hintPublished(err, args, "false")
			}
			return c.printFollowed(lead)
		},
	}
}

// hintPublished adds the command that marks a lead of the published site to the error of an unknown lead, if the folder has such a site.
func (c *cli) hintPublished(err error, args []string, spam string) error {
	unknown, ok := errors.AsType[*failure.Error](err)
	if !ok || unknown.Code != "no-such-lead" {
		return err
	}
	dir, found := c.sites().Find(args[1:])
	if found != nil {
		return err
	}
	s, broken := remote.New(remote.Options{Term: &c.term, Dir: dir})
	if broken != nil || s.Link.SiteID == "" {
		return err
	}
	told := *unknown
	told.Fix += "; mark one of the published site in its console, or: pages call page.mark_lead lead_id=" +
		wording.ShellWord(args[0]) + " spam=" + spam
	return &told
}

func (c *cli) printLead(lead inbox.Lead) {
	if c.term.JSON {
		c.term.PrintJSON(lead)
		return
	}
	inbox.WriteLead(c.term.Stdout, lead)
}

// openInbox finds the site of a command, and opens its leads.
func (c *cli) openInbox(args []string) (inbox.Inbox, error) {
	dir, err := c.sites().Find(args)
	if err != nil {
		return inbox.Inbox{}, err
	}
	state, err := c.states().State(dir)
	return inbox.Inbox{State: state, Now: c.term.Now, Waiting: func() { c.term.Progress("waiting for pages dev to run") }}, err
}

// checkLimit refuses a --limit below 0.
func checkLimit(n int) error {
	if n < 0 {
		return failure.Usage("--limit is %d; it must be 0 for all, or more", n)
	}
	return nil
}

func (c *cli) newLeadsFiles() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "files ID [DIR]",
		Short: "List or save the files that a visitor sent with a form",
		Args:  cobra.RangeArgs(1, 2),
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
	cmd.Flags().StringVar(&out, "out", "", "save them in this `folder`, which is made if it does not exist")
	return cmd
}

func (c *cli) newLeadsExport() *cobra.Command {
	var filter site.LeadFilter
	var raw bool
	cmd := &cobra.Command{
		Use:   "export csv|json [DIR]",
		Short: "Write all leads to stdout, oldest first",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "csv" && args[0] != "json" {
				return failure.Usage("the format is %q; it must be csv or json", args[0])
			}
			if c.term.JSON && args[0] == "csv" {
				return failure.Usage("--json and csv exclude each other")
			}
			if raw && args[0] != "csv" {
				return failure.Usage("--raw is for csv")
			}
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			leads, err := in.Leads(cmd.Context(), filter)
			if err != nil {
				return err
			}
			slices.Reverse(leads)
			c.term.PrintNoneMatching(len(leads), "leads", filter.Form != "")
			if args[0] == "json" {
				c.term.PrintJSON(site.LeadList{Leads: leads})
				return nil
			}
			return c.term.WriteRaw(func(w io.Writer) error { return inbox.WriteCSV(w, leads, raw) })
		},
	}
	cmd.Flags().StringVar(&filter.Form, "form", "", "only leads of this form, by `name`")
	cmd.Flags().BoolVar(&raw, "raw", false, "write CSV values unchanged, even those that look like formulas")
	return cmd
}
