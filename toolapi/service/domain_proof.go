package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the proof that a domain is a workspace's: a TXT record that only who holds its zone can set.

const (
	// challengeLabel is below which a domain has its proof.
	challengeLabel = "_pages-challenge."
	// maxName is how long a name of DNS is (RFC 1035, section 2.3.4).
	maxName = 253
)

// needsProof reports whether a name can be somebody's: one below localhost leads nowhere but to this machine.
func needsProof(hostname string) bool { return !strings.HasSuffix(hostname, localSuffix) }

// reservedReason says why a name is nobody's to connect; "" for any other.
func reservedReason(hostname string) string {
	if !needsProof(hostname) {
		return ""
	}
	if suffix, _ := publicsuffix.PublicSuffix(hostname); suffix == hostname {
		return "names below it belong to many"
	}
	if len(challengeLabel)+len(hostname) > maxName {
		return "it is too long for the name of a proof below it"
	}
	return ""
}

// proofOf is the record that proves a domain to be a workspace's. It follows from both, so that who connects the domain
// once more finds the record right that is set already.
func (s *Service) proofOf(workspace int64, hostname string) toolapi.DNSRecord {
	mac := hmac.New(sha256.New, s.sealing)
	mac.Write(fmt.Appendf(nil, "domain\x00%d\x00%s", workspace, hostname))
	const bits = 20
	return toolapi.DNSRecord{
		Type: "TXT", Name: challengeLabel + hostname,
		Value: "pages-challenge=" + strings.ToLower(keyEncoding.EncodeToString(mac.Sum(nil)[:bits])),
	}
}

// pendingDomain is a domain that a call is to verify.
type pendingDomain struct {
	id, hostname string
	pending      bool
}

// findPending finds the domain that domain.verify names.
func (c *call) findPending() (d pendingDomain, err error) {
	found, err := c.queryOne("SELECT id, hostname, pending_since IS NOT NULL FROM domains WHERE id = ? AND workspace_id = ?",
		[]any{strings.ToLower(c.body.String("domain_id")), c.in.id}, &d.id, &d.hostname, &d.pending)
	if err == nil && !found {
		err = refuseAt(
			toolapi.CodeDomainUnknown, "There is no such domain in this workspace.", "domain_id",
			"domain.list lists the domains; one that was not proven in time must be connected again",
		)
	}
	return d, err
}

// lookUpProof asks DNS for the proof of the domain that a call is to verify, before its transaction: nobody else
// writes while one is open.
func lookUpProof(ctx context.Context, c *call) error {
	var d pendingDomain
	found := false
	err := c.service.db.read(ctx, func(t tx) error {
		if err := c.enter(t); err != nil {
			return err
		}
		in, source, err := c.who.resolve(c.body.String("workspace"))
		if err != nil || !roleAllows(in.role, moveDomains) {
			return nil //nolint:nilerr // it is refused in its own transaction
		}
		c.in, c.as = in, workingIn(in, source)
		d, err = c.findPending()
		if _, refused := refusedWith(err); refused {
			return nil
		}
		found = err == nil && d.pending
		return err
	})
	if err != nil || !found {
		return err
	}
	want := c.service.proofOf(c.in.id, d.hostname)
	asking, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	records, err := c.service.lookUp(asking, want.Name+".") // which no search list of this machine goes on with
	missing, ok := errors.AsType[*net.DNSError](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && (!ok || !missing.IsNotFound):
		return refuseAt(
			toolapi.CodeDomainLookup, "DNS gave no answer for "+want.Name+".", "domain_id",
			"try again; if it goes on, see that the name servers of the domain answer",
		)
	}
	c.proven = slices.Contains(records, want.Value)
	return nil
}

// verify is domain.verify.
func (c *call) verify(_ toolapi.VerifyArgs) (result toolapi.Verify, err error) {
	d, err := c.findPending()
	if err != nil {
		return result, err
	}
	var live bool
	_, err = c.queryOne(
		"SELECT s.id, s.name, s.live_revision IS NOT NULL, d.active FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.id = ?",
		[]any{d.id}, &result.SiteID, &result.SiteName, &live, &result.ServingNow,
	)
	if err != nil {
		return result, err
	}
	result.DomainID, result.Hostname = d.id, d.hostname
	if d.pending {
		if err := c.prove(d); err != nil {
			return result, err
		}
		result.ServingNow = true
	}
	result.ServingNow = result.ServingNow && live && c.served(result.SiteID)
	return result, nil
}

// prove gives a workspace the domain that it has the proof of.
func (c *call) prove(d pendingDomain) error {
	if taken, err := c.isTaken(d.hostname); err != nil || taken {
		if err == nil {
			err = refuseAt(
				toolapi.CodeDomainTaken, "Another workspace has proven this domain.", "domain_id",
				"ask who runs the service, if it is yours",
			)
		}
		return err
	}
	if !c.proven {
		want := c.service.proofOf(c.in.id, d.hostname)
		return refuseAt(toolapi.CodeDomainUnproven,
			fmt.Sprintf("DNS has no TXT record at %s with the value %s.", want.Name, want.Value), "domain_id",
			"set it where the domain's DNS is managed, and verify again: a change may take minutes to be seen, and an "+
				"hour where there was another answer before")
	}
	return c.exec("UPDATE domains SET pending_since = NULL, active = 1, version = version + 1 WHERE id = ?", d.id)
}

// isTaken reports whether a workspace has a domain, this one or another.
func (c *call) isTaken(hostname string) (taken bool, err error) {
	_, err = c.queryOne("SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND pending_since IS NULL)", []any{hostname}, &taken)
	return taken, err
}
