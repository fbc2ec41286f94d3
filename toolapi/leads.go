package toolapi

import "encoding/json"

// This file holds the tool about what the forms of pages captured (platform document,
// section 6). How leads and their events are read is not shown there: its contract is an
// assumption in the spirit of its neighbours.

// LeadListArgs are the arguments of page.leads.
type LeadListArgs struct {
	SiteID UUID     `json:"site_id,omitempty" jsonschema:"only leads of this page; those of every page of the workspace when omitted"`
	Form   FormName `json:"form,omitempty" jsonschema:"only leads of this form"`
	Limit  PageSize `json:"limit,omitempty" jsonschema:"how many leads to return, newest first"`
	Cursor Cursor   `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page, with the same filters"`
	Scope
}

// LeadList is a page of leads.
type LeadList struct {
	Success
	Total      int    `json:"total" jsonschema:"how many leads match, on all pages"`
	NextCursor string `json:"next_cursor,omitempty" jsonschema:"present only when another page exists"`
	Leads      []Lead `json:"leads" jsonschema:"newest first"`
}

// Lead is what a visitor sent by a form of a page.
type Lead struct {
	ID        string          `json:"id"`
	SiteID    string          `json:"site_id"`
	Form      string          `json:"form" jsonschema:"the form's name"`
	Fields    json.RawMessage `json:"fields" jsonschema:"the visitor's answers, as they came"`
	CreatedAt string          `json:"created_at"`
	Preview   bool            `json:"preview" jsonschema:"it was sent by a preview link, and raised no events"`
	Events    []LeadEvent     `json:"events" jsonschema:"the automation events that it raised, in order"`
}

// LeadEvent is an automation event: pages.lead.captured of every lead, and the one that
// the manifest declares for the form.
type LeadEvent struct {
	ID   string `json:"id" jsonschema:"the same at every delivery"`
	Name string `json:"name"`
}

// FormName is the name of a form in an argument.
type FormName string

// defineLeads defines the tool of this file.
func (c *Contract) defineLeads() {
	c.Leads = define[LeadListArgs, LeadList](&c.tools, Tool{
		Name: "page.leads", Title: "List leads",
		Description: "Lists what the forms of published pages captured, newest first, with the automation events that each lead raised.",
	})
}
