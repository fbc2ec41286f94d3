package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
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
			leads, err := c.readLeads(cmd.Context(), args, filter)
			if err != nil {
				return err
			}
			if c.term.JSON {
				c.term.PrintJSON(site.LeadList{Leads: leads})
				return nil
			}
			for _, l := range leads {
				fmt.Fprintf(c.term.Stdout, "%s  %s  %-12s %s  [%s]\n", wording.Clock(l.CreatedAt.Time),
					l.ID, l.Form, fieldLine(l.Fields), strings.Join(l.Events, ", "))
			}
			c.term.PrintNoneMatching(len(leads), "leads", filter.Form != "")
			return nil
		},
	}
	cmd.Flags().StringVar(&filter.Form, "form", "", "only leads of this form, by `name`")
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "at most `n`; 0 for all")
	return cmd
}

// readLeads returns the leads that a filter chooses, newest first; never nil.
func (c *cli) readLeads(ctx context.Context, args []string, f site.LeadFilter) ([]site.Lead, error) {
	leads := []site.Lead{}
	err := c.withStore(ctx, args, func(ctx context.Context, _ *localstate.State, s *site.Store) (err error) {
		leads, err = s.Leads(ctx, f)
		return err
	})
	return leads, err
}

// leadDoc is one lead with its events, as `pages leads show --json` prints it.
type leadDoc struct {
	OK     bool         `json:"ok"`
	Lead   site.Lead    `json:"lead"`
	Events []site.Event `json:"events"` // oldest first
}

func (c *cli) newLeadsShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID [DIR]",
		Short:   "Show one lead: its answers, its row, its events",
		Long:    "Show one lead: its answers, its row in the submissions table, its events and how\nfar their delivery got.\n\nExit codes: 0 done, 1 there is no such lead, 2 wrong usage, 9 the state folder\ncannot be used.",
		Example: "  pages leads show lead_4kx2…\n  pages leads show lead_4kx2… --json",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := c.readLead(cmd.Context(), args[0], args[1:])
			if err != nil {
				return err
			}
			c.printLead(doc)
			return nil
		},
	}
}

// readLead returns the lead of an id.
func (c *cli) readLead(ctx context.Context, id string, args []string) (leadDoc, error) {
	err := notFound("lead", id)
	doc := leadDoc{}
	failed := c.withStore(ctx, args, func(ctx context.Context, _ *localstate.State, s *site.Store) error {
		doc, err = findLead(ctx, s, id)
		return nil
	})
	if failed != nil {
		err = failed
	}
	return doc, err
}

func findLead(ctx context.Context, s *site.Store, id string) (leadDoc, error) {
	leads, err := s.Leads(ctx, site.LeadFilter{ID: id})
	if err != nil {
		return leadDoc{}, err
	}
	if id == "" || len(leads) == 0 {
		return leadDoc{}, notFound("lead", id)
	}
	events, err := s.Events(ctx, site.EventFilter{Lead: id, Oldest: true})
	return leadDoc{OK: true, Lead: leads[0], Events: events}, err
}

func (c *cli) printLead(doc leadDoc) {
	if c.term.JSON {
		c.term.PrintJSON(doc)
		return
	}
	l := doc.Lead
	fmt.Fprintf(c.term.Stdout, "%s  %s  %s\n", l.ID, l.Form, wording.Clock(l.CreatedAt.Time))
	for _, f := range l.Fields {
		fmt.Fprintf(c.term.Stdout, "  %s: %s\n", wording.Printable(f.Name), wording.Printable(valueText(f)))
	}
	if s := l.Submission; s.Status != site.SubmissionNone {
		fmt.Fprintf(c.term.Stdout, "row in %s: %s%s\n", s.Table, s.Status, because(s.Error))
	}
	for _, e := range doc.Events {
		fmt.Fprintf(c.term.Stdout, "event %s  %s%s\n", e.ID, e.Name, deliveryNote(e.Delivery))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + wording.Printable(reason)
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
			found := false
			err := c.withStore(cmd.Context(), args[1:], func(ctx context.Context, st *localstate.State, s *site.Store) error {
				found = true
				return c.replayLead(ctx, st, s, args[0])
			})
			if err == nil && !found {
				return notFound("lead", args[0])
			}
			return err
		},
	}
}

func (c *cli) replayLead(ctx context.Context, st *localstate.State, s *site.Store, id string) error {
	doc, err := findLead(ctx, s, id)
	if err != nil {
		return err
	}
	if userfile.IsFile(filepath.Join(st.Dir, statefolder.SiteFile)) {
		db, err := st.Open(ctx, statefolder.SiteFile)
		if err != nil {
			return err
		}
		if doc.Lead.Submission, err = s.Resubmit(ctx, db, id); err != nil {
			return err
		}
	}
	if _, err = s.ReplayEvents(ctx, site.EventFilter{Lead: id}); err != nil {
		return err
	}
	if doc, err = findLead(ctx, s, id); err != nil {
		return err
	}
	doc.OK = doc.Lead.Submission.Status != site.SubmissionFailed
	c.printLead(doc)
	if !doc.OK {
		if c.term.JSON {
			return failure.ErrShown
		}
		return &failure.Error{Exit: failure.ExitRefused, Code: "row-refused", Message: "the table " + doc.Lead.Submission.Table + " refused the row again", Fix: "mend the table with a migration, and replay the lead"}
	}
	return nil
}
