package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver/site"
)

// tailPoll is how often the store is asked for new events.
const tailPoll = 200 * time.Millisecond

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
			if err := c.tailEvents(cmd.Context(), args, f.EventFilter); cmd.Context().Err() == nil {
				return err
			}
			return untilInterrupt(cmd.Context(), nil)
		},
	}
	f.add(cmd, 10)
	return cmd
}

func (c *cli) tailEvents(ctx context.Context, args []string, f site.EventFilter) error {
	dir, err := c.find(args)
	if err != nil {
		return err
	}
	st, err := c.states().State(dir)
	if err != nil {
		return err
	}
	waiting, err := c.awaitLog(ctx, st)
	if waiting == nil {
		return err
	}
	if err := waiting.Close(); err != nil {
		return err
	}
	return c.withStore(ctx, args, func(ctx context.Context, _ *localstate.State, s *site.Store) error {
		last, err := s.Events(ctx, f)
		slices.Reverse(last)
		tick := time.NewTicker(tailPoll)
		defer tick.Stop()
		f.Limit, f.Oldest = 0, true
		for err == nil {
			for _, e := range last {
				c.tellEvent(e)
				f.After = e.Sequence
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				last, err = s.Events(ctx, f)
			}
		}
		return err
	})
}

// tellEvent prints an event of a list that is followed.
func (c *cli) tellEvent(e site.Event) {
	if !c.term.JSON {
		c.printEvent(e)
		return
	}
	c.term.PrintJSONLine(typedEvent{"event", e})
}

// typedEvent is an event among the lines of --json.
type typedEvent struct {
	Type string `json:"type"`
	site.Event
}
