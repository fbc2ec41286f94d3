package service

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file brings what the forms of published pages captured into their workspaces. A
// visitor is answered when the page itself has the lead; from there the service takes each
// once, in the page's order: the leads and how far they were taken are one transaction.

// Captured is a lead of a page, on its way into the workspace.
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
}

// takenAtOnce is how many leads are taken in one transaction.
const takenAtOnce = 500

// arrivals are the pages whose leads wait to be taken.
type arrivals struct {
	mu    sync.Mutex
	sites map[string]bool
	any   chan struct{} // one is waiting
}

func newArrivals() arrivals {
	return arrivals{sites: map[string]bool{}, any: make(chan struct{}, 1)}
}

// Arrived says that a page has captured something. It does not wait.
func (s *Service) Arrived(site string) {
	s.arrivals.put(site)
	select {
	case s.arrivals.any <- struct{}{}:
	default: // somebody will look
	}
}

func (a *arrivals) put(site string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sites[site] = true
}

// next takes a page from those that wait; "" when there is none.
func (a *arrivals) next() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for site := range a.sites {
		delete(a.sites, site)
		return site
	}
	return ""
}

// runInbox takes leads as they arrive, until ctx ends, and then those of the last moment.
func (s *Service) runInbox(ctx context.Context) {
	again := time.NewTicker(pollInterval) // for what failed
	defer again.Stop()
	err := s.takeAll(ctx)
	for ctx.Err() == nil {
		if err = errors.Join(err, s.takeArrived(ctx)); err != nil && ctx.Err() == nil {
			s.log.Error("leads were not taken into the workspace, which is tried again", "error", err.Error())
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
		s.log.Error("leads are taken into the workspace when the service is started again", "error", err.Error())
	}
}

// takeArrived takes the leads of every page that said it has some.
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

// takeAll has the leads of every page taken that was ever uploaded: what a
// service that ended left is among them.
func (s *Service) takeAll(ctx context.Context) error {
	var sites []string
	err := s.db.read(ctx, func(t tx) (err error) {
		sites, err = list(t, func(rows *sql.Rows, site *string) error { return rows.Scan(site) }, "SELECT DISTINCT site_id FROM revisions")
		return err
	})
	for _, site := range sites {
		s.Arrived(site)
	}
	return err
}

// takeLeads takes the leads of a page that are new.
func (s *Service) takeLeads(ctx context.Context, site string) error {
	for {
		var last int64
		err := s.db.read(ctx, func(t tx) error {
			_, err := t.queryOne("SELECT last FROM leads_brought WHERE site_id = ?", []any{site}, &last)
			return err
		})
		if err != nil {
			return err
		}
		fresh, err := s.host.Leads(ctx, site, last, takenAtOnce)
		if err != nil || len(fresh) == 0 {
			return err
		}
		if err := s.db.write(ctx, func(t tx) error { return t.keepLeads(site, fresh) }); err != nil {
			return err
		}
	}
}

// keepLeads stores leads, and that they were taken. One that is there already, as after
// the service was restored from a copy, stays.
func (t tx) keepLeads(site string, fresh []Captured) error {
	for _, l := range fresh {
		if l.Events == nil {
			l.Events = []toolapi.LeadEvent{}
		}
		events, err := json.Marshal(l.Events)
		if err != nil {
			return err
		}
		err = t.exec(`INSERT INTO leads (id, workspace_id, site_id, form, fields, events, created_at, preview)
			SELECT ?, workspace_id, id, ?, ?, ?, ?, ? FROM sites WHERE id = ? ON CONFLICT DO NOTHING`,
			l.ID, l.Form, string(l.Fields), string(events), l.CreatedAt.UnixMilli(), l.Preview, site)
		if err != nil {
			return err
		}
	}
	return t.exec(
		"INSERT INTO leads_brought (site_id, last) VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
		site, fresh[len(fresh)-1].Number,
	)
}

// leads is page.leads.
func (c *call) leads(args toolapi.LeadListArgs) (toolapi.LeadList, error) {
	page := toolapi.LeadList{Leads: []toolapi.Lead{}}
	limit := int(args.Limit)
	if limit == 0 {
		limit = defaultPageSize
	}
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
	if _, err := c.queryOne("SELECT count(*) FROM leads WHERE "+where, filters, &page.Total); err != nil {
		return page, err
	}
	chosen := "leads\x00" + strings.ToLower(string(args.SiteID)) + "\x00" + string(args.Form)
	if args.Cursor != "" {
		at, err := c.unseal(string(args.Cursor), chosen)
		if err != nil {
			return page, err
		}
		where, filters = where+" AND (created_at, id) < (?, ?)", append(filters, at.Updated, at.ID)
	}
	const newest = " ORDER BY created_at DESC, id DESC LIMIT ?"
	sizes, err := list(
		c.tx, func(rows *sql.Rows, n *int) error { return rows.Scan(n) },
		"SELECT octet_length(fields) FROM leads WHERE "+where+newest, append(filters, limit+1)...,
	)
	if err != nil {
		return page, err
	}
	found, err := list(
		c.tx, scanLead, "SELECT id, site_id, form, fields, events, created_at, preview FROM leads WHERE "+where+newest,
		append(filters, countFitting(sizes, limit))...,
	)
	if err != nil {
		return page, err
	}
	if last := len(found) - 1; len(sizes) > len(found) {
		page.NextCursor, err = c.seal(found[last].created, found[last].ID, chosen)
	}
	for _, l := range found {
		page.Leads = append(page.Leads, l.Lead)
	}
	return page, err
}

// countFitting is how many leads of such sizes are on a page: at most so many, and no more once
// they hold leadBytes. A visitor may send a megabyte, and decides not how long an answer is.
func countFitting(sizes []int, most int) (n int) {
	for held := 0; n < min(most, len(sizes)) && held < leadBytes; n++ {
		held += sizes[n]
	}
	return n
}

// storedLead is a lead with what its place in a list is found by.
type storedLead struct {
	toolapi.Lead
	created int64
}

func scanLead(rows *sql.Rows, l *storedLead) error {
	var fields, events []byte
	if err := rows.Scan(&l.ID, &l.SiteID, &l.Form, &fields, &events, &l.created, &l.Preview); err != nil {
		return err
	}
	l.Fields, l.CreatedAt = fields, formatTime(l.created)
	return json.Unmarshal(events, &l.Events)
}
