package service

import (
	"database/sql"
	"fmt"
	"regexp"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// timestamp is ISO 8601 with an offset; seconds and their fraction may be left out.
var timestamp = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$`)

// parseTime reads a timestamp of the calendar and the clock.
func parseTime(s string) (time.Time, bool) {
	part := timestamp.FindStringSubmatch(s)
	if part == nil {
		return time.Time{}, false
	}
	if part[2] == "" {
		part[2] = ":00"
	}
	if n := len(part[3]); n == len("+0100") {
		part[3] = part[3][:3] + ":" + part[3][3:]
	}
	t, err := time.Parse(time.RFC3339Nano, part[1]+part[2]+part[3])
	return t, err == nil
}

// schedulePublish is page.schedule_publish (platform document, section 4.5).
func (c *call) schedulePublish(args toolapi.SchedulePublishArgs) (plan[toolapi.SchedulePublish], error) {
	none := plan[toolapi.SchedulePublish]{}
	at, ok := parseTime(string(args.At))
	switch {
	case !ok:
		return none, invalid(toolapi.Issue{Path: "at", Message: "must be an ISO 8601 timestamp with a UTC offset, such as 2026-11-23T10:00:00+01:00"})
	case at.Before(c.now.Add(scheduleSoonest)):
		return none, refuseAt(toolapi.CodeScheduleTooSoon, "The time must be at least five minutes ahead.", "at", "give a later time, or use page.publish")
	case at.After(c.now.AddDate(scheduleYears, 0, 0)):
		return none, refuseAt(toolapi.CodeScheduleTooFar, "The time must be within the next year.", "at", "give an earlier time")
	}
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	revision, err := c.revision(s, "")
	if err != nil {
		return none, err
	}
	return plan[toolapi.SchedulePublish]{
		target:  s.state() + " to " + revision,
		summary: fmt.Sprintf("Publish page %s at %s on %s: revision %s goes live then.", named(s.name), s.hostname, at.Format("Monday 2 January 2006, 15:04:05 (UTC-07:00)"), revision),
		result:  toolapi.SchedulePublish{SiteID: s.id, At: at.Format(time.RFC3339Nano), Revision: revision, Hostname: s.hostname, Replaced: s.due.Valid},
		apply: func() error {
			err := c.exec("INSERT OR REPLACE INTO schedules (site_id, at, revision, holder_id, key_id, request_id) VALUES (?, ?, ?, ?, ?, ?)",
				s.id, at.UnixMilli(), revision, c.who.holder, c.who.key, c.request)
			if err != nil {
				return err
			}
			return c.exec("UPDATE sites SET version = version + 1 WHERE id = ?", s.id)
		},
	}, nil
}

// unschedule is page.unschedule.
func (c *call) unschedule(args toolapi.UnscheduleArgs) (toolapi.Unschedule, error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return toolapi.Unschedule{}, err
	}
	if !s.due.Valid {
		return toolapi.Unschedule{}, refuseAt(toolapi.CodeNotScheduled, "No publish of this page is scheduled.", "site_id", "page.list shows what is scheduled")
	}
	result := toolapi.Unschedule{SiteID: s.id, At: instant(s.due.Int64), Revision: s.scheduled.String}
	if err := c.exec("DELETE FROM schedules WHERE site_id = ?", s.id); err != nil {
		return result, err
	}
	return result, c.exec("UPDATE sites SET version = version + 1 WHERE id = ?", s.id)
}

// due is a scheduled publish whose time has come.
type due struct {
	site, revision, request string
	workspace, holder, key  int64
}

// publishDue publishes what is due: once, and late when the service was down. It is
// the same transaction that takes the schedule away.
func (t tx) publishDue(now int64) (int, error) {
	all, err := list(t, func(rows *sql.Rows, d *due) error {
		return rows.Scan(&d.site, &d.revision, &d.request, &d.workspace, &d.holder, &d.key)
	}, `SELECT n.site_id, n.revision, n.request_id, s.workspace_id, n.holder_id, n.key_id
		FROM schedules n JOIN sites s ON s.id = n.site_id WHERE n.at <= ? ORDER BY n.at, n.site_id`, now)
	if err != nil {
		return 0, err
	}
	for _, d := range all {
		if err := t.exec("DELETE FROM schedules WHERE site_id = ?", d.site); err != nil {
			return 0, err
		}
		if err := t.setLive(d.site, d.revision, d.request, now); err != nil {
			return 0, err
		}
		if err := t.exec("INSERT INTO audit (at, request_id, workspace_id, holder_id, key_id, tool, outcome, summary) VALUES (?, ?, ?, ?, ?, 'page.schedule_publish', 'done', ?)",
			now, d.request, d.workspace, d.holder, d.key, "Published revision "+d.revision+" as scheduled."); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
