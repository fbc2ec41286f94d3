// Package inbox reads the incoming data of a site on this machine: the leads of its forms with their files, their events, and
// the log of requests.
//
// Input: a state folder and filters. Output: leads, events and log entries, and lines of text for people, without control characters of a
// client. An unknown id is a *failure.Error, and so is an unusable state folder. It works with and without a running dev server; following
// waits for one. An Inbox keeps no file open; it is safe for concurrent use.
//
// It never delivers an event. It writes only to replay a row and its events, or to mark a lead as spam or ham.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Inbox reads the state of one site.
type Inbox struct {
	State *localstate.State
	Now   func() time.Time
	// Waiting is called if TailEvents or FollowLog waits for pages dev to make the database.
	Waiting func()
}

// withStore opens the site's platform database for fn. A site without one has received no lead: withStore then does nothing.
func (b Inbox) withStore(ctx context.Context, fn func(*site.Store) error) error {
	s := b.State
	if err := s.Check(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Dir, statefolder.PlatformFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.Lock(); err != nil {
		return err
	}
	db, err := s.Open(ctx, statefolder.PlatformFile)
	if err != nil {
		return err
	}
	store, err := site.OpenStore(ctx, db, site.StoreOptions{Now: b.Now})
	if err != nil {
		return errors.Join(s.OpenError(statefolder.PlatformFile, err), s.Close())
	}
	return errors.Join(fn(store), s.Close())
}

// fromStore returns the list that fn reads from the store; never nil.
func fromStore[T any](ctx context.Context, b Inbox, fn func(*site.Store) ([]T, error)) ([]T, error) {
	list := []T{}
	err := b.withStore(ctx, func(s *site.Store) (err error) {
		list, err = fn(s)
		return err
	})
	return list, err
}

// notFound returns the error of an unknown id.
func notFound(what, id string) error {
	return &failure.Error{
		Exit: failure.ExitRefused, Code: "no-such-" + what, Message: fmt.Sprintf("there is no %s %q", what, id),
		Fix: "list them: pages " + what + "s list",
	}
}

// Lead is a lead with its events, in the document of `pages leads show --json`.
type Lead struct {
	OK     bool         `json:"ok"`
	Lead   site.Lead    `json:"lead"`
	Events []site.Event `json:"events"` // oldest first
}

// Leads returns the leads that match a filter, newest first; never nil.
func (b Inbox) Leads(ctx context.Context, f site.LeadFilter) ([]site.Lead, error) {
	return fromStore(ctx, b, func(s *site.Store) ([]site.Lead, error) { return s.Leads(ctx, f) })
}

// Lead returns the lead of an id.
func (b Inbox) Lead(ctx context.Context, id string) (lead Lead, err error) {
	err = b.withLead(ctx, id, func(s *site.Store) (err error) {
		lead, err = findLead(ctx, s, id)
		return err
	})
	return lead, err
}

// withLead is withStore for one lead. A site without a database does not have it.
func (b Inbox) withLead(ctx context.Context, id string, fn func(*site.Store) error) error {
	opened := false
	err := b.withStore(ctx, func(s *site.Store) error {
		opened = true
		return fn(s)
	})
	if err == nil && !opened {
		return notFound("lead", id)
	}
	return err
}

func findLead(ctx context.Context, s *site.Store, id string) (Lead, error) {
	leads, err := s.Leads(ctx, site.LeadFilter{ID: id})
	if err != nil {
		return Lead{}, err
	}
	if id == "" || len(leads) == 0 {
		return Lead{}, notFound("lead", id)
	}
	events, err := s.Events(ctx, site.EventFilter{Lead: id, Oldest: true})
	return Lead{OK: true, Lead: leads[0], Events: events}, err
}

// Replay writes the row of a lead again, unless it exists, and queues its events again. The lead is not OK if its table refused the row
// again.
func (b Inbox) Replay(ctx context.Context, id string) (lead Lead, err error) {
	err = b.withLead(ctx, id, func(s *site.Store) error {
		found, err := findLead(ctx, s, id)
		if err != nil {
			return err
		}
		if found.Lead.Spam != nil {
			return &failure.Error{
				Exit: failure.ExitRefused, Code: "lead-is-spam", Message: "the lead is spam: it has no row and no events",
				Fix: "mark it as a lead first: pages leads ham " + id,
			}
		}
		if userfile.IsFile(filepath.Join(b.State.Dir, statefolder.SiteFile)) {
			db, err := b.State.Open(ctx, statefolder.SiteFile)
			if err != nil {
				return err
			}
			if found.Lead.Submission, err = s.Resubmit(ctx, db, id); err != nil {
				return err
			}
		}
		if _, err = s.ReplayEvents(ctx, site.EventFilter{Lead: id}); err != nil {
			return err
		}
		if found, err = findLead(ctx, s, id); err != nil {
			return err
		}
		lead = found
		lead.OK = lead.Lead.Submission.Status != site.SubmissionFailed
		return nil
	})
	return lead, err
}

// tailPoll is how often the store is polled for new events.
const tailPoll = 200 * time.Millisecond

// Events returns the events that match a filter; never nil.
func (b Inbox) Events(ctx context.Context, f site.EventFilter) ([]site.Event, error) {
	return fromStore(ctx, b, func(s *site.Store) ([]site.Event, error) { return s.Events(ctx, f) })
}

// ReplayEvents queues events for the webhook again, and returns them.
func (b Inbox) ReplayEvents(ctx context.Context, f site.EventFilter) ([]site.Event, error) {
	events, err := fromStore(ctx, b, func(s *site.Store) ([]site.Event, error) { return s.ReplayEvents(ctx, f) })
	if err == nil && f.ID != "" && len(events) == 0 {
		return nil, notFound("event", f.ID)
	}
	return events, err
}

// TailEvents calls show with the last events of a filter, oldest first, and then with each new one, until ctx ends.
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
