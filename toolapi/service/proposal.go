package service

import (
	"cmp"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file stores proposals: their proposers, their replacement by newer ones, and the reasons why one can no longer
// be approved.

// proposer is the present state of a proposal's author.
type proposer struct {
	holder  int64
	name    string
	service bool
	role    string        // in the workspace; "" for none
	revoked sql.NullInt64 // when the key was revoked
}

// isValid reports whether the proposer may still propose. A member who confirms has permissions of their own; the
// proposals of a service account end with its key and its membership.
func (p *proposer) isValid(needs permission) bool {
	return !p.service || !p.revoked.Valid && roleAllows(p.role, needs)
}

// proposalRow is a stored proposal.
type proposalRow struct {
	proposer

	id, tool, arguments, target, summary string
	email                                string
	fingerprint                          []byte
	created, expires                     int64
	replaced                             sql.NullInt64 // when a newer one replaced it
	answer                               sql.NullString
	// The current versions of the site and domain that it names; NULL for a removed one or none.
	site, domain sql.NullInt64
}

const proposalQuery = `SELECT p.holder_id, h.name, h.service, coalesce(m.role, ''), k.revoked_at, p.id, p.tool, p.arguments, p.target,
	p.summary, h.email, p.fingerprint, p.created_at, p.expires_at, p.replaced_at, p.answer, s.version, d.version
	FROM proposals p JOIN holders h ON h.id = p.holder_id LEFT JOIN keys k ON k.id = p.key_id
	LEFT JOIN memberships m ON m.holder_id = p.holder_id AND m.workspace_id = p.workspace_id
	LEFT JOIN sites s ON s.id = lower(p.arguments ->> '$.site_id') AND s.workspace_id = p.workspace_id
	LEFT JOIN domains d ON d.id = lower(p.arguments ->> '$.domain_id') AND d.workspace_id = p.workspace_id WHERE `

func (p *proposalRow) columns() []any {
	return []any{
		&p.holder, &p.name, &p.service, &p.role, &p.revoked, &p.id, &p.tool, &p.arguments, &p.target, &p.summary, &p.email,
		&p.fingerprint, &p.created, &p.expires, &p.replaced, &p.answer, &p.site, &p.domain,
	}
}

// proposalKey identifies proposals with the same subject, and identical proposals.
type proposalKey struct {
	subject     string // the subject of the decision; "" for an independent call
	target      string // its state
	fingerprint []byte // of the arguments
}

// propose stores a proposal, and returns its id. It replaces the holder's open proposal with the same subject, and the oldest one of a
// holder with too many. An identical proposal, with the same text for the person, keeps its id and starts its time again: two
// simultaneous deploys of one commit give one proposal.
func (c *call) propose(summary string, key proposalKey) (id string, err error) {
	now, expires := c.now.UnixMilli(), c.now.Add(proposalLife).UnixMilli()
	if key.subject != "" {
		same, err := c.sameProposal(summary, key)
		if err != nil {
			return "", err
		}
		if same != "" {
			return same, c.exec("UPDATE proposals SET created_at = ?, expires_at = ? WHERE id = ?", now, expires, same)
		}
		if err := c.exec("UPDATE proposals SET replaced_at = ? WHERE holder_id = ? AND workspace_id = ? AND subject = ? AND "+
			"answer IS NULL AND replaced_at IS NULL AND expires_at > ?", now, c.who.holder, c.in.id, key.subject, now); err != nil {
			return "", err
		}
	}
	err = c.exec(`DELETE FROM proposals WHERE id IN (SELECT id FROM proposals WHERE holder_id = ? AND workspace_id = ? AND answer IS NULL
		ORDER BY replaced_at IS NOT NULL, created_at DESC, id LIMIT -1 OFFSET ?)`, c.who.holder, c.in.id, maxProposals-1)
	if err != nil {
		return "", err
	}
	arguments, err := c.body.Arguments()
	if err != nil {
		return "", err
	}
	id = uuid()
	err = c.exec("INSERT INTO proposals (id, tool, workspace_id, holder_id, key_id, fingerprint, arguments, subject, target, "+
		"summary, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		id, c.tool.Name, c.in.id, c.who.holder, c.who.key, key.fingerprint, string(arguments), key.subject, key.target, summary, now,
		expires)
	if err != nil {
		return "", err
	}
	return id, c.keepRehearsal(id)
}

// sameProposal returns the open proposal that is identical to the call's; "" for none.
func (c *call) sameProposal(summary string, key proposalKey) (id string, err error) {
	found, err := c.queryOne("SELECT id FROM proposals WHERE holder_id = ? AND workspace_id = ? AND tool = ? AND key_id IS ? AND "+
		"subject = ? AND target = ? AND fingerprint = ? AND summary = ? AND answer IS NULL AND replaced_at IS NULL AND expires_at > ?",
		[]any{
			c.who.holder, c.in.id, c.tool.Name, c.who.key, key.subject, key.target, key.fingerprint, summary, c.now.UnixMilli(),
		}, &id)
	if err != nil || !found || c.rehearsed == nil {
		return id, err
	}
	shown, err := c.approvalOf(id, nil)
	if err != nil || !slices.Equal(shown.Migrated.DataLoss, c.rehearsed.migrated.DataLoss) {
		return "", err
	}
	return id, nil
}

// noteSiteChange makes the proposals for a site stale, and stores the reason for their approvers as a clause, such as
// "revision r3 went live".
func (t tx) noteSiteChange(site, what string, at int64) error {
	if err := t.exec("UPDATE sites SET version = version + 1 WHERE id = ?", site); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO changes (subject, version, at, what) SELECT 'site ' || id, version, ?, ? FROM sites WHERE id = ?",
		at, what, site)
}

// noteDomainChange is noteSiteChange for a domain.
func (t tx) noteDomainChange(domain, what string, at int64) error {
	if err := t.exec("UPDATE domains SET version = version + 1 WHERE id = ?", domain); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO changes (subject, version, at, what) SELECT 'domain ' || id, version, ?, ? "+
		"FROM domains WHERE id = ?", at, what, domain)
}

// stateIn matches the states of sites and domains in the target of a proposal, as siteRow.state and pointAtSite write them.
var stateIn = regexp.MustCompile(`\b((site|domain) \S+) at (\d+)\b`)

// obstacle returns the reason why a proposal can no longer be approved, as a clause with times in a zone: "revision r3
// went live at 13:02"; "" for a valid one. The caller checks whether it has expired or was decided.
func (t tx) obstacle(p *proposalRow, needs permission, zone string) (string, error) {
	switch {
	case p.replaced.Valid:
		return "a newer proposal of " + quoteName(p.name) + " replaced it at " + hourIn(zone, p.replaced.Int64), nil
	case p.service && p.revoked.Valid:
		return "the key that proposed it was revoked at " + hourIn(zone, p.revoked.Int64), nil
	case p.service && p.role == "":
		return quoteName(p.name) + " is no longer a member of this workspace", nil
	case !p.isValid(needs):
		return quoteName(p.name) + " may not " + string(needs) + " any more", nil
	}
	for _, state := range stateIn.FindAllStringSubmatch(p.target, -1) {
		now, was := p.site, state[3]
		if state[2] == "domain" {
			now = p.domain
		}
		if !now.Valid {
			return "the " + state[2] + " is gone", nil
		}
		if strconv.FormatInt(now.Int64, 10) == was {
			continue
		}
		happened, err := t.changesSince(state[1], was, zone)
		return cmp.Or(happened, "the "+state[2]+" has changed since"), err
	}
	if named, _, connects := strings.Cut(p.target, unconnected); connects {
		var taken bool
		hostname := strings.TrimPrefix(named, "domain ")
		_, err := t.queryOne("SELECT EXISTS (SELECT 1 FROM domains WHERE hostname = ? AND pending_since IS NULL)", []any{hostname}, &taken)
		if err != nil || taken {
			return hostname + " was connected in the meantime", err
		}
	}
	return "", nil
}

// shownChanges is the number of changes in an obstacle, newest first.
const shownChanges = 3

// changesSince describes the changes of a site or a domain since a version; "" when they are not recorded.
func (t tx) changesSince(subject, version, zone string) (string, error) {
	all, err := list(t, func(rows *sql.Rows, clause *string) error {
		var at int64
		err := rows.Scan(clause, &at)
		*clause += " at " + hourIn(zone, at)
		return err
	}, "SELECT what, at FROM (SELECT what, at, version FROM changes WHERE subject = ? AND version > CAST(? AS INTEGER) "+
		"ORDER BY version DESC LIMIT ?) ORDER BY version", subject, version, shownChanges)
	return strings.Join(all, ", then "), err
}

// hourIn writes the hour of a time in a time zone, for a person who reads it the same day.
func hourIn(zone string, ms int64) string {
	place, err := time.LoadLocation(zone)
	if err != nil {
		place = time.UTC
	}
	return time.UnixMilli(ms).In(place).Format("15:04 MST")
}

// closedProposal is a proposal that can no longer be approved, with the reason as a clause.
type closedProposal struct {
	proposalRow

	why string
}

// waitingProposals returns the proposals of a workspace that were not decided and have not expired, newest first:
// valid ones, and stale ones. Workspace 0 means all workspaces.
func (s *Service) waitingProposals(
	t tx, workspace int64, zone string, now time.Time,
) (open []proposalRow, closed []closedProposal, err error) {
	rows, err := list(t, func(rows *sql.Rows, p *proposalRow) error { return rows.Scan(p.columns()...) },
		proposalQuery+"(? = 0 OR p.workspace_id = ?) AND p.expires_at > ? AND p.answer IS NULL ORDER BY p.created_at DESC, p.id",
		workspace, workspace, now.UnixMilli())
	for _, p := range rows {
		why, err := t.obstacle(&p, s.tools[p.tool].needs, zone)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			closed = append(closed, closedProposal{p, why})
			continue
		}
		open = append(open, p)
	}
	return open, closed, err
}

// staleError refuses the confirmation of a stale proposal.
func staleError(why string) error {
	return refusePropose(toolapi.CodeConfirmationStale, fmt.Sprintf("It can no longer be confirmed: %s. Nothing was done.", why))
}
