package toolapi

// This file holds the settings of a site about its leads, and marks of spam. The platform document has neither: the tools are
// assumptions.

// SpamFilter is the state of the spam filter, which keeps spam out of the leads.
type SpamFilter string

// States of the filter.
const (
	SpamFilterOn  SpamFilter = "on"
	SpamFilterOff SpamFilter = "off"
)

// ProofOfWork reports whether a form that a script sends needs a proof of work.
type ProofOfWork string

// States of the setting.
const (
	ProofOfWorkOn  ProofOfWork = "on"
	ProofOfWorkOff ProofOfWork = "off"
)

// Emails are addresses of members in an argument.
type Emails []string

const (
	// MaxEmails is the maximum number of emails of a list.
	MaxEmails = 5
	maxEmail  = 254 // bytes, of RFC 5321
	// emailPattern accepts usual addresses: no quotes, comments or control characters.
	emailPattern = `^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`
)

// Settings are the settings of a page.
type Settings struct {
	Success
	SiteSettings
}

// SiteSettings is the result of page.settings and the arguments of page.change_settings.
type SiteSettings struct {
	SiteID      string      `json:"site_id"`
	SiteName    string      `json:"site_name"`
	SpamFilter  SpamFilter  `json:"spam_filter" jsonschema:"on: posts that look like spam do not become leads"`
	ProofOfWork ProofOfWork `json:"proof_of_work" jsonschema:"on: a form that a script sends without a proof of work is refused"`
	LeadMail    []string    `json:"lead_mail" jsonschema:"the members who get a mail on each lead"`
}

// ChangeSettingsArgs are the arguments of page.change_settings.
type ChangeSettingsArgs struct {
	SiteID      UUID        `json:"site_id" jsonschema:"the site"`
	SpamFilter  SpamFilter  `json:"spam_filter,omitempty" jsonschema:"on keeps spam out of the leads; unchanged when omitted"`
	ProofOfWork ProofOfWork `json:"proof_of_work,omitempty" jsonschema:"on refuses scripts without a proof of work; unchanged when omitted"`
	LeadMail    *Emails     `json:"lead_mail,omitempty" jsonschema:"the emails of members who get a mail on each lead; none for an empty list; unchanged when omitted"`
	Confirmation
	Scope
}

// ChangeSettings are proposed or changed settings.
type ChangeSettings struct {
	Success
	Proposal
	SiteSettings
}

// MarkLeadArgs are the arguments of page.mark_lead.
type MarkLeadArgs struct {
	LeadID Name `json:"lead_id" jsonschema:"the lead"`
	Spam   bool `json:"spam" jsonschema:"true: it becomes spam; false: it becomes a lead, and raises its events once"`
	Scope
}

// MarkLead is a lead that was marked.
type MarkLead struct {
	Success
	Lead Lead `json:"lead"`
}

// LeadSpam is the reason why a lead is spam.
type LeadSpam struct {
	Score   int          `json:"score"`
	Reasons []SpamReason `json:"reasons"`
}

// SpamReason is one sign that a program sent a lead.
type SpamReason struct {
	Code    string `json:"code"`
	Points  int    `json:"points"`
	Message string `json:"message"`
}

// defineSettings defines the tools of this file.
func (c *Contract) defineSettings() {
	all := &c.tools
	c.Settings = define[SiteArgs, Settings](all, Tool{
		Name: "page.settings", Title: "Read a page's settings",
		Description: "Returns the settings of a page: the state of the spam filter, whether scripts need a proof of work " +
			"to send forms, and the members who get a mail on each lead.",
	})
	c.ChangeSettings = define[ChangeSettingsArgs, ChangeSettings](all, Tool{
		Name: "page.change_settings", Title: "Change a page's settings", Effect: Proposes,
		Description: "Turns the page's spam filter and its proofs of work on or off, and sets the members of the workspace who get a " +
			"mail on each lead. The first call proposes; the same arguments with confirmation_id perform it.",
	})
	c.MarkLead = define[MarkLeadArgs, MarkLead](all, Tool{
		Name: "page.mark_lead", Title: "Mark a lead as spam, or spam as a lead", Effect: Writes,
		Description: "Marks a lead as spam, or spam as a lead: then its events are raised and its row is written, once. " +
			"page.leads with spam lists spam.",
	})
}
