package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// leadView is a lead as a person reads it.
type leadView struct {
	toolapi.Lead
	At      clockView
	Page    string
	Answers []answerView
}

// answerView is an answer of a form: text, or JSON for anything else.
type answerView struct{ Name, Value string }

// answers are the fields of a lead, in the visitor's order.
func answers(fields json.RawMessage) (all []answerView, err error) {
	d := json.NewDecoder(bytes.NewReader(fields))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		all = append(all, answerView{fmt.Sprint(name), text})
	}
	return all, nil
}

// leadsPage is what the forms of the workspace's pages captured, newest first.
func (v *visit) leadsPage() error {
	q := v.x.r.URL.Query()
	arguments := map[string]any{"limit": listCards}
	for _, name := range []string{"site_id", "form", "cursor"} {
		if value := q.Get(name); value != "" {
			arguments[name] = value
		}
	}
	found, refusal, err := ask[toolapi.LeadList](v, "page.leads", arguments)
	if err != nil {
		return err
	}
	if refusal != nil {
		return v.refusedPage(refusal)
	}
	pages, refusal, err := ask[toolapi.PageList](v, "page.list", map[string]any{})
	if err != nil {
		return err
	}
	if refusal != nil {
		return v.refusedPage(refusal)
	}
	names := map[string]string{}
	for _, p := range pages.Pages {
		names[p.SiteID] = p.Name
	}
	data := struct {
		Total int
		Leads []leadView
		Older template.URL
	}{Total: found.Total}
	for _, l := range found.Leads {
		at, err := time.Parse(time.RFC3339Nano, l.CreatedAt)
		if err != nil {
			return err
		}
		said, err := answers(l.Fields)
		if err != nil {
			return err
		}
		data.Leads = append(data.Leads, leadView{l, v.clock(at.UnixMilli()), names[l.SiteID], said})
	}
	if found.NextCursor != "" {
		older := url.Values{"cursor": {found.NextCursor}}
		for _, name := range []string{"site_id", "form"} {
			if value := q.Get(name); value != "" {
				older.Set(name, value)
			}
		}
		data.Older = query(older)
	}
	return v.render(http.StatusOK, "leads", "Leads", data)
}
