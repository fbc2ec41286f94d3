package service

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// pointAtSite is domain.point_at_site (platform document, section 4.4).
func (c *call) pointAtSite(args toolapi.PointAtSiteArgs) (plan[toolapi.PointAtSite], error) {
	none := plan[toolapi.PointAtSite]{}
	var id, hostname, points string
	var provided, active, pending bool
	var version int64
	found, err := c.queryOne("SELECT id, hostname, site_id, provided, active, pending_since IS NOT NULL, version FROM "+
		"domains WHERE id = ? AND workspace_id = ?",
		[]any{strings.ToLower(string(args.DomainID)), c.in.id}, &id, &hostname, &points, &provided, &active, &pending, &version)
	switch {
	case err != nil:
		return none, err
	case !found:
		return none, refuseAt(
			toolapi.CodeDomainUnknown, "There is no such domain in this workspace.", "domain_id",
			"domain.list lists the domains",
		)
	case provided:
		return none, refuseAt(
			toolapi.CodeDomainOfPage, "The service gave this address to its page; it cannot be moved.", "domain_id",
			"point a domain of your own",
		)
	}
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	if s.id == points {
		return none, refuseAt(toolapi.CodeDomainThere, "The domain points at this page already.", "site_id", "name another page")
	}
	return plan[toolapi.PointAtSite]{
		target:  fmt.Sprintf("domain %s at %d, %s", id, version, s.state()),
		summary: fmt.Sprintf("Point %s at page %s. %s", hostname, quoteName(s.name), domainConsequence(s.live.Valid, !pending, active)),
		result: toolapi.PointAtSite{
			DomainID: id, Hostname: hostname, SiteID: s.id, SiteName: s.name, Revision: optionalText(s.live),
			ServingNow: s.live.Valid && active && c.served(s.id),
		},
		apply: func() error {
			return c.exec("UPDATE domains SET site_id = ?, version = version + 1 WHERE id = ?", s.id, id)
		},
	}, nil
}

// domainConsequence says what visitors of the address will find.
func domainConsequence(published, proven, active bool) string {
	switch {
	case !published:
		return "The page has never been published: nothing will be served there until it is."
	case !proven:
		return "Nothing will be served there until a TXT record in its DNS proves that the domain is yours, and domain.verify found it."
	case !active:
		return "The name does not answer on the internet yet: nothing will be served there until it does."
	}
	return "Visitors will see this page there at once."
}

// domainList is domain.list.
func (c *call) domainList(toolapi.NoArgs) (result toolapi.DomainList, err error) {
	result.Domains, err = list(c.tx, func(rows *sql.Rows, d *toolapi.Domain) error {
		var since sql.NullInt64
		err := rows.Scan(&d.DomainID, &d.Hostname, &d.SiteID, &d.SiteName, &d.Provided, &d.ServingNow, &since)
		if since.Valid {
			record := c.service.proofOf(c.in.id, d.Hostname)
			d.Pending = &toolapi.PendingProof{Record: record, ExpiresAt: formatTime(since.Int64 + proofLife.Milliseconds())}
		}
		return err
	}, `SELECT d.id, d.hostname, s.id, s.name, d.provided, d.active AND s.live_revision IS NOT NULL, d.pending_since
		FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.workspace_id = ? ORDER BY d.hostname`, c.in.id)
	for i := range result.Domains {
		d := &result.Domains[i]
		d.ServingNow = d.ServingNow && c.served(d.SiteID)
	}
	return result, err
}
