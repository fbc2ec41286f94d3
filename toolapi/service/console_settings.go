package service

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file shows the settings of a site, and proposes to change them.

// settingsView is the form of the settings: as they are, or as a person sent them.
type settingsView struct {
	toolapi.SiteSettings
	Hostname string
	Problem  string   // with the values that were sent; "" for none
	Switches []string // states of a setting
	Mail     string   // emails, one a line
	Rows     int      // of their field
	MaxMail  int
}

// settingsPage shows the settings of a site.
func (v *consoleRequest) settingsPage(id string) error {
	s, err := v.siteOf(id)
	if err != nil {
		return err
	}
	now, err := callTool[toolapi.Settings](v, "page.settings", map[string]any{"site_id": id})
	if err != nil {
		return err
	}
	return v.renderSettings(http.StatusOK, s, now.SiteSettings, "")
}

func (v *consoleRequest) renderSettings(status int, s siteRow, settings toolapi.SiteSettings, problem string) error {
	settings.SiteID, settings.SiteName = s.id, s.name
	return v.render(status, "settings", "Settings", settingsView{
		SiteSettings: settings, Hostname: s.hostname, Problem: problem, Switches: []string{"on", "off"},
		Mail: strings.Join(settings.LeadMail, "\n"), Rows: toolapi.MaxEmails, MaxMail: toolapi.MaxEmails,
	})
}

// proposeSettings proposes the settings of the form, and shows the proposal. It shows the form again with the reason of a refusal.
func (v *consoleRequest) proposeSettings(id string) error {
	s, err := v.siteOf(id)
	if err != nil {
		return err
	}
	sent := settingsOf(v.x.r.PostForm)
	_, err = callTool[toolapi.ChangeSettings](v, "page.change_settings", map[string]any{
		"site_id": id, "spam_filter": sent.SpamFilter, "proof_of_work": sent.ProofOfWork, "lead_mail": sent.LeadMail,
	})
	if refused, ok := refusedWith(err); ok {
		return v.renderSettings(http.StatusUnprocessableEntity, s, sent, refused.refusal.Message)
	}
	if err != nil {
		return err
	}
	return v.redirect("/console/w/" + v.in.slug + "/proposals")
}

// settingsOf reads the form. Lines without an email are none.
func settingsOf(form url.Values) toolapi.SiteSettings {
	s := toolapi.SiteSettings{
		SpamFilter: toolapi.SpamFilter(form.Get("spam_filter")), ProofOfWork: toolapi.ProofOfWork(form.Get("proof_of_work")),
		LeadMail: []string{},
	}
	for line := range strings.Lines(form.Get("lead_mail")) {
		if line = strings.TrimSpace(line); line != "" {
			s.LeadMail = append(s.LeadMail, line)
		}
	}
	return s
}

// settingsChanges shows what the arguments of page.change_settings change.
func (t tx) settingsChanges(site string, arguments map[string]any) (changes []changeView, err error) {
	now, err := t.settings(site)
	if err != nil {
		return nil, err
	}
	add := func(what, name, before string) {
		if value, given := arguments[name]; given && fmt.Sprint(value) != before {
			changes = append(changes, changeView{what, before, exactText(value)})
		}
	}
	add("Spam filter", "spam_filter", string(now.SpamFilter))
	add("Proof of work of scripts", "proof_of_work", string(now.ProofOfWork))
	if emails, given := arguments["lead_mail"].([]any); given {
		var then []string
		for _, email := range emails {
			then = append(then, exactText(email))
		}
		change := changeView{"Mail on each lead", emailsText(now.LeadMail), emailsText(then)}
		if change.Now != change.Then {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

func emailsText(emails []string) string {
	if len(emails) == 0 {
		return "to no member"
	}
	return "to " + strings.Join(emails, ", ")
}
