package service

import (
	"database/sql"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file has the read-only pages of the console.

const (
	boardCards    = 10 // pieces in a column of the board
	listCards     = 50
	auditRows     = 100
	listSites     = 25
	openSites     = 5 // unfold their revisions up to this number
	siteRevisions = 10
)

// home lists the workspaces.
func (v *consoleRequest) home() error {
	type workspace struct {
		Slug, Name, Role string
		Open             int
	}
	all, err := readTx(v.x.r.Context(), v.service.db, func(t tx) (all []workspace, err error) {
		for _, w := range v.who.reachableWorkspaces() {
			open, _, err := v.service.waitingProposals(t, w.id, w.zone, v.now)
			if err != nil {
				return nil, err
			}
			all = append(all, workspace{w.slug, w.name, w.role, len(open)})
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "home", "Workspaces", all)
}

// column is a state of the board.
type column struct {
	Status string
	Total  int
	Pieces []pieceView
	Next   string // cursor
}

type pieceView struct {
	toolapi.Piece
	When *clockView
}

// contentPage shows the board, or the list of one of its columns.
func (v *consoleRequest) contentPage() error {
	q := v.x.r.URL.Query()
	data := struct {
		Columns         []column
		Formats, States []string
		Status, Format  string
	}{Formats: toolapi.Formats(), States: toolapi.Lifecycles(), Status: q.Get("status"), Format: q.Get("format")}
	if data.Status != "" && !slices.Contains(data.States, data.Status) || data.Format != "" && !slices.Contains(data.Formats, data.Format) {
		return notFound()
	}
	states, limit := data.States, boardCards
	if data.Status != "" {
		states, limit = []string{data.Status}, listCards
	}
	for _, status := range states {
		arguments := map[string]any{"status": status, "limit": limit}
		if data.Format != "" {
			arguments["format"] = data.Format
		}
		if cursor := q.Get("cursor"); cursor != "" && data.Status != "" {
			arguments["cursor"] = cursor
		}
		page, err := callTool[toolapi.ContentStatus](v, "content.status", arguments)
		if err != nil {
			return err
		}
		c := column{Status: status, Total: page.Total, Next: page.NextCursor}
		for _, p := range page.Pieces {
			c.Pieces = append(c.Pieces, v.piece(p))
		}
		data.Columns = append(data.Columns, c)
	}
	return v.render(http.StatusOK, "content", "Content", data)
}

// piece shows when a piece is or was due.
func (v *consoleRequest) piece(p toolapi.Piece) pieceView {
	shown := pieceView{Piece: p}
	for _, at := range []*string{p.ScheduledFor, p.PublishedAt} {
		if when := v.timestamp(at); when != nil {
			shown.When = when
		}
	}
	return shown
}

// weekPage shows the schedule grid.
func (v *consoleRequest) weekPage() error {
	arguments := map[string]any{}
	if week := v.x.r.URL.Query().Get("week"); week != "" {
		arguments["week"] = week
	}
	grid, err := callTool[toolapi.Schedule](v, "schedule.read", arguments)
	if err != nil {
		return err
	}
	type cell struct{ Pieces []pieceView }
	type row struct {
		Format  toolapi.Format
		Planned int
		Filled  int
		Over    int // more than planned
		Cells   []cell
	}
	type day struct {
		Date, Text string
		Today      bool
	}
	data := struct {
		Week, Before, After, Zone string
		Days                      []day
		Rows                      []row
		Unplanned                 []pieceView
	}{Week: grid.Week, Zone: grid.TimeZone}
	monday, err := time.Parse(time.DateOnly, grid.Week)
	if err != nil {
		return err
	}
	data.Before = monday.AddDate(0, 0, -daysOfWeek).Format(time.DateOnly)
	data.After = monday.AddDate(0, 0, daysOfWeek).Format(time.DateOnly)
	zone, err := time.LoadLocation(grid.TimeZone)
	if err != nil {
		return err
	}
	for i, date := range grid.Days {
		today := date == v.now.In(zone).Format(time.DateOnly)
		data.Days = append(data.Days, day{date, monday.AddDate(0, 0, i).Format("Mon 2 Jan"), today})
	}
	for _, r := range grid.Rows {
		shown := row{Format: r.Format, Planned: r.Planned}
		for _, c := range r.Cells {
			var pieces []pieceView
			for _, p := range c.Pieces {
				pieces = append(pieces, v.piece(p))
			}
			shown.Filled += len(pieces)
			shown.Cells = append(shown.Cells, cell{pieces})
		}
		shown.Over = max(0, shown.Filled-shown.Planned)
		shown.Filled -= shown.Over
		data.Rows = append(data.Rows, shown)
	}
	for _, p := range grid.Unplanned {
		data.Unplanned = append(data.Unplanned, v.piece(p))
	}
	return v.render(http.StatusOK, "week", "Week", data)
}

// siteView shows a site.
type siteView struct {
	toolapi.Page
	URL      string
	Due      *clockView
	Domains  []toolapi.Domain
	LiveName string
	Made     []revisionView
	Count    int // of revisions
	Older    int
}

// revisionView shows a revision.
type revisionView struct {
	toolapi.RevisionSummary
	Created, Published *clockView
}

// sitesPage shows the pages with their revisions, schedules and domains, by name.
func (v *consoleRequest) sitesPage() error {
	pages, err := callTool[toolapi.PageList](v, "page.list", map[string]any{})
	if err != nil {
		return err
	}
	domains, err := callTool[toolapi.DomainList](v, "domain.list", map[string]any{})
	if err != nil {
		return err
	}
	q := v.x.r.URL.Query()
	data := struct {
		Find  string
		Total int
		Sites []siteView
		Open  bool // revisions are unfolded
		More  template.URL
	}{Find: strings.TrimSpace(q.Get("find"))}
	contains := func(name string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(data.Find)) }
	found := slices.DeleteFunc(pages.Pages, func(p toolapi.Page) bool {
		return !contains(p.Name) && !slices.ContainsFunc(domains.Domains, func(d toolapi.Domain) bool {
			return d.SiteID == p.SiteID && contains(d.Hostname)
		})
	})
	data.Total = len(found)
	from, err := strconv.Atoi(q.Get("from"))
	if q.Get("from") != "" && (err != nil || from < 0) {
		return notFound()
	}
	found = found[min(from, len(found)):]
	if len(found) > listSites {
		found, data.More = found[:listSites], query(url.Values{"find": {data.Find}, "from": {strconv.Itoa(from + listSites)}})
	}
	data.Open = len(found) <= openSites
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.SiteID
	}
	revisions, err := readTx(v.x.r.Context(), v.service.db, func(t tx) (map[string]revisionsOfSite, error) {
		return t.revisionsOf(ids, siteRevisions, v.now)
	})
	if err != nil {
		return err
	}
	for _, p := range found {
		s := siteView{Page: p, URL: v.address(p.Hostname), Count: revisions[p.SiteID].total}
		s.Older = s.Count - len(revisions[p.SiteID].newest)
		for _, r := range revisions[p.SiteID].newest {
			s.Made = append(s.Made, revisionView{r, v.timestamp(&r.CreatedAt), v.timestamp(r.PublishedAt)})
		}
		if p.LiveRevision != nil {
			s.LiveName = *p.LiveRevision
		}
		if p.Schedule != nil {
			s.Due = v.timestamp(&p.Schedule.At)
		}
		for _, d := range domains.Domains {
			if d.SiteID == p.SiteID {
				s.Domains = append(s.Domains, d)
			}
		}
		data.Sites = append(data.Sites, s)
	}
	return v.render(http.StatusOK, "sites", "Sites", data)
}

// query encodes the parameters of a link. The template would encode a string again.
func query(values url.Values) template.URL { return template.URL(values.Encode()) } //nolint:gosec // encoded

// timestamp shows the time in a result; nil for none.
func (v *consoleRequest) timestamp(at *string) *clockView {
	if at == nil {
		return nil
	}
	parsed, err := time.Parse(time.RFC3339Nano, *at)
	if err != nil {
		return nil
	}
	shown := v.clock(parsed.UnixMilli())
	return &shown
}

// address returns the URL of a site on this service, at the port of the request.
func (v *consoleRequest) address(hostname string) string {
	u := url.URL{Scheme: "http", Host: hostname, Path: "/"}
	if _, port, found := strings.Cut(strings.TrimPrefix(v.x.r.Host, "[::1]"), ":"); found {
		u.Host += ":" + port
	}
	return u.String()
}

// auditPage shows proposals, changes and refusals, newest first.
func (v *consoleRequest) auditPage() error {
	type trace struct {
		At                           clockView
		Who, Tool, Outcome           string
		Code, Summary, Request, Mark string
	}
	before := int64(1<<63 - 1)
	if text := v.x.r.URL.Query().Get("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return notFound()
		}
		before = n
	}
	data := struct {
		Rows []trace
		Next string
	}{}
	err := v.service.db.read(v.x.r.Context(), func(t tx) (err error) {
		var last int64
		data.Rows, err = list(t, func(rows *sql.Rows, r *trace) error {
			var at int64
			var who sql.NullString
			err := rows.Scan(&last, &at, &who, &r.Tool, &r.Outcome, &r.Code, &r.Summary, &r.Request)
			r.At, r.Who = v.clock(at), who.String
			return err
		}, `SELECT a.id, a.at, h.name, a.tool, a.outcome, a.code, a.summary, a.request_id
			FROM audit a LEFT JOIN holders h ON h.id = a.holder_id
			WHERE a.workspace_id = ? AND a.id < ? ORDER BY a.id DESC LIMIT ?`, v.in.id, before, auditRows)
		if len(data.Rows) == auditRows {
			data.Next = strconv.FormatInt(last, 10)
		}
		return err
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "audit", "Audit trail", data)
}
