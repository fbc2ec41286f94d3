package toolapi

// PointAtSiteArgs are the arguments of domain.point_at_site (platform document,
// section 4.4).
type PointAtSiteArgs struct {
	DomainID UUID `json:"domain_id" jsonschema:"the domain to move"`
	SiteID   UUID `json:"site_id" jsonschema:"the site it is to point at"`
	Confirmation
	Scope
}

// PointAtSite is where a domain will point, or points.
type PointAtSite struct {
	Success
	Proposal
	DomainID string `json:"domain_id"`
	Hostname string `json:"hostname"`
	SiteID   string `json:"site_id"`
	SiteName string `json:"site_name"`
	// Revision is nil when the page has never been published.
	Revision *string `json:"revision" jsonschema:"null when the page has never been published"`
	// ServingNow false means that nothing answers at the address: it must not be called live.
	ServingNow bool `json:"serving_now" jsonschema:"false: the address is assigned and nothing is served on it"`
}

// SchedulePublishArgs are the arguments of page.schedule_publish (section 4.5).
type SchedulePublishArgs struct {
	At     Timestamp `json:"at" jsonschema:"ISO 8601 timestamp with a UTC offset, from five minutes to one year ahead"`
	SiteID UUID      `json:"site_id" jsonschema:"the site to publish"`
	Confirmation
	Scope
}

// SchedulePublish is a publish that will happen.
type SchedulePublish struct {
	Success
	Proposal
	SiteID   string `json:"site_id"`
	At       string `json:"at" jsonschema:"ISO 8601 timestamp"`
	Revision string `json:"revision" jsonschema:"the revision that goes live then"`
	Hostname string `json:"hostname"`
	Replaced bool   `json:"replaced" jsonschema:"an existing schedule is moved; none is added"`
}

// PublishArgs are the arguments of page.publish.
type PublishArgs struct {
	SiteID   UUID `json:"site_id" jsonschema:"the site to publish"`
	Revision Name `json:"revision,omitempty" jsonschema:"the revision to publish; the newest one when omitted"`
	Force    bool `json:"force,omitempty" jsonschema:"also when the page's database has migrations that the revision does not know"`
	Confirmation
	Scope
}

// RollbackArgs are the arguments of page.rollback.
type RollbackArgs struct {
	SiteID   UUID `json:"site_id" jsonschema:"the site to roll back"`
	Revision Name `json:"revision,omitempty" jsonschema:"the revision to go back to; the one that was live before when omitted"`
	Force    bool `json:"force,omitempty" jsonschema:"also when the page's database has migrations that the revision does not know"`
	Confirmation
	Scope
}

// Publish is a revision that will be, or is, what a page serves.
type Publish struct {
	Success
	Proposal
	SiteID     string  `json:"site_id"`
	SiteName   string  `json:"site_name"`
	Hostname   string  `json:"hostname"`
	Revision   string  `json:"revision"`
	Previous   *string `json:"previous" jsonschema:"the revision that was live; null when there was none"`
	ServingNow bool    `json:"serving_now" jsonschema:"whether the revision answers at the address"`
}

// UnscheduleArgs are the arguments of page.unschedule.
type UnscheduleArgs struct {
	SiteID UUID `json:"site_id" jsonschema:"the site whose scheduled publish is to be called off"`
	Scope
}

// Unschedule is a publish that will not happen.
type Unschedule struct {
	Success
	SiteID   string `json:"site_id"`
	At       string `json:"at" jsonschema:"when it would have happened"`
	Revision string `json:"revision"`
}

// NoArgs are the arguments of a tool that takes none of its own.
type NoArgs struct{ Scope }

// PageList are the pages of a workspace.
type PageList struct {
	Success
	Pages []Page `json:"pages"`
}

// Page is a site as page.list shows it.
type Page struct {
	SiteID       string     `json:"site_id"`
	Name         string     `json:"name"`
	Hostname     string     `json:"hostname"`
	LiveRevision *string    `json:"live_revision" jsonschema:"null when the page has never been published"`
	Revisions    []string   `json:"revisions" jsonschema:"newest first"`
	Schedule     *Scheduled `json:"schedule" jsonschema:"null when no publish is scheduled"`
}

// Scheduled is a publish to come.
type Scheduled struct {
	At       string `json:"at"`
	Revision string `json:"revision"`
}

// DomainList are the domains of a workspace.
type DomainList struct {
	Success
	Domains []Domain `json:"domains"`
}

// Domain is an address as domain.list shows it.
type Domain struct {
	DomainID   string `json:"domain_id"`
	Hostname   string `json:"hostname"`
	SiteID     string `json:"site_id"`
	SiteName   string `json:"site_name"`
	Provided   bool   `json:"provided" jsonschema:"the service gave it to its page; it cannot be moved"`
	ServingNow bool   `json:"serving_now"`
	// Pending is nil when the domain is the workspace's.
	Pending *PendingProof `json:"pending,omitempty" jsonschema:"there while the domain waits for the proof that it is the workspace's"`
}

// PendingProof is what a domain waits for.
type PendingProof struct {
	Record    DNSRecord `json:"record" jsonschema:"what must be set in DNS before domain.verify"`
	ExpiresAt string    `json:"expires_at" jsonschema:"when the domain is forgotten unless it is proven"`
}
