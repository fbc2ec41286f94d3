package service

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// siteRow is a site with its provided address and its schedule.
type siteRow struct {
	id, name  string
	live      sql.NullString
	version   int64
	hostname  string
	serving   bool // the provided address resolves
	due       sql.NullInt64
	scheduled sql.NullString // revision
}

const siteQuery = `SELECT s.id, s.name, s.live_revision, s.version, coalesce(d.hostname, ''), coalesce(d.active, 0), n.at, n.revision
	FROM sites s LEFT JOIN domains d ON d.site_id = s.id AND d.provided LEFT JOIN schedules n ON n.site_id = s.id WHERE `

func (s *siteRow) columns() []any {
	return []any{&s.id, &s.name, &s.live, &s.version, &s.hostname, &s.serving, &s.due, &s.scheduled}
}

// site finds a site of the workspace.
func (c *call) site(id toolapi.UUID) (siteRow, error) {
	var s siteRow
	found, err := c.queryOne(siteQuery+"s.id = ? AND s.workspace_id = ?", []any{strings.ToLower(string(id)), c.in.id}, s.columns()...)
	if err == nil && !found {
		err = refuseAt(toolapi.CodeSiteUnknown, "There is no such page in this workspace.", "site_id", "page.list lists the pages")
	}
	return s, err
}

// revision finds a revision of a site by its name, or the newest one for "".
func (c *call) revision(s siteRow, name string) (string, error) {
	var found string
	ok, err := c.queryOne(
		"SELECT name FROM revisions WHERE site_id = ? AND (? = '' OR name = ?) ORDER BY number DESC LIMIT 1",
		[]any{s.id, name, name}, &found,
	)
	switch {
	case err != nil || ok:
		return found, err
	case name == "":
		return "", refuseAt(toolapi.CodeNoRevision, "The page has no revision to publish.", "site_id", "upload the page first")
	}
	return "", refuseAt(toolapi.CodeRevisionUnknown, "The page has no such revision.", "revision", "page.revisions lists the revisions")
}

// state is what makes a proposal about the site stale when it changes.
func (s siteRow) state() string { return fmt.Sprintf("site %s at %d", s.id, s.version) }

// setLive makes a revision what the site serves.
func (t tx) setLive(site, revision, request string, at int64) error {
	if err := t.exec(
		"INSERT INTO publishes (site_id, revision, previous, at, request_id) SELECT id, ?, live_revision, ?, ? FROM sites WHERE id = ?",
		revision, at, request, site,
	); err != nil {
		return err
	}
	if err := t.noteMigrations(site, revision); err != nil {
		return err
	}
	return t.exec("UPDATE sites SET live_revision = ?, version = version + 1 WHERE id = ?", revision, site)
}

// pageList is page.list.
func (c *call) pageList(toolapi.NoArgs) (toolapi.PageList, error) {
	var all toolapi.PageList
	sites, err := list(
		c.tx, func(rows *sql.Rows, s *siteRow) error { return rows.Scan(s.columns()...) },
		siteQuery+"s.workspace_id = ? ORDER BY s.name, s.id", c.in.id,
	)
	if err != nil {
		return all, err
	}
	all.Pages = []toolapi.Page{}
	for _, s := range sites {
		p := toolapi.Page{SiteID: s.id, Name: s.name, Hostname: s.hostname, LiveRevision: optionalText(s.live)}
		if s.due.Valid {
			p.Schedule = &toolapi.Scheduled{At: formatTime(s.due.Int64), Revision: s.scheduled.String}
		}
		p.Revisions, err = list(
			c.tx, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
			"SELECT name FROM revisions WHERE site_id = ? ORDER BY number DESC", s.id,
		)
		if err != nil {
			return all, err
		}
		all.Pages = append(all.Pages, p)
	}
	return all, nil
}

// publish is page.publish.
func (c *call) publish(args toolapi.PublishArgs) (plan[toolapi.Publish], error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return plan[toolapi.Publish]{}, err
	}
	name, err := c.revision(s, string(args.Revision))
	if err != nil {
		return plan[toolapi.Publish]{}, err
	}
	return c.goLive(s, name, "Publish", args.Force)
}

// rollback is page.rollback.
func (c *call) rollback(args toolapi.RollbackArgs) (plan[toolapi.Publish], error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return plan[toolapi.Publish]{}, err
	}
	if s.live.Valid && string(args.Revision) == s.live.String {
		return c.goLive(s, s.live.String, "Roll back", args.Force) // which says so
	}
	var earlier string
	found, err := c.queryOne("SELECT revision FROM publishes WHERE site_id = ? AND revision IS NOT ? AND (? = '' OR "+
		"revision = ?) ORDER BY id DESC LIMIT 1",
		[]any{s.id, s.live, args.Revision, args.Revision}, &earlier)
	if err != nil || !found {
		if err == nil {
			said := "The page had no such revision live before."
			if args.Revision == "" {
				said = "The page had no other revision live before."
			}
			err = refuseAt(
				toolapi.CodeRevisionUnknown, said, "revision",
				"page.revisions lists the revisions; page.publish publishes any of them",
			)
		}
		return plan[toolapi.Publish]{}, err
	}
	return c.goLive(s, earlier, "Roll back", args.Force)
}

func (c *call) goLive(s siteRow, revision, verb string, force bool) (plan[toolapi.Publish], error) {
	if s.live.String == revision {
		return plan[toolapi.Publish]{}, refuseAt(
			toolapi.CodeRevisionLive, "This revision is what the page serves already.", "revision",
			"name another revision",
		)
	}
	if !force {
		if err := c.checkSchema(s.id, revision); err != nil {
			return plan[toolapi.Publish]{}, err
		}
	}
	return plan[toolapi.Publish]{
		goes: releaseChange{s.id, revision, force},
		// The newest revision may be another one by then, and that is not what was agreed to.
		target:  s.state() + " to " + revision,
		summary: fmt.Sprintf("%s page %s at %s: revision %s goes live at once.", verb, quoteName(s.name), s.hostname, revision),
		result: toolapi.Publish{
			SiteID: s.id, SiteName: s.name, Hostname: s.hostname, Revision: revision, Previous: optionalText(s.live),
			ServingNow: c.body.Has("confirmation_id") && s.serving, // what goes live was made ready before
		},
		apply: func() error { return c.setLive(s.id, revision, c.request, c.now.UnixMilli()) },
	}, nil
}

// served reports whether what is live of a site can be served, as far as is known.
func (c *call) served(site string) bool { return c.service.host == nil || c.service.host.Serving(site) }
