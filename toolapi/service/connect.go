package service

import (
	"database/sql"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/pages-toolchain/pages/toolapi"
)

// createPage is page.create.
func (c *call) createPage(args toolapi.CreatePageArgs) (toolapi.CreatePage, error) {
	name := strings.TrimSpace(string(args.Name))
	switch {
	case !strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) }):
		return toolapi.CreatePage{}, invalid(toolapi.Issue{Path: "name", Message: "must not be blank"})
	case strings.ContainsFunc(name, unicode.IsControl):
		return toolapi.CreatePage{}, invalid(toolapi.Issue{Path: "name", Message: "must be one line, without control characters"})
	}
	var sites int
	if _, err := c.queryOne("SELECT count(*) FROM sites WHERE workspace_id = ?", []any{c.in.id}, &sites); err != nil {
		return toolapi.CreatePage{}, err
	}
	if sites >= maxSites {
		return toolapi.CreatePage{}, refuse(toolapi.CodeTooManySites, fmt.Sprintf("A workspace may have %d pages.", maxSites))
	}
	hostname, err := c.freeAddress(addressLabel(name))
	if err != nil {
		return toolapi.CreatePage{}, err
	}
	id := uuid()
	if err := c.exec("INSERT INTO sites (id, workspace_id, name) VALUES (?, ?, ?)", id, c.in.id, name); err != nil {
		return toolapi.CreatePage{}, err
	}
	return toolapi.CreatePage{SiteID: id, Name: name, Hostname: hostname},
		c.exec("INSERT INTO domains (id, workspace_id, hostname, site_id, provided) VALUES (?, ?, ?, ?, 1)", uuid(), c.in.id, hostname, id)
}

// freeAddress is the first address that nobody has: of the label, or with a number.
func (c *call) freeAddress(label string) (string, error) {
	for n := 1; ; n++ {
		hostname := label + localSuffix
		if n > 1 {
			hostname = fmt.Sprintf("%s-%d%s", label, n, localSuffix)
		}
		if hostname == ofPreviews {
			continue
		}
		var taken bool
		if _, err := c.queryOne("SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ?)", []any{hostname}, &taken); err != nil || !taken {
			return hostname, err
		}
	}
}

// localSuffix ends the addresses that every machine resolves to itself (RFC 6761).
const localSuffix = ".localhost"

// ofPreviews is the domain of the hosts of previews. Like the address of another page it is
// nobody's to take names below: a page there could set cookies for all that is below it.
const ofPreviews = "preview" + localSuffix

// addressLabel makes a name the first label of an address.
func addressLabel(name string) string {
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

// connect is domain.connect.
func (c *call) connect(args toolapi.ConnectArgs) (plan[toolapi.Connect], error) {
	none := plan[toolapi.Connect]{}
	hostname := string(args.Hostname)
	if label, local := strings.CutSuffix(hostname, localSuffix); local && (strings.Contains(label, ".") || hostname == ofPreviews) {
		return none, refuseAt(
			toolapi.CodeDomainTaken,
			"This name is not to be had: below localhost, names have one label, and preview is taken.", "hostname",
			"choose one such as my-page.localhost, or connect a domain of your own",
		)
	}
	if why := reservedReason(hostname); why != "" {
		return none, refuseAt(
			toolapi.CodeDomainTaken, "This name is not to be had: "+why+".", "hostname",
			"connect a domain of your own, such as www.example.com",
		)
	}
	if err := c.checkConnectable(hostname); err != nil {
		return none, err
	}
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	active := !needsProof(hostname)
	p := plan[toolapi.Connect]{
		target:  fmt.Sprintf("domain %s of nobody, %s", hostname, s.state()),
		summary: fmt.Sprintf("Connect %s to page %s. %s", hostname, quoteName(s.name), domainConsequence(s.live.Valid, active, active)),
		result: toolapi.Connect{
			Hostname: hostname, SiteID: s.id, SiteName: s.name, Revision: optionalText(s.live), Records: []toolapi.DNSRecord{},
			ServingNow: c.body.Has("confirmation_id") && s.live.Valid && active && c.served(s.id),
		},
	}
	if !active {
		p.result.Records = append(p.result.Records, c.service.proofOf(c.in.id, hostname), toolapi.DNSRecord{
			Type: "CNAME", Name: hostname, Value: s.hostname,
		})
	}
	id := uuid()
	if c.body.Has("confirmation_id") {
		p.result.DomainID = &id
	}
	p.apply = func() error {
		var since sql.NullInt64
		if !active {
			since = sql.NullInt64{Int64: c.now.UnixMilli(), Valid: true}
		}
		return c.exec(
			"INSERT INTO domains (id, workspace_id, hostname, site_id, active, pending_since) VALUES (?, ?, ?, ?, ?, ?)",
			id, c.in.id, hostname, s.id, active, since,
		)
	}
	return p, nil
}

// checkConnectable refuses a name that somebody has, or that waits in this workspace, and one more where too many wait.
func (c *call) checkConnectable(hostname string) error {
	taken, err := c.isTaken(hostname)
	if err != nil {
		return err
	}
	if taken {
		return refuseAt(
			toolapi.CodeDomainTaken, "This domain is connected already.", "hostname",
			"domain.list lists the domains of the workspace; domain.point_at_site moves one",
		)
	}
	var waits bool
	var waiting int
	if _, err := c.queryOne(
		"SELECT coalesce(max(hostname = ?), 0), count(*) FROM domains WHERE workspace_id = ? AND pending_since IS NOT NULL",
		[]any{hostname, c.in.id}, &waits, &waiting,
	); err != nil {
		return err
	}
	switch {
	case waits:
		return refuseAt(
			toolapi.CodeDomainTaken, "This domain waits for its proof in this workspace already.", "hostname",
			"set the TXT record that domain.list shows, and call domain.verify",
		)
	case waiting >= maxPendingDomains:
		return refuseAt(
			toolapi.CodeTooManyDomains, fmt.Sprintf("%d domains of the workspace wait for their proof.", waiting),
			"hostname", "prove them with domain.verify, or wait until those expire that nobody proves",
		)
	}
	return nil
}
