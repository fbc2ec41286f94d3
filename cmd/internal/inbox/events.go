package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
)

// tailPoll is how often the store is asked for new events.
const tailPoll = 200 * time.Millisecond

// Events returns the events that a filter chooses; never nil.
func (b Inbox) Events(ctx context.Context, f site.EventFilter) ([]site.Event, error) {
	events := []site.Event{}
	err := b.withStore(ctx, func(s *site.Store) (err error) {
		events, err = s.Events(ctx, f)
		return err
	})
	return events, err
}

// ReplayEvents queues events for the webhook again, and returns them.
func (b Inbox) ReplayEvents(ctx context.Context, f site.EventFilter) ([]site.Event, error) {
	events := []site.Event{}
	err := b.withStore(ctx, func(s *site.Store) (err error) {
		events, err = s.ReplayEvents(ctx, f)
		return err
	})
	if err == nil && f.ID != "" && len(events) == 0 {
		return nil, notFound("event", f.ID)
	}
	return events, err
}

// TailEvents calls show with the last events of a filter, oldest first, and then with those that come, until ctx ends.
func (b Inbox) TailEvents(ctx context.Context, f site.EventFilter, show func(site.Event)) error {
	db, err := b.awaitDatabase(ctx)
	if db == nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	return b.withStore(ctx, func(s *site.Store) error {
		last, err := s.Events(ctx, f)
		slices.Reverse(last)
		tick := time.NewTicker(tailPoll)
		defer tick.Stop()
		f.Limit, f.Oldest = 0, true
		for err == nil {
			for _, e := range last {
				show(e)
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
