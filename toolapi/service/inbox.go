package service

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file moves the leads of published pages into their workspaces. A page responds once it has stored the lead. The
// service then takes each lead exactly once, in the page's order: leads and cursor are one transaction.

// Captured is a lead of a page that is not in its workspace yet.
type Captured struct {
	// Number grows with each lead of the page.
	Number   int64
	ID, Form string
	// Fields is a JSON object.
	Fields    json.RawMessage
	CreatedAt time.Time
	Preview   bool
	// Events are those that the lead raised, in order.
	Events []toolapi.LeadEvent
	// Spam is the verdict of the filter; nil for a lead.
	Spam *toolapi.LeadSpam
}

const leadBatch = 500 // leads taken in one transaction

// arrivals are the pages with new leads.
type arrivals struct {
	mu    sync.Mutex
	sites map[string]bool
	any   chan struct{} // has an item when there may be one
}

// Arrived announces new leads of a page. It does not block.
func (s *Service) Arrived(site string) {
	s.arrivals.put(site)
	select {
	case s.arrivals.any <- struct{}{}:
	default:
	}
}

func (a *arrivals) put(site string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sites[site] = true
}

// next removes and returns a page; "" for none.
func (a *arrivals) next() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for site := range a.sites {
		delete(a.sites, site)
		return site
	}
	return ""
}

// runInbox takes leads as they arrive, until ctx ends, and then the last ones. It begins with every page that has a
// revision, for leads from an earlier process.
func (s *Service) runInbox(ctx context.Context) {
	again := time.NewTicker(pollInterval) // after a failure
	defer again.Stop()
	sites, err := readTx(ctx, s.db, func(t tx) ([]string, error) {
		return listColumn[string](t, "SELECT DISTINCT site_id FROM revisions")
	})
	for _, site := range sites {
		s.Arrived(site)
	}
	for ctx.Err() == nil {
		if err = errors.Join(err, s.takeArrived(ctx)); err != nil && ctx.Err() == nil {
			s.log.Error("leads were not copied to the workspace; the service will try again", "error", err.Error())
		}
		err = nil
		select {
		case <-ctx.Done():
		case <-s.arrivals.any:
		case <-again.C:
		}
	}
	if s.Failure() != nil {
		return
	}
	if err := s.takeArrived(context.WithoutCancel(ctx)); err != nil {
		s.log.Error("leads will be copied to the workspace at the next start of the service", "error", err.Error())
	}
}

// takeArrived takes the leads of every page in arrivals.
func (s *Service) takeArrived(ctx context.Context) error {
	var failed []string
	var errs []error
	for site := s.arrivals.next(); site != ""; site = s.arrivals.next() {
		if err := s.takeLeads(ctx, site); err != nil {
			failed, errs = append(failed, site), append(errs, err)
		}
	}
	for _, site := range failed {
		s.arrivals.put(site)
	}
	return errors.Join(errs...)
}

// takeLeads takes the new leads of a page.
func (s *Service) takeLeads(ctx context.Context, site string) error {
	for {
		last, err := readTx(ctx, s.db, func(t tx) (last int64, err error) {
			_, err = t.queryOne("SELECT last FROM leads_brought WHERE site_id = ?", []any{site}, &last)
			return last, err
		})
		if err != nil {
			return err
		}
		fresh, err := s.host.Leads(ctx, site, last, leadBatch)
		if err != nil || len(fresh) == 0 {
			return err
		}
		err = s.db.write(ctx, func(t tx) error {
			settings, err := t.settings(site)
			if err != nil {
				return err
			}
			for _, l := range fresh {
				if err := t.takeLead(site, l); err != nil {
					return err
				}
				if err := t.queueLeadMails(site, l, settings.LeadMail, s.now()); err != nil {
					return err
				}
			}
			return t.exec("INSERT INTO leads_brought (site_id, last) VALUES (?, ?) "+
				"ON CONFLICT DO UPDATE SET last = max(last, excluded.last)", site, fresh[len(fresh)-1].Number)
		})
		if err != nil {
			return err
		}
		s.leadMails.notify()
	}
}

// takeLead stores a lead. An existing lead, after a mark or a restored backup, gets its present events and mark.
func (t tx) takeLead(site string, l Captured) error {
	if l.Events == nil {
		l.Events = []toolapi.LeadEvent{}
	}
	events, err := json.Marshal(l.Events)
	if err != nil {
		return err
	}
	var spam []byte
	if l.Spam != nil {
		if spam, err = json.Marshal(l.Spam); err != nil {
			return err
		}
	}
	return t.exec(`INSERT INTO leads (id, workspace_id, site_id, form, fields, events, created_at, preview, spam)
		SELECT ?, workspace_id, id, ?, ?, ?, ?, ?, ? FROM sites WHERE id = ?
		ON CONFLICT DO UPDATE SET events = excluded.events, spam = excluded.spam WHERE site_id = excluded.site_id`,
		l.ID, l.Form, string(l.Fields), string(events), l.CreatedAt.UnixMilli(), l.Preview, nullText(spam), site)
}

// nullText is a text for the database, NULL for none.
func nullText(text []byte) sql.NullString {
	return sql.NullString{String: string(text), Valid: len(text) > 0}
}

// storedLead is a lead with its position in a list.
type storedLead struct {
	toolapi.Lead
	created int64
}

const selectStoredLeads = "SELECT id, site_id, form, fields, events, created_at, preview, spam FROM leads WHERE "

func scanStoredLead(rows *sql.Rows, l *storedLead) error {
	var fields, events, spam []byte
	if err := rows.Scan(&l.ID, &l.SiteID, &l.Form, &fields, &events, &l.created, &l.Preview, &spam); err != nil {
		return err
	}
	l.Fields, l.CreatedAt = fields, formatTime(l.created)
	if len(spam) > 0 {
		if err := json.Unmarshal(spam, &l.Spam); err != nil {
			return err
		}
	}
	return json.Unmarshal(events, &l.Events)
}

// leads is page.leads.
func (c *call) leads(args toolapi.LeadListArgs) (toolapi.LeadList, error) {
	page := toolapi.LeadList{Leads: []toolapi.Lead{}}
	limit := cmp.Or(int(args.Limit), defaultPageSize)
	where, filters := "workspace_id = ?", []any{c.in.id}
	if args.SiteID != "" {
		s, err := c.site(args.SiteID)
		if err != nil {
			return page, err
		}
		where, filters = where+" AND site_id = ?", append(filters, s.id)
	}
	if args.Form != "" {
		where, filters = where+" AND form = ?", append(filters, string(args.Form))
	}
	if args.Spam {
		where += " AND spam IS NOT NULL"
	} else {
		where += " AND spam IS NULL"
	}
	if _, err := c.queryOne("SELECT count(*) FROM leads WHERE "+where, filters, &page.Total); err != nil {
		return page, err
	}
	chosen := "leads\x00" + strings.ToLower(string(args.SiteID)) + "\x00" + string(args.Form)
	if args.Spam {
		chosen += "\x00spam"
	}
	if args.Cursor != "" {
		at, err := c.decodeCursor(string(args.Cursor), chosen)
		if err != nil {
			return page, err
		}
		where, filters = where+" AND (created_at, id) < (?, ?)", append(filters, at.Updated, at.ID)
	}
	const newest = " ORDER BY created_at DESC, id DESC LIMIT ?"
	sizes, err := listColumn[int](c.tx, "SELECT octet_length(fields) FROM leads WHERE "+where+newest, append(filters, limit+1)...)
	if err != nil {
		return page, err
	}
	// A lead may have a megabyte, so the response ends at leadBytes.
	fitting := 0
	for bytes := 0; fitting < min(limit, len(sizes)) && bytes < leadBytes; fitting++ {
		bytes += sizes[fitting]
	}
	found, err := list(c.tx, scanStoredLead, selectStoredLeads+where+newest, append(filters, fitting)...)
	if err != nil {
		return page, err
	}
	if last := len(found) - 1; len(sizes) > len(found) {
		page.NextCursor, err = c.encodeCursor(found[last].created, found[last].ID, chosen)
	}
	for _, l := range found {
		page.Leads = append(page.Leads, l.Lead)
	}
	return page, err
}
