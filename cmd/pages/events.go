package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newEvents() *cobra.Command {
	cmd := &cobra.Command{Use: "events", Short: "The automation events that leads raised", Args: cobra.NoArgs, RunE: help}
	cmd.AddCommand(c.newEventsList(), c.newEventsTail(), c.newEventsReplay())
	return cmd
}

// eventFlags choose events.
type eventFlags struct {
	site.EventFilter
	status string
}

func (f *eventFlags) add(cmd *cobra.Command, limit int) {
	cmd.Flags().StringVar(&f.Name, "name", "", "only events of this `name`")
	cmd.Flags().StringVar(&f.Form, "form", "", "only events of this form, by `name`")
	cmd.Flags().IntVar(&f.Limit, "limit", limit, "at most `n`; 0 for all")
}

func (f *eventFlags) addStatus(cmd *cobra.Command) {
	const usage = "only events whose delivery to the webhook has this `status`: pending, delivered or dead"
	cmd.Flags().StringVar(&f.status, "status", "", usage)
}

func (f *eventFlags) check() error {
	f.Delivery = site.DeliveryStatus(f.status)
	if f.status != "" && !slices.Contains(site.DeliveryStatuses(), f.Delivery) {
		return failure.Usage("--status is %q; it must be pending, delivered or dead", f.status)
	}
	return checkLimit(f.Limit)
}

func (c *cli) newEventsList() *cobra.Command {
	f := &eventFlags{}
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the automation events that leads raised, newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			in, err := c.openInbox(args)
			if err != nil {
				return err
			}
			events, err := in.Events(cmd.Context(), f.EventFilter)
			if err = printList(c, err, site.EventList{Events: events}, events, inbox.EventLine); err == nil {
				c.term.PrintNoneMatching(len(events), "events", f.status != "" || f.Name != "" || f.Form != "")
			}
			return err
		},
	}
	f.add(cmd, 0)
	f.addStatus(cmd)
	return cmd
}

func (c *cli) newEventsReplay() *cobra.Command {
	f := &eventFlags{}
	cmd := &cobra.Command{
		Use:   "replay [ID] [DIR]",
		Short: "Deliver events to the webhook again",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			chosen := f.status != "" || f.Name != "" || f.Form != "" || f.Limit > 0
			if len(args) > 0 && strings.HasPrefix(args[0], "evt_") {
				f.ID, args = args[0], args[1:]
			}
			switch {
			case f.ID != "" && chosen:
				return failure.Usage("an ID and flags exclude each other")
			case f.ID == "" && !chosen:
				return failure.Usage("which events? Give an ID, which begins with evt_, or choose with --status, --name, --form or --limit")
			case len(args) > 1:
				return failure.Usage("%q is not the id of an event", args[0])
			}
			in, err := c.openInbox(args)
			if err != nil {
				return err
			}
			events, err := in.ReplayEvents(cmd.Context(), f.EventFilter)
			if err = printList(c, err, site.EventList{Events: events}, events, inbox.EventLine); err == nil {
				c.term.Progress("%s in the queue", wording.Count(len(events), "event"))
			}
			return err
		},
	}
	f.add(cmd, 0)
	f.addStatus(cmd)
	return cmd
}

func (c *cli) newEventsTail() *cobra.Command {
	f := &eventFlags{}
	cmd := &cobra.Command{
		Use:         "tail [DIR]",
		Short:       "Show the last events, and new ones as they arrive",
		Annotations: map[string]string{printsLines: "yes"},
		Args:        cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			in, err := c.openInbox(args)
			if err == nil {
				err = in.TailEvents(cmd.Context(), f.EventFilter, c.printEvent)
			}
			if cmd.Context().Err() == nil {
				return err
			}
			return untilInterrupt(cmd.Context(), nil)
		},
	}
	f.add(cmd, 10)
	return cmd
}

// printEvent prints one of the events that are followed.
func (c *cli) printEvent(e site.Event) {
	if !c.term.JSON {
		fmt.Fprintln(c.term.Stdout, inbox.EventLine(e))
		return
	}
	c.term.PrintJSONLine(devsession.SiteEvent{Type: "event", Event: e})
}
