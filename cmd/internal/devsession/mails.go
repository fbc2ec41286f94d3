package devsession

import (
	"encoding/json"
	"net/http"

	"github.com/pages-toolchain/pages/cmd/internal/leadmail"
	"github.com/pages-toolchain/pages/devserver/site"
)

// This file shows the mails on leads that a published site would send to a member. A dev session sends none.

// shownMails is the number of newest leads that are shown as mails.
const shownMails = 50

// mailList is the document of GET /__pages/api/mails.
type mailList struct {
	Mails []leadmail.Mail `json:"mails"` // newest first
}

// serveMails answers GET /__pages/api/mails: mails to a persona, with the name of the site's folder.
func (t *tools) serveMails(w http.ResponseWriter, r *http.Request) {
	leads, err := t.instance.front.Store().Leads(r.Context(), site.LeadFilter{Limit: shownMails})
	list, to := mailList{Mails: []leadmail.Mail{}}, mailedPersona(t.instance.front.Personas())
	for _, l := range leads {
		if to == "" || l.Preview {
			continue
		}
		fields, failed := json.Marshal(l.Fields)
		if failed != nil {
			refuseTool(w, r, failed)
			return
		}
		m, failed := leadmail.Compose(leadmail.Lead{
			ID: l.ID, To: to, Site: siteName(t.run.dir), Form: l.Form, Fields: fields,
			CreatedAt: l.CreatedAt.Time, QueuedAt: l.CreatedAt.Time,
		})
		if failed != nil {
			refuseTool(w, r, failed)
			return
		}
		list.Mails = append(list.Mails, m)
	}
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	sendDocument(w, r, list)
}

// mailedPersona returns the email of the persona "owner", or of another member; "" for none.
func mailedPersona(all []site.Persona) (email string) {
	for _, p := range all {
		if !p.Outsider && (email == "" || p.Key == "owner") {
			email = p.Email
		}
	}
	return email
}
