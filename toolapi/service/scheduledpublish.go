package service

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// schedulePublish is page.schedule_publish (platform document, section 4.5).
func (c *call) schedulePublish(args toolapi.SchedulePublishArgs) (none plan[toolapi.SchedulePublish], err error) {
	at, ok := args.At.Moment()
	soonest, latest := toolapi.ScheduleWindow(c.now)
	switch {
	case !ok:
		return none, invalid(toolapi.Issue{
			Path: "at", Message: "must be an ISO 8601 timestamp with a UTC offset, such as 2026-11-23T10:00:00+01:00",
		})
	case at.Before(soonest):
		return none, refuseAt(toolapi.CodeScheduleTooSoon, "The time must be at least five minutes ahead.", "at",
			"pass a later time, or use page.publish")
	case at.After(latest):
		return none, refuseAt(toolapi.CodeScheduleTooFar, "The time must be within the next year.", "at", "pass an earlier time")
	}
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	revision, err := c.revision(s, "")
	if err != nil {
		return none, err
	}
	when := at.Format("Monday 2 January 2006, 15:04:05 (UTC-07:00)")
	return plan[toolapi.SchedulePublish]{
		subject: "schedule of site " + s.id,
		target:  s.state() + " to " + revision,
		release: releaseChange{site: s.id, revision: revision}, later: true, allowed: args.AllowDataLoss,
		summary: fmt.Sprintf("Publish site %s at %s on %s: revision %s goes live then.",
			quoteName(s.name), s.hostname, when, revision),
		result: toolapi.SchedulePublish{
			SiteID: s.id, At: at.Format(time.RFC3339Nano), Revision: revision, Hostname: s.hostname, Replaced: s.due.Valid,
		},
		apply: func() error {
			agreed, err := json.Marshal(c.agreed)
			if err != nil {
				return err
			}
			err = c.exec("INSERT OR REPLACE INTO schedules (site_id, at, revision, holder_id, key_id, request_id, approval) "+
				"VALUES (?, ?, ?, ?, ?, ?, ?)", s.id, at.UnixMilli(), revision, c.who.holder, c.who.key, c.request, string(agreed))
			if err != nil {
				return err
			}
			return c.noteSiteChange(s.id, "revision "+revision+" was scheduled for "+when, c.now.UnixMilli())
		},
	}, nil
}

// unschedule is page.unschedule.
func (c *call) unschedule(args toolapi.UnscheduleArgs) (result toolapi.Unschedule, err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return result, err
	}
	if !s.due.Valid {
		return result, refuseAt(toolapi.CodeNotScheduled, "No publish of this site is scheduled.", "site_id",
			"page.list shows the scheduled publishes")
	}
	result = toolapi.Unschedule{SiteID: s.id, At: formatTime(s.due.Int64), Revision: s.scheduled.String}
	if err := c.exec("DELETE FROM schedules WHERE site_id = ?", s.id); err != nil {
		return result, err
	}
	return result, c.noteSiteChange(s.id, "the scheduled publish was cancelled", c.now.UnixMilli())
}

// duePublish is a scheduled publish whose time has come.
type duePublish struct {
	site, revision, request string
	at                      int64
	workspace, holder, key  int64
	approval                sql.NullString // JSON; NULL of a schedule that an older version made
}

// agreed returns the losses that were approved with the schedule.
func (d duePublish) agreed() (a approval, err error) {
	if d.approval.Valid {
		err = json.Unmarshal([]byte(d.approval.String), &a)
	}
	return a, err
}

// late is the delay of a scheduled publish, which is long after a downtime of the service.
func (d duePublish) late(now int64) time.Duration {
	return (time.Duration(now-d.at) * time.Millisecond).Truncate(time.Second)
}

// PublishDue publishes every page whose scheduled time has come.
func (s *Service) PublishDue(ctx context.Context) error {
	var work sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	s.beginDue(ctx, &work, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	})
	work.Wait()
	return errors.Join(errs...)
}

// beginDue starts the due publishes: one after the other within a workspace, and in parallel for different workspaces.
// It skips a workspace with a publish in progress until the next time.
func (s *Service) beginDue(ctx context.Context, work *sync.WaitGroup, failed func(error)) {
	now := s.now().UnixMilli()
	all, err := readTx(ctx, s.db, func(t tx) ([]duePublish, error) {
		return list(t, func(rows *sql.Rows, d *duePublish) error {
			return rows.Scan(&d.site, &d.revision, &d.request, &d.at, &d.workspace, &d.holder, &d.key, &d.approval)
		}, `SELECT n.site_id, n.revision, n.request_id, n.at, s.workspace_id, n.holder_id, n.key_id, n.approval
			FROM schedules n JOIN sites s ON s.id = n.site_id WHERE n.at <= ? ORDER BY n.at, n.site_id`, now)
	})
	if err != nil {
		failed(err)
		return
	}
	byWorkspace := map[int64][]duePublish{}
	for _, d := range all {
		byWorkspace[d.workspace] = append(byWorkspace[d.workspace], d)
	}
	for workspace, due := range byWorkspace {
		if _, busy := s.publishing.LoadOrStore(workspace, true); busy {
			continue
		}
		work.Go(func() {
			defer s.publishing.Delete(workspace)
			for _, d := range due {
				if err := s.publishScheduled(ctx, d, now); err != nil {
					failed(err)
				}
			}
		})
	}
}

// publishScheduled publishes a due schedule of a site: once, and late when the service was down. A failed release is
// cancelled.
func (s *Service) publishScheduled(ctx context.Context, d duePublish, now int64) error {
	var next *preparedRelease
	var refused *refusalError
	if s.host != nil {
		agreed, err := d.agreed()
		if err != nil {
			return err
		}
		next, err = s.lockAndPrepare(ctx, releaseChange{site: d.site, revision: d.revision}, agreed, func() (bool, error) {
			return readTx(ctx, s.db, func(t tx) (due bool, err error) {
				_, err = t.queryOne("SELECT EXISTS (SELECT 1 FROM schedules WHERE site_id = ? AND at = ? AND revision = ?)",
					[]any{d.site, d.at, d.revision}, &due)
				return due, err
			})
		})
		refused, _ = refusedWith(err)
		if err != nil && refused == nil {
			return err
		}
		if next == nil && refused == nil {
			return nil // it was moved or cancelled in the meantime
		}
	}
	code, reason := "", ""
	if refused != nil {
		code, reason = refused.refusal.Code, refused.refusal.Message
		s.log.Error("a scheduled publish was cancelled",
			"site", d.site, "revision", d.revision, "code", code, "error", refused.refusal.Message)
	}
	done, err := writeTx(ctx, s.db, func(t tx) (bool, error) { return t.publishDue(d, now, code, reason) })
	if err != nil || !done {
		next.discard()
		return err
	}
	next.show()
	if code == "" {
		s.log.Info("published as scheduled", "site", d.site, "revision", d.revision, "late", d.late(now).String())
	}
	return nil
}

// publishDue moves the pointer in the transaction that removes the schedule. It returns false if the schedule has
// changed.
func (t tx) publishDue(d duePublish, now int64, code, reason string) (done bool, err error) {
	n, err := t.change("DELETE FROM schedules WHERE site_id = ? AND at = ? AND revision = ?", d.site, d.at, d.revision)
	if err != nil || n == 0 {
		return false, err
	}
	outcome, summary := "done", "Published revision "+d.revision+" as scheduled."
	if code == "" {
		if late := d.late(now); late >= minLateNote {
			summary = fmt.Sprintf("Published revision %s as scheduled for %s, %s late.", d.revision, formatTime(d.at), late)
		}
		err = t.setLive(d.site, d.revision, d.request, now)
	} else {
		outcome, summary = "refused", oneLine("Revision "+d.revision+" could not be published as scheduled: "+reason)
		err = t.noteSiteChange(d.site, "the scheduled publish of revision "+d.revision+" failed", now)
	}
	if err != nil {
		return false, err
	}
	return true, t.exec("INSERT INTO audit (at, request_id, workspace_id, holder_id, key_id, tool, outcome, code, "+
		"summary) VALUES (?, ?, ?, ?, ?, 'page.schedule_publish', ?, ?, ?)",
		now, d.request, d.workspace, d.holder, d.key, outcome, code, summary)
}
