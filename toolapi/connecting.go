package toolapi

// This file holds the tools that give a workspace its pages and domains. Their
// contracts are assumptions in the spirit of their neighbours.

// CreatePageArgs are the arguments of page.create.
type CreatePageArgs struct {
	Name PageName `json:"name" jsonschema:"what the page is called; its address is made from it"`
	BodyIdempotencyKey
	Scope
}

// CreatePage is a page that was made.
type CreatePage struct {
	Success
	SiteID       string  `json:"site_id"`
	Name         string  `json:"name"`
	Hostname     string  `json:"hostname" jsonschema:"the address that the service gave to the page"`
	LiveRevision *string `json:"live_revision" jsonschema:"null: nothing was published yet"`
	ServingNow   bool    `json:"serving_now" jsonschema:"false: nothing was published yet"`
	Replayed     bool    `json:"replayed" jsonschema:"the first answer to the same idempotency key, given again"`
}

// Replay marks the answer as one that is given again.
func (p *CreatePage) Replay() { p.Replayed = true }

// ConnectArgs are the arguments of domain.connect.
type ConnectArgs struct {
	Hostname Hostname `json:"hostname" jsonschema:"the domain, in lower case and as DNS has it, such as www.example.com"`
	SiteID   UUID     `json:"site_id" jsonschema:"the page it is to point at"`
	Confirmation
	Scope
}

// Connect is a domain that will be, or is, connected.
type Connect struct {
	Success
	Proposal
	DomainID *string `json:"domain_id" jsonschema:"null until the domain is connected"`
	Hostname string  `json:"hostname"`
	SiteID   string  `json:"site_id"`
	SiteName string  `json:"site_name"`
	// Revision is nil when the page has never been published.
	Revision   *string     `json:"revision" jsonschema:"null when the page has never been published"`
	ServingNow bool        `json:"serving_now" jsonschema:"false: the address is assigned and nothing is served on it"`
	Records    []DNSRecord `json:"records" jsonschema:"what the domain's owner must set in DNS: the TXT record proves that the domain is the workspace's, and domain.verify looks for it; none when the address answers already"`
}

// VerifyArgs are the arguments of domain.verify.
type VerifyArgs struct {
	DomainID UUID `json:"domain_id" jsonschema:"the domain that waits for its proof"`
	Scope
}

// Verify is a domain that is proven to be the workspace's.
type Verify struct {
	Success
	DomainID   string `json:"domain_id"`
	Hostname   string `json:"hostname"`
	SiteID     string `json:"site_id"`
	SiteName   string `json:"site_name"`
	ServingNow bool   `json:"serving_now" jsonschema:"false: nothing is served at the address, since its page was never published"`
}

// DNSRecord is a record of a domain's zone.
type DNSRecord struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}
