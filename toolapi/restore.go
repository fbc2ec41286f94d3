package toolapi

// RestorePointsArgs are the arguments of page.restore_points.
type RestorePointsArgs = SiteArgs

// RestorePoints are the restore points of a page's database, and their bounds.
type RestorePoints struct {
	Success
	SiteID    string         `json:"site_id"`
	Points    []RestorePoint `json:"points" jsonschema:"newest first"`
	Tables    []RestoreTable `json:"tables" jsonschema:"the current tables, sorted by name; [] when counting takes too long"`
	Rule      string         `json:"rule" jsonschema:"the rule for which points are kept, as text"`
	MaxPoints int            `json:"max_points" jsonschema:"the limit of points"`
	MaxBytes  int64          `json:"max_bytes" jsonschema:"the limit of their total size in bytes, unless the newest alone needs more"`
}

// RestorePoint is a snapshot of a page's database.
type RestorePoint struct {
	ID         string         `json:"id" jsonschema:"such as p12"`
	At         string         `json:"at" jsonschema:"ISO 8601 timestamp"`
	Reason     RestoreReason  `json:"reason" jsonschema:"publish: taken before a revision went live; restore: taken before another point was restored; interval: taken after writes since the previous point"`
	Before     *string        `json:"before" jsonschema:"the revision that went live next, or the restored point; null if neither is known"`
	Revision   *string        `json:"revision" jsonschema:"the revision that was live; null if unknown"`
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
	SiteID         UUID         `json:"site_id" jsonschema:"the site whose data are restored"`
	Point          PointID      `json:"point,omitempty" jsonschema:"the restore point"`
	BeforeRevision Name         `json:"before_revision,omitempty" jsonschema:"instead of point: the newest point from before this revision went live; its number is enough, such as r2"`
	At             Timestamp    `json:"at,omitempty" jsonschema:"instead of point: the newest point at or before this ISO 8601 timestamp with a UTC offset"`
	Into           RestoreInto  `json:"into,omitempty" jsonschema:"live: the page itself, the default; preview: a preview link that shows the page with these data, without other changes"`
	Tables         TableNames   `json:"tables,omitempty" jsonschema:"restore only these tables, whose columns must be the same as now; the schema and the code stay"`
	Leads          RestoreLeads `json:"leads,omitempty" jsonschema:"keep: newer rows of the manifest's submissions table stay, the default; drop: they are removed"`
	Revision       RestoreCode  `json:"revision,omitempty" jsonschema:"point: the revision of that time goes live with the data, the default; live: the live revision stays, and its migrations run again on the data"`
	Confirmation
	Scope
}

// RestoreData describes the data of a proposed or finished restore.
type RestoreData struct {
	Success
	Proposal
	SiteID   string       `json:"site_id"`
	SiteName string       `json:"site_name"`
	Hostname string       `json:"hostname"`
	Point    RestorePoint `json:"point"`
	Into     RestoreInto  `json:"into"`
	Tables   []string     `json:"tables" jsonschema:"the restored tables; [] for the whole database"`
	Leads    RestoreLeads `json:"leads"`

	Revision   string          `json:"revision" jsonschema:"the revision that is live afterwards, or that the preview shows"`
	Previous   string          `json:"previous" jsonschema:"the revision that is live before"`
	SavedAs    *string         `json:"saved_as" jsonschema:"the restore point of the previous data; null until the restore is done, and for a preview"`
	Preview    *RestorePreview `json:"preview,omitempty" jsonschema:"the preview link, when it exists"`
	ServingNow bool            `json:"serving_now" jsonschema:"whether the page answers with these data at its address"`
	Migrated
}

// RestorePreview is a preview of a page with the data of a restore point.
type RestorePreview struct {
	ID        string `json:"id" jsonschema:"the id to revoke the link with"`
	Hostname  string `json:"hostname"`
	Path      string `json:"path" jsonschema:"the path that opens the preview at the hostname"`
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
