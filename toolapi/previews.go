package toolapi

// This file defines named previews, for example one for each branch. The upload protocol has links to one revision; the
// address and the data of a named preview stay from revision to revision.

// PreviewsPath takes POST, which shows a revision under a name, and GET with site_id and workspace in the query. DELETE of
// the link (PreviewLinkPath) with the id of a preview removes it.
const PreviewsPath = "/api/v1/pages/previews"

// Limits of named previews.
const (
	MaxSeedBytes          = 512 << 10 // of the SQL that fills its data
	MaxPreviewDeclare     = 4 << 20   // of the body, in which SQL is escaped
	MaxPreviewName        = 200       // characters
	MinPreviewTTL         = 60
	MaxPreviewTTL         = 90 * 86_400
	DefaultPreviewTTL     = 14 * 86_400
	MaxNamedPreviews      = 30 // of one site
	MaxPreviewedRevisions = 10 // of one name, each with its own address
)

// PreviewData is the initial data of a preview.
type PreviewData string

// Kinds of initial data.
const (
	DataCopy  PreviewData = "copy"  // a copy of the live data
	DataEmpty PreviewData = "empty" // empty databases: every migration runs
	DataSeed  PreviewData = "seed"  // empty databases, every migration, and then the SQL in the request
)

var previewData = []any{string(DataCopy), string(DataEmpty), string(DataSeed)}

type (
	// PreviewName is the name of a preview.
	PreviewName string
	// PreviewTTL is the life of a named preview after its last revision; 0 means the default.
	PreviewTTL int64
	// SeedText is SQL that fills a database.
	SeedText string
)

// NamedPreviewArgs is the body of a request that shows a revision under a name.
type NamedPreviewArgs struct {
	SiteID   UUID        `json:"site_id"`
	Name     PreviewName `json:"name" jsonschema:"such as the branch that it shows; an existing preview of this name gets the revision, otherwise the call creates one"`
	Revision Name        `json:"revision,omitempty" jsonschema:"the newest one when omitted"`
	Data     PreviewData `json:"data,omitempty" jsonschema:"the data that it starts with: a copy of the live data, none, or only the seed; copy when omitted"`
	Seed     SeedText    `json:"seed,omitempty" jsonschema:"SQL for data seed, which runs once, after the migrations"`
	Fresh    bool        `json:"fresh,omitempty" jsonschema:"start over with the data; otherwise they stay, unless an applied migration was edited"`
	TTL      PreviewTTL  `json:"ttl_seconds,omitempty" jsonschema:"seconds until it expires"`
	Scope
}

// NamedPreview is a named preview.
type NamedPreview struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	URL         string      `json:"url" jsonschema:"shows the newest revision of the name; it stays the same"`
	Revision    string      `json:"revision"`
	RevisionURL string      `json:"revision_url" jsonschema:"shows this revision, with data of its own; it stays the same"`
	Data        PreviewData `json:"data"`
	CreatedAt   string      `json:"created_at"`
	UpdatedAt   string      `json:"updated_at" jsonschema:"when it got its newest revision"`
	ExpiresAt   string      `json:"expires_at"`
}

// DeployedPreview is the response to a revision under a name.
type DeployedPreview struct {
	Success
	NamedPreview
	Because     string `json:"because" jsonschema:"why its data started over, as a clause; empty when they stayed"`
	SeedChanged bool   `json:"seed_changed" jsonschema:"true: the seed differs from the one that filled the data, and did not run"`
}

// PreviewList are the previews of a site.
type PreviewList struct {
	Success
	SiteID   string         `json:"site_id"`
	Previews []NamedPreview `json:"previews" jsonschema:"most recently changed first"`
	Links    []OpenLink     `json:"links" jsonschema:"unnamed preview links, newest first"`
	Most     int            `json:"most" jsonschema:"the limit of named previews"`
}

// OpenLink is a valid preview link. Its address is shown only when it is created.
type OpenLink struct {
	ID        string `json:"id"`
	Revision  string `json:"revision"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
}

// CheckNamedPreview lists the faults in the body of a request that shows a revision under a name.
func (o Object) CheckNamedPreview() []Issue { return check(bodies().named, o.fields, "") }
