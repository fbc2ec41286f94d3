package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file holds what a site has received: leads and events. Both are read
// from the state folder, whether a dev server runs or not.

func (c *cli) newLeads() *cobra.Command {
	var filter site.LeadFilter
	list := &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the leads that forms captured, newest first",
		Example: "  pages leads list\n  pages leads list --form join --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if filter.Limit < 0 {
				return usageError("--limit is %d; it is 0 for all, or more", filter.Limit)
			}
			leads := []site.Lead{}
			err := c.withStore(cmd.Context(), args, func(ctx context.Context, s *site.Store) (err error) {
				leads, err = s.Leads(ctx, filter)
				return err
			})
			if err != nil {
				return err
			}
			if c.json {
				c.printJSON(site.LeadList{Leads: leads})
				return nil
			}
			for _, l := range leads {
				fmt.Fprintf(c.stdout, "%s  %s  %-12s %s  [%s]\n", l.CreatedAt.Local().Format("2006-01-02 15:04:05"),
					l.ID, l.Form, fieldLine(l.Fields), strings.Join(l.Events, ", "))
			}
			c.none(len(leads), "leads")
			return nil
		},
	}
	list.Flags().StringVar(&filter.Form, "form", "", "only leads of this form, by `name`")
	list.Flags().IntVar(&filter.Limit, "limit", 0, "at most this `many`; 0 for all")
	cmd := &cobra.Command{Use: "leads", Short: "What the site's forms captured", Args: cobra.NoArgs, RunE: help}
	cmd.AddCommand(list)
	return cmd
}

func (c *cli) newEvents() *cobra.Command {
	var filter site.EventFilter
	list := &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the automation events that leads raised, newest first",
		Example: "  pages events list\n  pages events list --name pages.lead.captured --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if filter.Limit < 0 {
				return usageError("--limit is %d; it is 0 for all, or more", filter.Limit)
			}
			events := []site.Event{}
			err := c.withStore(cmd.Context(), args, func(ctx context.Context, s *site.Store) (err error) {
				events, err = s.Events(ctx, filter)
				return err
			})
			if err != nil {
				return err
			}
			if c.json {
				c.printJSON(site.EventList{Events: events})
				return nil
			}
			for _, e := range events {
				fmt.Fprintf(c.stdout, "%s  %s  %-28s %s  %s\n", e.CreatedAt.Local().Format("2006-01-02 15:04:05"), e.ID, e.Name, e.Form, e.LeadID)
			}
			c.none(len(events), "events")
			return nil
		},
	}
	list.Flags().StringVar(&filter.Name, "name", "", "only events of this `name`")
	list.Flags().StringVar(&filter.Form, "form", "", "only events of this form, by `name`")
	list.Flags().IntVar(&filter.Limit, "limit", 0, "at most this `many`; 0 for all")
	cmd := &cobra.Command{Use: "events", Short: "The automation events that leads raised", Args: cobra.NoArgs, RunE: help}
	cmd.AddCommand(list)
	return cmd
}

func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

func (c *cli) none(n int, what string) {
	if n == 0 {
		c.progress("no %s yet", what)
	}
}

func fieldLine(fields site.Fields) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, fmt.Sprintf("%s=%q", f.Name, fields.Text(f.Name)))
	}
	return strings.Join(parts, " ")
}

// withStore reads from the site's platform database. A site without one has
// received nothing.
func (c *cli) withStore(ctx context.Context, args []string, read func(context.Context, *site.Store) error) error {
	dir, err := c.find(args)
	if err != nil {
		return err
	}
	s := &state{dir: c.statePath(dir)}
	if _, err := os.Stat(filepath.Join(s.dir, platformFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.use(); err != nil {
		return err
	}
	db, err := s.open(ctx, platformFile)
	if err != nil {
		return err
	}
	store, err := site.OpenStore(ctx, db, site.StoreOptions{Now: c.now})
	if err == nil {
		err = read(ctx, store)
	}
	return errors.Join(err, s.Close())
}
