package service

import (
	"database/sql"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
	unknown := refuseAt(toolapi.CodeSiteUnknown, "There is no such site in this workspace.", "site_id", "page.list lists the pages")
	err := c.queryOr(unknown, siteQuery+"s.id = ? AND s.workspace_id = ?", []any{strings.ToLower(string(id)), c.in.id}, s.columns()...)
	return s, err
}

// revision finds a revision of a site by its name, or the newest one for "".
func (c *call) revision(s siteRow, name string) (string, error) {
	var found string
	ok, err := c.queryOne("SELECT name FROM revisions WHERE site_id = ? AND (? = '' OR name = ?) ORDER BY number DESC LIMIT 1",
		[]any{s.id, name, name}, &found)
	switch {
	case err != nil || ok:
		return found, err
	case name == "":
		return "", refuseAt(toolapi.CodeNoRevision, "The site has no revision to publish.", "site_id", "upload the site first")
	}
	return "", refuseAt(toolapi.CodeRevisionUnknown, "The site has no such revision.", "revision", "page.revisions lists the revisions")
}

// state changes with every change of the site, which makes its proposals stale.
func (s siteRow) state() string { return fmt.Sprintf("site %s at %d", s.id, s.version) }

// setLive makes a revision live, with its migrations applied.
func (t tx) setLive(site, revision, request string, at int64) error {
	err := t.exec("INSERT INTO publishes (site_id, revision, previous, at, request_id) "+
		"SELECT id, ?, live_revision, ?, ? FROM sites WHERE id = ?",
		revision, at, request, site)
	if err != nil {
		return err
	}
	migrations, err := t.migrationsOf(site, revision)
	if err != nil {
		return err
	}
	for _, name := range migrations {
		if err := t.exec("INSERT OR IGNORE INTO site_migrations (site_id, name) VALUES (?, ?)", site, name); err != nil {
			return err
		}
	}
	if err := t.exec("UPDATE sites SET live_revision = ? WHERE id = ?", revision, site); err != nil {
		return err
	}
	return t.noteSiteChange(site, "revision "+revision+" went live", at)
}

// createPage is page.create.
func (c *call) createPage(args toolapi.CreatePageArgs) (page toolapi.CreatePage, err error) {
	name := strings.TrimSpace(string(args.Name))
	switch {
	case !strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) }):
		return page, invalid(toolapi.Issue{Path: "name", Message: "must not be blank"})
	case strings.ContainsFunc(name, unicode.IsControl):
		return page, invalid(toolapi.Issue{Path: "name", Message: "must be one line, without control characters"})
	}
	var sites int
	if _, err := c.queryOne("SELECT count(*) FROM sites WHERE workspace_id = ?", []any{c.in.id}, &sites); err != nil {
		return page, err
	}
	if sites >= maxSites {
		return page, refuse(toolapi.CodeTooManySites, fmt.Sprintf("The limit of a workspace is %d pages.", maxSites))
	}
	page = toolapi.CreatePage{SiteID: uuid(), Name: name}
	if page.Hostname, err = c.freeHostname(hostLabel(name)); err != nil {
		return page, err
	}
	if err := c.exec("INSERT INTO sites (id, workspace_id, name) VALUES (?, ?, ?)", page.SiteID, c.in.id, name); err != nil {
		return page, err
	}
	return page, c.exec("INSERT INTO domains (id, workspace_id, hostname, site_id, provided) VALUES (?, ?, ?, ?, 1)",
		uuid(), c.in.id, page.Hostname, page.SiteID)
}

// freeHostname returns the first free name: the label, or the label with a number.
func (c *call) freeHostname(label string) (string, error) {
	for n := 1; ; n++ {
		hostname := label + localSuffix
		if n > 1 {
			hostname = fmt.Sprintf("%s-%d%s", label, n, localSuffix)
		}
		if hostname == previewHost {
			continue
		}
		var taken bool
		if _, err := c.queryOne("SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ?)", []any{hostname}, &taken); err != nil || !taken {
			return hostname, err
		}
	}
}

// hostLabel makes the first label of a hostname from a name.
func hostLabel(name string) string {
	const longest = 40
	var out strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case out.Len() == longest:
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case r < 0x80 && out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	if made := strings.Trim(out.String(), "-"); made != "" {
		return made
	}
	return "page"
}

// pageList is page.list.
func (c *call) pageList(toolapi.NoArgs) (toolapi.PageList, error) {
	var all toolapi.PageList
	sites, err := list(c.tx, func(rows *sql.Rows, s *siteRow) error { return rows.Scan(s.columns()...) },
		siteQuery+"s.workspace_id = ? ORDER BY s.name, s.id", c.in.id)
	if err != nil {
		return all, err
	}
	all.Pages = []toolapi.Page{}
	for _, s := range sites {
		p := toolapi.Page{SiteID: s.id, Name: s.name, Hostname: s.hostname, LiveRevision: optionalText(s.live)}
		if s.due.Valid {
			p.Schedule = &toolapi.Scheduled{At: formatTime(s.due.Int64), Revision: s.scheduled.String}
		}
		p.Revisions, err = listColumn[string](c.tx, "SELECT name FROM revisions WHERE site_id = ? ORDER BY number DESC", s.id)
		if err != nil {
			return all, err
		}
		all.Pages = append(all.Pages, p)
	}
	return all, nil
}

// publish is page.publish.
func (c *call) publish(args toolapi.PublishArgs) (none plan[toolapi.Publish], err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	name, err := c.revision(s, string(args.Revision))
	if err != nil {
		return none, err
	}
	return c.goLive(s, name, "Publish", args.Force, args.AllowDataLoss)
}

// rollback is page.rollback.
func (c *call) rollback(args toolapi.RollbackArgs) (none plan[toolapi.Publish], err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	if s.live.Valid && string(args.Revision) == s.live.String {
		return c.goLive(s, s.live.String, "Roll back", args.Force, nil) // which refuses a live revision
	}
	var earlier string
	message := "The site had no such revision live before."
	if args.Revision == "" {
		message = "The site had no other revision live before."
	}
	unknown := refuseAt(toolapi.CodeRevisionUnknown, message, "revision",
		"page.revisions lists the revisions; page.publish publishes any of them")
	if err := c.queryOr(unknown, "SELECT revision FROM publishes WHERE site_id = ? AND revision IS NOT ? AND (? = '' OR "+
		"revision = ?) ORDER BY id DESC LIMIT 1",
		[]any{s.id, s.live, args.Revision, args.Revision}, &earlier); err != nil {
		return none, err
	}
	return c.goLive(s, earlier, "Roll back", args.Force, args.AllowDataLoss)
}

// goLive plans an immediate release of a revision.
func (c *call) goLive(
	s siteRow, revision, verb string, force bool, allowed toolapi.TableNames,
) (none plan[toolapi.Publish], err error) {
	if s.live.String == revision {
		return none, refuseAt(toolapi.CodeRevisionLive, "The site already serves this revision.", "revision",
			"pass another revision")
	}
	if !force {
		if err := c.checkSchema(s.id, revision); err != nil {
			return none, err
		}
	}
	return plan[toolapi.Publish]{
		release: releaseChange{site: s.id, revision: revision, force: force}, allowed: allowed,
		subject: "live revision of site " + s.id, // a rollback decides it, too
		// The newest revision may have changed by then, without approval.
		target:  s.state() + " to " + revision,
		summary: fmt.Sprintf("%s site %s at %s: revision %s goes live at once.", verb, quoteName(s.name), s.hostname, revision),
		result: toolapi.Publish{
			SiteID: s.id, SiteName: s.name, Hostname: s.hostname, Revision: revision, Previous: optionalText(s.live),
			ServingNow: c.body.Has("confirmation_id") && s.serving, // the release is already prepared
		},
		apply: func() error { return c.setLive(s.id, revision, c.request, c.now.UnixMilli()) },
	}, nil
}

// isServed reports whether the live release of a site can be served, as far as the host knows.
func (c *call) isServed(site string) bool {
	return c.service.host == nil || c.service.host.Serving(site)
}
