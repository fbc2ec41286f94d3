package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// leadView shows a lead.
type leadView struct {
	toolapi.Lead
	At      clockView
	Page    string
	Answers []answerView
}

// answerView shows a field of a form: files, text, or JSON for anything else.
type answerView struct {
	Name, Value string
	Files       []fileView
}

// fileView links to a file of a lead. The page has it, and serves it to members signed in there.
type fileView struct {
	Name string `json:"filename"`
	Size int64  `json:"size"`
	Sum  string `json:"sha256"`
	URL  string `json:"-"`
}

// filesOf returns the files of a field; none when it is anything else.
func filesOf(value json.RawMessage, lead string) (files []fileView) {
	if json.Unmarshal(value, &files) != nil {
		files = make([]fileView, 1)
		if json.Unmarshal(value, &files[0]) != nil {
			return nil
		}
	}
	for i, f := range files {
		if !sha256Digits.MatchString(f.Sum) {
			return nil
		}
		files[i].URL = lead + "/files/" + f.Sum
	}
	return files
}

var sha256Digits = regexp.MustCompile(`^[0-9a-f]{64}$`)

// leadAnswers returns the fields of a lead in their order. lead is its URL on the page.
func leadAnswers(fields json.RawMessage, lead string) (all []answerView, err error) {
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
		all = append(all, answerView{fmt.Sprint(name), text, filesOf(value, lead)})
	}
	return all, nil
}

// leadsPage shows the leads of the workspace's pages, newest first.
func (v *consoleRequest) leadsPage() error {
	q := v.x.r.URL.Query()
	arguments := map[string]any{"limit": listCards}
	for _, name := range []string{"site_id", "form", "cursor"} {
		if value := q.Get(name); value != "" {
			arguments[name] = value
		}
	}
	found, err := callTool[toolapi.LeadList](v, "page.leads", arguments)
	if err != nil {
		return err
	}
	pages, err := callTool[toolapi.PageList](v, "page.list", map[string]any{})
	if err != nil {
		return err
	}
	bySite := map[string]toolapi.Page{}
	for _, p := range pages.Pages {
		bySite[p.SiteID] = p
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
		page := bySite[l.SiteID]
		answers, err := leadAnswers(l.Fields, v.address(page.Hostname)+"__pages/api/leads/"+url.PathEscape(l.ID))
		if err != nil {
			return err
		}
		data.Leads = append(data.Leads, leadView{l, v.clock(at.UnixMilli()), page.Name, answers})
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
