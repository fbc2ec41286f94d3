package service

import (
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// leadView shows a lead.
type leadView struct {
	toolapi.Lead
	At      clockView
	Page    string
	Answers []answerView
	Mark    template.URL // the address of its button
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
		if !sha256Digits().MatchString(f.Sum) {
			return nil
		}
		files[i].URL = lead + "/files/" + f.Sum
	}
	return files
}

var sha256Digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

// leadAnswers returns the fields of a lead in their order. lead is its URL on the page.
func leadAnswers(fields json.RawMessage, lead string) (all []answerView, err error) {
	answers, err := toolapi.Answers(fields)
	for _, a := range answers {
		var text string
		if json.Unmarshal(a.Value, &text) != nil {
			text = string(a.Value)
		}
		all = append(all, answerView{a.Name, text, filesOf(a.Value, lead)})
	}
	return all, err
}

// leadFilters are the filters of a query: a site, a form, and spam instead of leads.
func leadFilters(q url.Values) url.Values {
	filters := url.Values{}
	for _, name := range []string{"site_id", "form", "spam"} {
		if value := q.Get(name); value != "" {
			filters.Set(name, value)
		}
	}
	return filters
}

// leadsPage shows the leads of the workspace's pages, newest first, or its spam.
func (v *consoleRequest) leadsPage() error {
	q := v.x.r.URL.Query()
	filters := leadFilters(q)
	spam := filters.Has("spam")
	arguments := map[string]any{"limit": listCards, "spam": spam}
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
	with := func(name, value string) template.URL {
		changed := leadFilters(filters)
		changed.Del(name)
		if value != "" {
			changed.Set(name, value)
		}
		return query(changed)
	}
	data := struct {
		Total                  int
		Spam                   bool
		Leads                  []leadView
		Older, AsLeads, AsSpam template.URL
	}{Total: found.Total, Spam: spam, AsLeads: with("spam", ""), AsSpam: with("spam", "1")}
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
		data.Leads = append(data.Leads, leadView{
			Lead: l, At: v.clock(at.UnixMilli()), Page: page.Name, Answers: answers, Mark: query(filters),
		})
	}
	if found.NextCursor != "" {
		data.Older = with("cursor", found.NextCursor)
	}
	title := "Leads"
	if spam {
		title = "Spam"
	}
	return v.render(http.StatusOK, "leads", title, data)
}

// markLead marks a lead as spam or as ham, and shows the list that it left.
func (v *consoleRequest) markLead(lead string) error {
	spam := v.x.r.PostForm.Get("spam") == "true"
	if _, err := callTool[toolapi.MarkLead](v, "page.mark_lead", map[string]any{"lead_id": lead, "spam": spam}); err != nil {
		return err
	}
	return v.redirect("/console/w/" + v.in.slug + "/leads?" + leadFilters(v.x.r.URL.Query()).Encode())
}
