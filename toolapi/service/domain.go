package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the domains of pages. A domain becomes a workspace's by a TXT record that only the holder of its zone can
// set (RFC 1035, section 2.3.4 for the length of names).
const (
	challengeLabel = "_pages-challenge." // of the name that has the proof
	maxHostname    = 253

	// unconnected is appended to the domain in the target of a proposal that connects it.
	unconnected = " of nobody, "

	// localSuffix ends the names that every machine resolves to itself (RFC 6761). They need no proof.
	localSuffix = ".localhost"
	// previewHost is the domain of the hosts of previews. No workspace may connect a name below it, nor below another page's
	// address: a page there could set cookies for all names below it.
	previewHost = "preview" + localSuffix
)

// connect is domain.connect.
func (c *call) connect(args toolapi.ConnectArgs) (none plan[toolapi.Connect], err error) {
	hostname := string(args.Hostname)
	label, local := strings.CutSuffix(hostname, localSuffix)
	suffix, _ := publicsuffix.PublicSuffix(hostname)
	reserved := ""
	switch {
	case local && (strings.Contains(label, ".") || hostname == previewHost):
		return none, refuseAt(toolapi.CodeDomainTaken,
			"This name is not available: below localhost, names have one label, and preview is reserved.", "hostname",
			"choose one such as my-page.localhost, or connect a domain of your own")
	case local:
	case suffix == hostname:
		reserved = "many owners have names below it"
	case len(challengeLabel)+len(hostname) > maxHostname:
		reserved = "it is too long for the name of a proof below it"
	}
	if reserved != "" {
		return none, refuseAt(toolapi.CodeDomainTaken, "This name is not available: "+reserved+".", "hostname",
			"connect a domain of your own, such as www.example.com")
	}
	if err := c.checkConnectable(hostname); err != nil {
		return none, err
	}
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	p := plan[toolapi.Connect]{
		subject: "where " + hostname + " points",
		target:  "domain " + hostname + unconnected + s.state(),
		summary: fmt.Sprintf("Connect %s to site %s. %s", hostname, quoteName(s.name), domainConsequence(s.live.Valid, local, local)),
		result: toolapi.Connect{
			Hostname: hostname, SiteID: s.id, SiteName: s.name, Revision: optionalText(s.live), Records: []toolapi.DNSRecord{},
			ServingNow: c.body.Has("confirmation_id") && s.live.Valid && local && c.isServed(s.id),
		},
	}
	if !local {
		alias := toolapi.DNSRecord{Type: "CNAME", Name: hostname, Value: s.hostname}
		p.result.Records = append(p.result.Records, c.service.domainProof(c.in.id, hostname), alias)
	}
	id := uuid()
	if c.body.Has("confirmation_id") {
		p.result.DomainID = &id
	}
	p.apply = func() error {
		var since sql.NullInt64
		if !local {
			since = sql.NullInt64{Int64: c.now.UnixMilli(), Valid: true}
		}
		return c.exec("INSERT INTO domains (id, workspace_id, hostname, site_id, active, pending_since) VALUES (?, ?, ?, ?, ?, ?)",
			id, c.in.id, hostname, s.id, local, since)
	}
	return p, nil
}

// checkConnectable refuses a name that is taken or pending in this workspace, and any name when too many are pending.
func (c *call) checkConnectable(hostname string) error {
	taken, err := c.isTaken(hostname)
	if err != nil {
		return err
	}
	if taken {
		return refuseAt(toolapi.CodeDomainTaken, "This domain is already connected.", "hostname",
			"domain.list lists the domains of the workspace; domain.point_at_site moves one")
	}
	var isPending bool
	var pending int
	if _, err := c.queryOne("SELECT coalesce(max(hostname = ?), 0), count(*) FROM domains "+
		"WHERE workspace_id = ? AND pending_since IS NOT NULL",
		[]any{hostname, c.in.id}, &isPending, &pending); err != nil {
		return err
	}
	switch {
	case isPending:
		return refuseAt(toolapi.CodeDomainTaken, "This domain is already pending in this workspace.", "hostname",
			"set the TXT record that domain.list shows, and call domain.verify")
	case pending >= maxPendingDomains:
		return refuseAt(toolapi.CodeTooManyDomains, fmt.Sprintf("%d domains of the workspace are pending.", pending),
			"hostname", "prove them with domain.verify, or wait until they expire")
	}
	return nil
}

// pointAtSite is domain.point_at_site (platform document, section 4.4).
func (c *call) pointAtSite(args toolapi.PointAtSiteArgs) (none plan[toolapi.PointAtSite], err error) {
	var id, hostname, points string
	var provided, active, pending bool
	var version int64
	unknown := refuseAt(toolapi.CodeDomainUnknown, "There is no such domain in this workspace.", "domain_id",
		"domain.list lists the domains")
	if err := c.queryOr(unknown, "SELECT id, hostname, site_id, provided, active, pending_since IS NOT NULL, version FROM "+
		"domains WHERE id = ? AND workspace_id = ?", []any{strings.ToLower(string(args.DomainID)), c.in.id},
		&id, &hostname, &points, &provided, &active, &pending, &version); err != nil {
		return none, err
	}
	if provided {
		return none, refuseAt(toolapi.CodeDomainOfPage, "The service created this address for its site; it cannot be moved.", "domain_id",
			"move a domain of your own")
	}
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	if s.id == points {
		return none, refuseAt(toolapi.CodeDomainThere, "The domain already points at this site.", "site_id", "pass another page")
	}
	return plan[toolapi.PointAtSite]{
		subject: "where " + hostname + " points",
		target:  fmt.Sprintf("domain %s at %d, %s", id, version, s.state()),
		summary: fmt.Sprintf("Point %s at site %s. %s", hostname, quoteName(s.name), domainConsequence(s.live.Valid, !pending, active)),
		result: toolapi.PointAtSite{
			DomainID: id, Hostname: hostname, SiteID: s.id, SiteName: s.name, Revision: optionalText(s.live),
			ServingNow: s.live.Valid && active && c.isServed(s.id),
		},
		apply: func() error {
			if err := c.exec("UPDATE domains SET site_id = ? WHERE id = ?", s.id, id); err != nil {
				return err
			}
			return c.noteDomainChange(id, hostname+" was pointed at "+quoteName(s.name), c.now.UnixMilli())
		},
	}, nil
}

// domainConsequence is a sentence on the future of the address.
func domainConsequence(published, proven, active bool) string {
	switch {
	case !published:
		return "The site has never been published: the domain serves nothing until it is."
	case !proven:
		return "It serves nothing until a TXT record in its DNS proves that the domain is yours, and domain.verify has found it."
	case !active:
		return "The name does not answer on the internet yet: it serves nothing until it does."
	}
	return "Visitors will see this site there at once."
}

// domainList is domain.list.
func (c *call) domainList(toolapi.NoArgs) (result toolapi.DomainList, err error) {
	result.Domains, err = list(c.tx, func(rows *sql.Rows, d *toolapi.Domain) error {
		var since sql.NullInt64
		err := rows.Scan(&d.DomainID, &d.Hostname, &d.SiteID, &d.SiteName, &d.Provided, &d.ServingNow, &since)
		if since.Valid {
			record := c.service.domainProof(c.in.id, d.Hostname)
			d.Pending = &toolapi.PendingProof{Record: record, ExpiresAt: formatTime(since.Int64 + proofLife.Milliseconds())}
		}
		return err
	}, `SELECT d.id, d.hostname, s.id, s.name, d.provided, d.active AND s.live_revision IS NOT NULL, d.pending_since
		FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.workspace_id = ? ORDER BY d.hostname`, c.in.id)
	for i := range result.Domains {
		d := &result.Domains[i]
		d.ServingNow = d.ServingNow && c.isServed(d.SiteID)
	}
	return result, err
}

// domainProof returns the record that proves a domain to be a workspace's. It is derived from both, so that an
// existing record stays valid when the domain is connected again.
func (s *Service) domainProof(workspace int64, hostname string) toolapi.DNSRecord {
	mac := hmac.New(sha256.New, s.cursorKey)
	mac.Write(fmt.Appendf(nil, "domain\x00%d\x00%s", workspace, hostname))
	const bits = 20
	return toolapi.DNSRecord{
		Type: "TXT", Name: challengeLabel + hostname,
		Value: "pages-challenge=" + strings.ToLower(keyEncoding.EncodeToString(mac.Sum(nil)[:bits])),
	}
}

// pendingDomain is the domain that domain.verify names.
type pendingDomain struct {
	id, hostname string
	pending      bool
}

func (c *call) findPending() (d pendingDomain, err error) {
	unknown := refuseAt(toolapi.CodeDomainUnknown, "There is no such domain in this workspace.", "domain_id",
		"domain.list lists the domains; connect an expired one again")
	err = c.queryOr(unknown, "SELECT id, hostname, pending_since IS NOT NULL FROM domains WHERE id = ? AND workspace_id = ?",
		[]any{strings.ToLower(c.body.String("domain_id")), c.in.id}, &d.id, &d.hostname, &d.pending)
	return d, err
}

// lookUpDomainProof queries DNS for a domain's proof before the call's transaction, so that other writers do not wait for DNS.
func lookUpDomainProof(ctx context.Context, c *call) error {
	var d pendingDomain
	err := c.lookAhead(ctx, moveDomains, func() (err error) {
		d, err = c.findPending()
		return err
	})
	if err != nil || !d.pending {
		return err
	}
	want := c.service.domainProof(c.in.id, d.hostname)
	asking, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	records, err := c.service.lookUp(asking, want.Name+".") // the dot disables the search list of this machine
	missing, ok := errors.AsType[*net.DNSError](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && (!ok || !missing.IsNotFound):
		return refuseAt(toolapi.CodeDomainLookup, "DNS did not answer for "+want.Name+".", "domain_id",
			"try again; if that keeps failing, check that the name servers of the domain answer")
	}
	c.proven = slices.Contains(records, want.Value)
	return nil
}

// verify is domain.verify: it makes a pending domain the workspace's, if DNS has the proof.
func (c *call) verify(_ toolapi.VerifyArgs) (result toolapi.Verify, err error) {
	d, err := c.findPending()
	if err != nil {
		return result, err
	}
	var live bool
	_, err = c.queryOne("SELECT s.id, s.name, s.live_revision IS NOT NULL, d.active FROM domains d "+
		"JOIN sites s ON s.id = d.site_id WHERE d.id = ?",
		[]any{d.id}, &result.SiteID, &result.SiteName, &live, &result.ServingNow)
	if err != nil {
		return result, err
	}
	result.DomainID, result.Hostname = d.id, d.hostname
	if d.pending {
		taken, err := c.isTaken(d.hostname)
		if err != nil {
			return result, err
		}
		if taken {
			return result, refuseAt(toolapi.CodeDomainTaken, "Another workspace has proven this domain.", "domain_id",
				"if it is yours, ask the operator of the service")
		}
		if !c.proven {
			want := c.service.domainProof(c.in.id, d.hostname)
			return result, refuseAt(toolapi.CodeDomainUnproven,
				fmt.Sprintf("DNS has no TXT record at %s with the value %s.", want.Name, want.Value), "domain_id",
				"set it at your DNS provider, and verify again: a change may take minutes to show, and an "+
					"hour if the record had another value before")
		}
		if err := c.exec("UPDATE domains SET pending_since = NULL, active = 1 WHERE id = ?", d.id); err != nil {
			return result, err
		}
		if err := c.noteDomainChange(d.id, d.hostname+" was proven", c.now.UnixMilli()); err != nil {
			return result, err
		}
		result.ServingNow = true
	}
	result.ServingNow = result.ServingNow && live && c.isServed(result.SiteID)
	return result, nil
}

// isTaken reports whether any workspace has a domain.
func (c *call) isTaken(hostname string) (taken bool, err error) {
	_, err = c.queryOne("SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND pending_since IS NULL)", []any{hostname}, &taken)
	return taken, err
}
