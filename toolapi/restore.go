package toolapi

// RestorePointsArgs are the arguments of page.restore_points.
type RestorePointsArgs = SiteArgs

// RestorePoints are the restore points of a page's database, and their bounds.
type RestorePoints struct {
	Success
	SiteID    string         `json:"site_id"`
	Points    []RestorePoint `json:"points" jsonschema:"newest first"`
	Tables    []RestoreTable `json:"tables" jsonschema:"those of now, sorted by name; [] when counting takes too long"`
	Rule      string         `json:"rule" jsonschema:"which points are kept, in words"`
	MaxPoints int            `json:"max_points" jsonschema:"the most points that are kept"`
	MaxBytes  int64          `json:"max_bytes" jsonschema:"the most bytes that they take together, unless the newest alone needs more"`
}

// RestorePoint is the database of a page at one moment.
type RestorePoint struct {
	ID         string         `json:"id" jsonschema:"such as p12"`
	At         string         `json:"at" jsonschema:"ISO 8601 timestamp"`
	Reason     RestoreReason  `json:"reason" jsonschema:"publish: a revision was about to go live; restore: another point was about to be put back; interval: something was written since the point before"`
	Before     *string        `json:"before" jsonschema:"the revision that went live next, or the point put back; null if neither is known"`
	Revision   *string        `json:"revision" jsonschema:"what was live; null when it is not known"`
	Migrations []string       `json:"migrations" jsonschema:"the migrations that the database had"`
	Tables     []RestoreTable `json:"tables" jsonschema:"sorted by name"`
	Bytes      int64          `json:"bytes" jsonschema:"size of the database"`
}

// RestoreTable is a table with its number of rows.
type RestoreTable struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// RestoreDataArgs are the arguments of page.restore_data. One of Point, BeforeRevision and At chooses the data to restore.
type RestoreDataArgs struct {
	SiteID         UUID         `json:"site_id" jsonschema:"the site whose data are put back"`
	Point          PointID      `json:"point,omitempty" jsonschema:"the restore point"`
	BeforeRevision Name         `json:"before_revision,omitempty" jsonschema:"instead of point: the newest one from before this revision went live; its number is enough, such as r2"`
	At             Timestamp    `json:"at,omitempty" jsonschema:"instead of point: the newest one that is not younger than this ISO 8601 timestamp with a UTC offset"`
	Into           RestoreInto  `json:"into,omitempty" jsonschema:"live: the page itself, the default; preview: a preview link that shows the page with these data, and changes nothing else"`
	Tables         TableNames   `json:"tables,omitempty" jsonschema:"put back only these tables, whose columns must be the same as now; the schema and the code stay"`
	Leads          RestoreLeads `json:"leads,omitempty" jsonschema:"keep: rows of the manifest's submissions table that came since stay, the default; drop: they go"`
	Revision       RestoreCode  `json:"revision,omitempty" jsonschema:"point: the revision that was live then goes live with the data, the default; live: what is live stays, and its migrations run again on the data"`
	Confirmation
	Scope
}

// RestoreData describes the data that a restore will put back, or did.
type RestoreData struct {
	Success
	Proposal
	SiteID   string       `json:"site_id"`
	SiteName string       `json:"site_name"`
	Hostname string       `json:"hostname"`
	Point    RestorePoint `json:"point"`
	Into     RestoreInto  `json:"into"`
	Tables   []string     `json:"tables" jsonschema:"the tables that are put back; [] for all of the database"`
	Leads    RestoreLeads `json:"leads"`

	Revision   string          `json:"revision" jsonschema:"what is live afterwards, or what the preview shows"`
	Previous   string          `json:"previous" jsonschema:"what is live before"`
	SavedAs    *string         `json:"saved_as" jsonschema:"the restore point of the data until now; null until they are put back, and for a preview"`
	Preview    *RestorePreview `json:"preview,omitempty" jsonschema:"the preview link, once it is made"`
	ServingNow bool            `json:"serving_now" jsonschema:"whether the page answers with these data at its address"`
	Migrated
}

// RestorePreview is a preview of a page with the data of a restore point.
type RestorePreview struct {
	ID        string `json:"id" jsonschema:"revokes the link"`
	Hostname  string `json:"hostname"`
	Path      string `json:"path" jsonschema:"opens the preview at the hostname, for everyone who has it"`
	ExpiresAt string `json:"expires_at"`
}

type (
	// PointID is the id of a restore point in an argument.
	PointID string
	// RestoreReason is "publish", "restore" or "interval".
	RestoreReason string
	// RestoreInto is "live" or "preview".
	RestoreInto string
	// RestoreLeads is "keep" or "drop".
	RestoreLeads string
	// RestoreCode is "point" or "live".
	RestoreCode string
)

// The values of the arguments of page.restore_data.
const (
	IntoLive    RestoreInto  = "live"
	IntoPreview RestoreInto  = "preview"
	KeepLeads   RestoreLeads = "keep"
	DropLeads   RestoreLeads = "drop"
	CodeOfPoint RestoreCode  = "point"
	CodeOfLive  RestoreCode  = "live"
)
