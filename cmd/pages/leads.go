package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newLeads() *cobra.Command {
	cmd := &cobra.Command{Use: "leads", Short: "What the site's forms captured", Args: cobra.NoArgs, RunE: help}
	cmd.AddCommand(c.newLeadsList(), c.newLeadsShow(), c.newLeadsFiles(), c.newLeadsReplay(), c.newLeadsExport())
	return cmd
}

func (c *cli) newLeadsList() *cobra.Command {
	var filter site.LeadFilter
	cmd := &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the leads that forms captured, newest first",
		Long:    "List the leads that forms captured, newest first." + listHelp,
		Example: "  pages leads list\n  pages leads list --form join --json",
		Args:    cobra.MaximumNArgs(1),
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
				c.term.PrintNoneMatching(len(leads), "leads", filter.Form != "")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&filter.Form, "form", "", "only leads of this form, by `name`")
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "at most `n`; 0 for all")
	return cmd
}

func (c *cli) newLeadsShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID [DIR]",
		Short:   "Show one lead: its answers, its row, its events",
		Long:    "Show one lead: its answers, its row in the submissions table, its events and how\nfar their delivery got.\n\nExit codes: 0 done, 1 there is no such lead, 2 wrong usage, 9 the state folder\ncannot be used.",
		Example: "  pages leads show lead_4kx2…\n  pages leads show lead_4kx2… --json",
		Args:    cobra.RangeArgs(1, 2),
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
		Short: "Do again what follows from a lead: its row, if it is missing, and its events",
		Long: "Do again what follows from a lead: its row in the submissions table is written,\nunless it is there, and its events are put in the webhook's queue again, with the\nids they have. " +
			"They are delivered while pages dev --event-webhook runs, also when\nit starts later.\n\nExit codes: 0 done, 1 there is no such lead or its row was refused again, 2 wrong\nusage, 9 the state folder cannot be used.",
		Example: "  pages leads replay lead_4kx2…",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			lead, err := in.Replay(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			c.printLead(lead)
			switch {
			case lead.OK:
				return nil
			case c.term.JSON:
				return failure.ErrShown
			}
			return &failure.Error{
				Exit: failure.ExitRefused, Code: "row-refused", Message: "the table " + lead.Lead.Submission.Table + " refused the row again",
				Fix: "mend the table with a migration, and replay the lead",
			}
		},
	}
}

func (c *cli) printLead(lead inbox.Lead) {
	if c.term.JSON {
		c.term.PrintJSON(lead)
		return
	}
	inbox.WriteLead(c.term.Stdout, lead)
}

// listHelp ends the help of commands that list leads or events.
const listHelp = "\n\nExit codes: 0 done, 1 there is no site, 2 wrong usage, 9 the state folder cannot\nbe used."

// openInbox finds the site of a command, and what it received.
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
		return failure.Usage("--limit is %d; it is 0 for all, or more", n)
	}
	return nil
}
