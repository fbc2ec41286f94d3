package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file keeps the settings of sites, and marks leads as spam or ham.

// settings returns the settings of a site, without its name.
func (t tx) settings(site string) (toolapi.SiteSettings, error) {
	s := toolapi.SiteSettings{SiteID: site, SpamFilter: toolapi.SpamFilterOn, ProofOfWork: toolapi.ProofOfWorkOff, LeadMail: []string{}}
	var off, proofs bool
	var emails string
	const stored = "SELECT spam_off, proof_of_work, lead_mail FROM site_settings WHERE site_id = ?"
	found, err := t.queryOne(stored, []any{site}, &off, &proofs, &emails)
	if err != nil || !found {
		return s, err
	}
	if off {
		s.SpamFilter = toolapi.SpamFilterOff
	}
	if proofs {
		s.ProofOfWork = toolapi.ProofOfWorkOn
	}
	return s, json.Unmarshal([]byte(emails), &s.LeadMail)
}

// siteSettings is page.settings.
func (c *call) siteSettings(args toolapi.SiteArgs) (result toolapi.Settings, err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return result, err
	}
	result.SiteSettings, err = c.settings(s.id)
	result.SiteName = s.name
	return result, err
}

// changeSettings is page.change_settings.
func (c *call) changeSettings(args toolapi.ChangeSettingsArgs) (none plan[toolapi.ChangeSettings], err error) {
	s, err := c.site(args.SiteID)
	if err != nil {
		return none, err
	}
	before, err := c.settings(s.id)
	if err != nil {
		return none, err
	}
	after := before
	after.SiteName = s.name
	var words []string
	if args.SpamFilter != "" && args.SpamFilter != before.SpamFilter {
		after.SpamFilter = args.SpamFilter
		words = append(words, "turn the spam filter "+string(args.SpamFilter))
	}
	if args.ProofOfWork != "" && args.ProofOfWork != before.ProofOfWork {
		after.ProofOfWork = args.ProofOfWork
		words = append(words, map[toolapi.ProofOfWork]string{
			toolapi.ProofOfWorkOn:  "refuse forms that scripts send without a proof of work",
			toolapi.ProofOfWorkOff: "take forms that scripts send without a proof of work",
		}[args.ProofOfWork])
	}
	if args.LeadMail != nil {
		if after.LeadMail, err = c.members(*args.LeadMail); err != nil {
			return none, err
		}
		switch {
		case slices.Equal(before.LeadMail, after.LeadMail):
		case len(after.LeadMail) == 0:
			words = append(words, "send no mail on leads")
		default:
			words = append(words, "send a mail on each lead to "+strings.Join(after.LeadMail, ", "))
		}
	}
	if len(words) == 0 {
		return none, refuseAt(toolapi.CodeSettingsUnchanged, "The site already has these settings.", "site_id",
			"give spam_filter, proof_of_work or lead_mail another value; page.settings shows them")
	}
	emails, err := json.Marshal(after.LeadMail)
	if err != nil {
		return none, err
	}
	return plan[toolapi.ChangeSettings]{
		subject: "settings of " + s.id,
		target:  fmt.Sprintf("filter %s, proofs %s, mail to %q, %s", before.SpamFilter, before.ProofOfWork, before.LeadMail, s.state()),
		summary: fmt.Sprintf("Of site %s, %s.", quoteName(s.name), strings.Join(words, " and ")),
		result:  toolapi.ChangeSettings{SiteSettings: after},
		apply: func() error {
			if after.SpamFilter != before.SpamFilter || after.ProofOfWork != before.ProofOfWork {
				c.restartSite(s)
			}
			return errors.Join(
				c.exec("INSERT INTO site_settings (site_id, spam_off, proof_of_work, lead_mail) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "+
					"SET spam_off = excluded.spam_off, proof_of_work = excluded.proof_of_work, lead_mail = excluded.lead_mail",
					s.id, after.SpamFilter == toolapi.SpamFilterOff, after.ProofOfWork == toolapi.ProofOfWorkOn, string(emails)),
				c.noteSiteChange(s.id, "its settings were changed", c.now.UnixMilli()),
			)
		},
	}, nil
}

// members returns the stored emails of members of the workspace, and refuses others: only the people of its workspace may get a
// lead.
func (c *call) members(emails []string) ([]string, error) {
	all := []string{}
	for i, given := range emails {
		email, found, err := c.memberEmail(c.in.id, given)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, refuseAt(toolapi.CodeMemberUnknown, "No member of this workspace has this email: "+given+".",
				fmt.Sprintf("lead_mail.%d", i), "give the email of a member")
		case !slices.Contains(all, email):
			all = append(all, email)
		}
	}
	return all, nil
}

// memberEmail returns the email of a person of a workspace as stored.
func (t tx) memberEmail(workspace int64, given string) (email string, found bool, err error) {
	found, err = t.queryOne(`SELECT h.email FROM holders h JOIN memberships m ON m.holder_id = h.id
		WHERE m.workspace_id = ? AND h.email = ? COLLATE NOCASE AND NOT h.service`, []any{workspace, given}, &email)
	return email, found, err
}

// leadOf returns a lead of the workspace.
func (c *call) leadOf(id string) (storedLead, error) {
	found, err := list(c.tx, scanStoredLead, selectStoredLeads+"id = ? AND workspace_id = ?", id, c.in.id)
	if err == nil && len(found) == 0 {
		err = refuseAt(toolapi.CodeLeadUnknown, "There is no such lead in this workspace.", "lead_id", "page.leads lists the leads")
	}
	if err != nil {
		return storedLead{}, err
	}
	return found[0], nil
}

// markOnSite marks a lead in the site's own storage, before the call's transaction, and fetches it.
func markOnSite(ctx context.Context, c *call) error {
	if c.service.host == nil {
		return nil
	}
	var args toolapi.MarkLeadArgs
	var lead storedLead
	err := c.lookAhead(ctx, publishPages, func() (err error) {
		if err = c.body.Decode(&args); err != nil {
			return err
		}
		lead, err = c.leadOf(string(args.LeadID))
		return err
	})
	if err != nil || lead.ID == "" || (lead.Spam != nil) == args.Spam {
		return err
	}
	err = c.service.host.MarkLead(ctx, lead.SiteID, lead.ID, args.Spam)
	if err != nil && !errors.Is(err, ErrNoLead) {
		return err
	}
	return c.service.takeLeads(ctx, lead.SiteID)
}

// markLead is page.mark_lead, after markOnSite.
func (c *call) markLead(args toolapi.MarkLeadArgs) (result toolapi.MarkLead, err error) {
	lead, err := c.leadOf(string(args.LeadID))
	if err != nil {
		return result, err
	}
	if (lead.Spam != nil) != args.Spam {
		return result, refuseAt(toolapi.CodeLeadUnknown, "The site no longer has this lead.", "lead_id",
			"page.leads lists the leads")
	}
	return toolapi.MarkLead{Lead: lead.Lead}, nil
}
