package toolapi

// ContentStatusArgs are the arguments of content.status (platform document, section 4.2).
type ContentStatusArgs struct {
	Status Lifecycle `json:"status,omitempty" jsonschema:"only pieces in this lifecycle state"`
	Format Format    `json:"format,omitempty" jsonschema:"only pieces of this format"`
	Limit  PageSize  `json:"limit,omitempty" jsonschema:"how many pieces to return, newest-updated first"`
	Cursor Cursor    `json:"cursor,omitempty" jsonschema:"next_cursor of the previous page, with the same filters"`
	Scope
}

// ContentStatus is a page of content pieces.
type ContentStatus struct {
	Success
	Counts     map[string]int `json:"counts" jsonschema:"how many of the returned pieces sit in each status"`
	Total      int            `json:"total" jsonschema:"how many pieces match, on all pages"`
	Truncated  bool           `json:"truncated" jsonschema:"deprecated: page with cursor; more pieces matched than were returned"`
	NextCursor string         `json:"next_cursor,omitempty" jsonschema:"present only when another page exists"`
	Pieces     []Piece        `json:"pieces"`
}

// Piece is a content piece (section 2.1).
type Piece struct {
	ID            string    `json:"id"`
	Title         string    `json:"title"`
	Format        Format    `json:"format"`
	Status        Lifecycle `json:"status"`
	ScheduledFor  *string   `json:"scheduled_for"`
	PublishedAt   *string   `json:"published_at"`
	FailureReason *string   `json:"failure_reason"`
	Variants      []Variant `json:"variants" jsonschema:"the elected platform versions"`
}

// Variant is a piece as elected for one platform.
type Variant struct {
	Platform string `json:"platform"`
	Status   string `json:"status"`
}

// ScheduleReadArgs are the arguments of schedule.read (section 4.3).
type ScheduleReadArgs struct {
	Week Date `json:"week,omitempty" jsonschema:"any date inside the wanted week; the current week when omitted"`
	Scope
}

// Schedule is one week of the schedule grid.
type Schedule struct {
	Success
	TimeZone string   `json:"time_zone" jsonschema:"IANA name of the zone of the day columns"`
	Week     string   `json:"week" jsonschema:"the Monday the week starts with, YYYY-MM-DD"`
	Days     []string `json:"days" jsonschema:"the seven day columns, YYYY-MM-DD"`
	Rows     []Row    `json:"rows" jsonschema:"the formats that the active cadence plans"`
	// Unplanned are pieces of the week in formats the cadence does not plan.
	Unplanned []Piece `json:"unplanned" jsonschema:"pieces of the week in formats that the cadence does not plan"`
}

// Row is one format of the grid.
type Row struct {
	Format  Format `json:"format"`
	Planned int    `json:"planned" jsonschema:"how many pieces a week the cadence plans"`
	Cells   []Cell `json:"cells" jsonschema:"one for each day"`
}

// Cell is one day of a row.
type Cell struct {
	Day    string  `json:"day"`
	Pieces []Piece `json:"pieces"`
}
