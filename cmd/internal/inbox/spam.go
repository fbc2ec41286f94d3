package inbox

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// MarkSpam sets a lead apart as spam.
func (b Inbox) MarkSpam(ctx context.Context, id string) (lead Lead, err error) {
	err = b.withLead(ctx, id, func(s *site.Store) (err error) {
		if err = markError(s.MarkSpam(ctx, id), id, "spam"); err == nil {
			lead, err = findLead(ctx, s, id)
		}
		return err
	})
	return lead, err
}

// MarkHam turns spam into a lead: it raises the missing events and writes the row. The lead is not OK if its table refused the row.
func (b Inbox) MarkHam(ctx context.Context, id string) (lead Lead, err error) {
	err = b.withLead(ctx, id, func(s *site.Store) error {
		if _, err := s.MarkHam(ctx, id); err != nil {
			return markError(err, id, "ham")
		}
		if userfile.IsFile(filepath.Join(b.State.Dir, statefolder.SiteFile)) {
			db, err := b.State.Open(ctx, statefolder.SiteFile)
			if err != nil {
				return err
			}
			if _, err := s.Resubmit(ctx, db, id); err != nil {
				return err
			}
		}
		if lead, err = findLead(ctx, s, id); err == nil {
			lead.OK = lead.Lead.Submission.Status != site.SubmissionFailed
		}
		return err
	})
	return lead, err
}

// markError gives the errors of a mark their code and fix.
func markError(err error, id, mark string) error {
	switch {
	case errors.Is(err, site.ErrNoLead):
		return notFound("lead", id)
	case errors.Is(err, site.ErrMarked):
		return &failure.Error{
			Exit: failure.ExitRefused, Code: "lead-marked", Message: "the lead " + id + " is " + mark + " already",
			Fix: "see it with pages leads show " + id,
		}
	}
	return err
}
