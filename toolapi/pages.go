package toolapi

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// PointAtSiteArgs are the arguments of domain.point_at_site (platform document,
// section 4.4).
type PointAtSiteArgs struct {
	DomainID UUID `json:"domain_id" jsonschema:"the domain to move"`
	SiteID   UUID `json:"site_id" jsonschema:"the new site of the domain"`
	Confirmation
	Scope
}

// PointAtSite is the present or proposed target of a domain.
type PointAtSite struct {
	Success
	Proposal
	DomainID string `json:"domain_id"`
	Hostname string `json:"hostname"`
	SiteID   string `json:"site_id"`
	SiteName string `json:"site_name"`

	Revision   *string `json:"revision" jsonschema:"null when the page has never been published"`
	ServingNow bool    `json:"serving_now" jsonschema:"false: the address is assigned and serves nothing"`
}

// SchedulePublishArgs are the arguments of page.schedule_publish (section 4.5).
type SchedulePublishArgs struct {
	At     Timestamp `json:"at" jsonschema:"ISO 8601 timestamp with a UTC offset, from five minutes to one year ahead"`
	SiteID UUID      `json:"site_id" jsonschema:"the site to publish"`

	AllowDataLoss TableNames `json:"allow_data_loss,omitempty" jsonschema:"tables that may lose the rows and values that the proposal names"`
	Confirmation
	Scope
}

// SchedulePublish is a scheduled publish.
type SchedulePublish struct {
	Success
	Proposal
	Migrated
	SiteID   string `json:"site_id"`
	At       string `json:"at" jsonschema:"ISO 8601 timestamp"`
	Revision string `json:"revision" jsonschema:"the revision that goes live at that time"`
	Hostname string `json:"hostname"`
	Replaced bool   `json:"replaced" jsonschema:"true: the call moved an existing schedule"`
}

// PublishArgs are the arguments of page.publish.
type PublishArgs struct {
	SiteID   UUID `json:"site_id" jsonschema:"the site to publish"`
	Revision Name `json:"revision,omitempty" jsonschema:"the revision to publish; the newest one when omitted"`
	Force    bool `json:"force,omitempty" jsonschema:"publish even if the page's database has migrations that the revision does not know"`

	AllowDataLoss TableNames `json:"allow_data_loss,omitempty" jsonschema:"tables that may lose the rows and values that the proposal names"`
	Confirmation
	Scope
}

// RollbackArgs are the arguments of page.rollback.
type RollbackArgs struct {
	SiteID   UUID `json:"site_id" jsonschema:"the site to roll back"`
	Revision Name `json:"revision,omitempty" jsonschema:"the revision to go back to; the one that was live before when omitted"`
	Force    bool `json:"force,omitempty" jsonschema:"publish even if the page's database has migrations that the revision does not know"`

	AllowDataLoss TableNames `json:"allow_data_loss,omitempty" jsonschema:"tables that may lose the rows and values that the proposal names"`
	Confirmation
	Scope
}

// Publish is the revision that a page serves, or will serve.
type Publish struct {
	Success
	Proposal
	Migrated
	SiteID     string  `json:"site_id"`
	SiteName   string  `json:"site_name"`
	Hostname   string  `json:"hostname"`
	Revision   string  `json:"revision"`
	Previous   *string `json:"previous" jsonschema:"the revision that was live; null when there was none"`
	ServingNow bool    `json:"serving_now" jsonschema:"whether the revision answers at the address"`
}

// UnscheduleArgs are the arguments of page.unschedule.
type UnscheduleArgs struct {
	SiteID UUID `json:"site_id" jsonschema:"the site whose scheduled publish is cancelled"`
	Scope
}

// Unschedule is a cancelled publish.
type Unschedule struct {
	Success
	SiteID   string `json:"site_id"`
	At       string `json:"at" jsonschema:"the time for which it was scheduled"`
	Revision string `json:"revision"`
}

// NoArgs are the arguments of a tool that takes none of its own.
type NoArgs struct{ Scope }

// PageList are the pages of a workspace.
type PageList struct {
	Success
	Pages []Page `json:"pages"`
}

// Page is a site in page.list.
type Page struct {
	SiteID       string     `json:"site_id"`
	Name         string     `json:"name"`
	Hostname     string     `json:"hostname"`
	LiveRevision *string    `json:"live_revision" jsonschema:"null when the page has never been published"`
	Revisions    []string   `json:"revisions" jsonschema:"newest first"`
	Schedule     *Scheduled `json:"schedule" jsonschema:"null when no publish is scheduled"`
}

// Scheduled is a future publish.
type Scheduled struct {
	At       string `json:"at"`
	Revision string `json:"revision"`
}

// DomainList are the domains of a workspace.
type DomainList struct {
	Success
	Domains []Domain `json:"domains"`
}

// Domain is an address in domain.list.
type Domain struct {
	DomainID   string `json:"domain_id"`
	Hostname   string `json:"hostname"`
	SiteID     string `json:"site_id"`
	SiteName   string `json:"site_name"`
	Provided   bool   `json:"provided" jsonschema:"true: the service created it for its page, and it cannot be moved"`
	ServingNow bool   `json:"serving_now"`

	Pending *PendingProof `json:"pending,omitempty" jsonschema:"present until the workspace proves that it owns the domain"`
}

// PendingProof is the record that a pending domain needs.
type PendingProof struct {
	Record    DNSRecord `json:"record" jsonschema:"the DNS record to set before domain.verify"`
	ExpiresAt string    `json:"expires_at" jsonschema:"when the domain is removed unless it is proven"`
}

// CreatePageArgs are the arguments of page.create.
type CreatePageArgs struct {
	Name PageName `json:"name" jsonschema:"the name of the page, from which its address derives"`
	BodyIdempotencyKey
	Scope
}

// CreatePage is a created page.
type CreatePage struct {
	Success
	SiteID       string  `json:"site_id"`
	Name         string  `json:"name"`
	Hostname     string  `json:"hostname" jsonschema:"the address that the service created for the page"`
	LiveRevision *string `json:"live_revision" jsonschema:"null: never published"`
	ServingNow   bool    `json:"serving_now" jsonschema:"false: never published"`
	Replayed     bool    `json:"replayed" jsonschema:"true: the first response to the same idempotency key, repeated"`
}

// Replay marks the response as a repeated one.
func (p *CreatePage) Replay() { p.Replayed = true }

// ConnectArgs are the arguments of domain.connect.
type ConnectArgs struct {
	Hostname Hostname `json:"hostname" jsonschema:"the domain, in lower case and as DNS has it, such as www.example.com"`
	SiteID   UUID     `json:"site_id" jsonschema:"the page of the domain"`
	Confirmation
	Scope
}

// Connect is a connected or proposed domain.
type Connect struct {
	Success
	Proposal
	DomainID *string `json:"domain_id" jsonschema:"null until the domain is connected"`
	Hostname string  `json:"hostname"`
	SiteID   string  `json:"site_id"`
	SiteName string  `json:"site_name"`

	Revision   *string     `json:"revision" jsonschema:"null when the page has never been published"`
	ServingNow bool        `json:"serving_now" jsonschema:"false: the address is assigned and serves nothing"`
	Records    []DNSRecord `json:"records" jsonschema:"the DNS records that the domain's owner must set: the TXT record proves that the domain belongs to the workspace, and domain.verify looks for it; none when the address already answers"`
}

// VerifyArgs are the arguments of domain.verify.
type VerifyArgs struct {
	DomainID UUID `json:"domain_id" jsonschema:"the pending domain"`
	Scope
}

// Verify is a domain with a proof of the workspace's ownership.
type Verify struct {
	Success
	DomainID   string `json:"domain_id"`
	Hostname   string `json:"hostname"`
	SiteID     string `json:"site_id"`
	SiteName   string `json:"site_name"`
	ServingNow bool   `json:"serving_now" jsonschema:"false: the address serves nothing, since its page was never published"`
}

// DNSRecord is a record of a domain's zone.
type DNSRecord struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SiteArgs name a site.
type SiteArgs struct {
	SiteID UUID `json:"site_id" jsonschema:"the site"`
	Scope
}

// RevisionList are the revisions of a page.
type RevisionList struct {
	Success
	SiteID    string            `json:"site_id"`
	Revisions []RevisionSummary `json:"revisions" jsonschema:"newest first"`
}

// RevisionSummary is a revision in page.revisions.
type RevisionSummary struct {
	Revision    string  `json:"revision"`
	CreatedAt   string  `json:"created_at"`
	Files       int     `json:"files"`
	Bytes       int64   `json:"bytes"`
	Live        bool    `json:"live" jsonschema:"true: the page serves it"`
	Scheduled   bool    `json:"scheduled" jsonschema:"true: a scheduled publish will make it live"`
	Previewed   bool    `json:"previewed" jsonschema:"true: a preview link shows it"`
	PublishedAt *string `json:"published_at" jsonschema:"when it last went live; null when it never did"`
}

// SecretList lists the names of a page's secrets. No response contains their values.
type SecretList struct {
	Success
	SiteID  string   `json:"site_id"`
	Secrets []Secret `json:"secrets" jsonschema:"sorted by name"`
}

// Secret is a secret in page.list_secrets.
type Secret struct {
	Name     string  `json:"name"`
	SetAt    *string `json:"set_at" jsonschema:"null when it has no value"`
	Declared bool    `json:"declared" jsonschema:"true: the newest revision's manifest declares it for the Worker"`
}

// SetSecretArgs are the arguments of page.set_secret.
type SetSecretArgs struct {
	SiteID UUID        `json:"site_id" jsonschema:"the site"`
	Name   SecretName  `json:"name" jsonschema:"as the manifest's bindings.secrets names it"`
	Value  SecretValue `json:"value" jsonschema:"stored encrypted, and never returned"`
	Scope
}

// RemoveSecretArgs are the arguments of page.remove_secret.
type RemoveSecretArgs struct {
	SiteID UUID       `json:"site_id" jsonschema:"the site"`
	Name   SecretName `json:"name" jsonschema:"the secret"`
	Scope
}

// SecretChange is a secret that was set or removed.
type SecretChange struct {
	Success
	SiteID   string `json:"site_id"`
	Name     string `json:"name"`
	Replaced bool   `json:"replaced" jsonschema:"true: it had a value before"`
}

type (
	// SecretName is the name of a secret.
	SecretName string
	// SecretValue is the value of a secret.
	SecretValue string
)

// Confirmation is the argument of the second call of a two-call tool.
type Confirmation struct {
	ConfirmationID UUID `json:"confirmation_id,omitempty" jsonschema:"the id of the proposal, together with the same arguments; omit it to propose"`
}

// Proposal is the common part of the results of two-call tools (platform document, section 2.3).
// After the confirming call only State is set.
type Proposal struct {
	State            ProposalState `json:"state" jsonschema:"confirmation_required: nothing has changed yet; done: the change is made"`
	ConfirmationID   string        `json:"confirmation_id,omitempty" jsonschema:"pass it back with the same arguments to perform the action"`
	ExpiresInSeconds Seconds       `json:"expires_in_seconds,omitempty" jsonschema:"seconds until the proposal expires"`
	RequestSummary   string        `json:"request_summary,omitempty" jsonschema:"one sentence that describes the change, for a person to approve"`
}

// Propose sets the fields of the result of a first call.
func (p *Proposal) Propose(id, summary string, expires Seconds) {
	*p = Proposal{State: ConfirmationRequired, ConfirmationID: id, RequestSummary: summary, ExpiresInSeconds: expires}
}

// Perform sets the fields of the result of a second call.
func (p *Proposal) Perform() { *p = Proposal{State: Done} }

// Confirm returns the id that the call confirms; "" for a first call.
func (c Confirmation) Confirm() string { return string(c.ConfirmationID) }

// LeadListArgs are the arguments of page.leads. The platform document (section 6) describes how
// forms capture leads, but not how to read them.
type LeadListArgs struct {
	SiteID UUID     `json:"site_id,omitempty" jsonschema:"only leads of this page; those of every page of the workspace when omitted"`
	Form   FormName `json:"form,omitempty" jsonschema:"only leads of this form"`
	Spam   bool     `json:"spam,omitempty" jsonschema:"list spam instead of leads"`
	Limit  PageSize `json:"limit,omitempty" jsonschema:"how many leads to return, newest first"`
	Cursor Cursor   `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page, with the same filters"`
	Scope
}

// LeadList is a page of leads.
type LeadList struct {
	Success
	Total      int    `json:"total" jsonschema:"number of matching leads on all pages"`
	NextCursor string `json:"next_cursor,omitempty" jsonschema:"present only when another page exists"`
	Leads      []Lead `json:"leads" jsonschema:"newest first"`
}

// Lead is a visitor's submission of a page's form.
type Lead struct {
	ID        string          `json:"id"`
	SiteID    string          `json:"site_id"`
	Form      string          `json:"form" jsonschema:"the form's name"`
	Fields    json.RawMessage `json:"fields" jsonschema:"the visitor's input, unchanged"`
	CreatedAt string          `json:"created_at"`
	Preview   bool            `json:"preview" jsonschema:"true: it came through a preview link, and raised no events"`
	Events    []LeadEvent     `json:"events" jsonschema:"the automation events that it raised, in order"`
	Spam      *LeadSpam       `json:"spam,omitempty" jsonschema:"only for spam: the score and its reasons"`
}

// Answer is one answer of a lead.
type Answer struct {
	Name  string
	Value json.RawMessage // text, a list of texts, a file, or a value from a script
}

// Answers returns the answers of [Lead.Fields] in their order.
func Answers(fields json.RawMessage) (all []Answer, err error) {
	d := json.NewDecoder(bytes.NewReader(fields))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		a := Answer{Name: fmt.Sprint(name)}
		if err := d.Decode(&a.Value); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// LeadEvent is an automation event: pages.lead.captured for every lead, and the event that the
// manifest declares for the form.
type LeadEvent struct {
	ID   string `json:"id" jsonschema:"the same at every delivery"`
	Name string `json:"name"`
}

// FormName is the name of a form in an argument.
type FormName string
