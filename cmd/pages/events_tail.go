package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newEventsTail() *cobra.Command {
	f := &eventFlags{}
	cmd := &cobra.Command{
		Use:   "tail [DIR]",
		Short: "Show the last events, and then those that come, until Ctrl-C",
		Long: "Show the last events, and then those that come, until Ctrl-C. With --json each is\na line of JSON, of the type \"event\". " +
			"It reads the state folder, whether pages dev\nruns yet or not.\n\nExit codes: 0 stopped by Ctrl-C, 1 there is no site, 2 wrong usage, 9 the state\nfolder cannot be used.",
		Annotations: map[string]string{printsLines: "yes"},
		Example:     "  pages events tail\n  pages events tail --name custom.joined --json",
		Args:        cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			in, err := c.openInbox(args)
			if err == nil {
				err = in.TailEvents(cmd.Context(), f.EventFilter, c.tellEvent)
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

// tellEvent prints one of the events that are followed.
func (c *cli) tellEvent(e site.Event) {
	if !c.term.JSON {
		fmt.Fprintln(c.term.Stdout, inbox.EventLine(e))
		return
	}
	c.term.PrintJSONLine(devsession.SiteEvent{Type: "event", Event: e})
}
