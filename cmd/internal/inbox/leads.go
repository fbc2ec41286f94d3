package inbox

import (
	"context"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// Lead is one lead with its events, as `pages leads show --json` prints it.
type Lead struct {
	OK     bool         `json:"ok"`
	Lead   site.Lead    `json:"lead"`
	Events []site.Event `json:"events"` // oldest first
}

// Leads returns the leads that a filter chooses, newest first; never nil.
func (b Inbox) Leads(ctx context.Context, f site.LeadFilter) ([]site.Lead, error) {
	leads := []site.Lead{}
	err := b.withStore(ctx, func(s *site.Store) (err error) {
		leads, err = s.Leads(ctx, f)
		return err
	})
	return leads, err
}

// Lead returns the lead of an id.
func (b Inbox) Lead(ctx context.Context, id string) (lead Lead, err error) {
	err = b.withLead(ctx, id, func(s *site.Store) (err error) {
		lead, err = findLead(ctx, s, id)
		return err
	})
	return lead, err
}

// withLead is withStore for what is about one lead, which a site without a database does not have.
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

// Replay writes the row of a lead again, unless it is there, and queues its events again. The lead is not OK when its table refused
// the row once more.
func (b Inbox) Replay(ctx context.Context, id string) (lead Lead, err error) {
	err = b.withLead(ctx, id, func(s *site.Store) (err error) {
		lead, err = b.replay(ctx, s, id)
		return err
	})
	return lead, err
}

func (b Inbox) replay(ctx context.Context, s *site.Store, id string) (Lead, error) {
	lead, err := findLead(ctx, s, id)
	if err != nil {
		return Lead{}, err
	}
	if userfile.IsFile(filepath.Join(b.State.Dir, statefolder.SiteFile)) {
		db, err := b.State.Open(ctx, statefolder.SiteFile)
		if err != nil {
			return Lead{}, err
		}
		if lead.Lead.Submission, err = s.Resubmit(ctx, db, id); err != nil {
			return Lead{}, err
		}
	}
	if _, err = s.ReplayEvents(ctx, site.EventFilter{Lead: id}); err != nil {
		return Lead{}, err
	}
	if lead, err = findLead(ctx, s, id); err != nil {
		return Lead{}, err
	}
	lead.OK = lead.Lead.Submission.Status != site.SubmissionFailed
	return lead, nil
}
