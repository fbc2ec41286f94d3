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
	Total      int            `json:"total" jsonschema:"number of matching pieces on all pages"`
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

// Variant is the elected form of a piece for one platform.
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
	TimeZone  string   `json:"time_zone" jsonschema:"IANA name of the zone of the day columns"`
	Week      string   `json:"week" jsonschema:"the Monday the week starts with, YYYY-MM-DD"`
	Days      []string `json:"days" jsonschema:"the seven day columns, YYYY-MM-DD"`
	Rows      []Row    `json:"rows" jsonschema:"the formats that the active cadence plans"`
	Unplanned []Piece  `json:"unplanned" jsonschema:"pieces of the week in formats that the cadence does not plan"`
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

// UndoDraftArgs are the arguments of automations.undo_draft (platform document,
// section 4.6) and of automations.redo_draft.
type UndoDraftArgs struct {
	BoardID  Name     `json:"board_id" jsonschema:"the automation's board"`
	Revision *Counter `json:"revision,omitempty" jsonschema:"only when the draft is still at this revision"`
	BodyIdempotencyKey
	Scope
}

// DiscardDraftArgs are the arguments of automations.discard_draft.
type DiscardDraftArgs struct {
	BoardID  Name     `json:"board_id" jsonschema:"the automation's board"`
	Revision *Counter `json:"revision,omitempty" jsonschema:"only when the draft is still at this revision"`
	BodyIdempotencyKey
	Scope
}

// BodyIdempotencyKey is the deprecated place of an idempotency key.
type BodyIdempotencyKey struct {
	Key IdempotencyKey `json:"idempotency_key,omitempty" jsonschema:"deprecated: send the Idempotency-Key header"`
}

// Draft is an automation board's draft (section 2.4).
type Draft struct {
	Success
	BoardID     string  `json:"board_id"`
	DisplayName string  `json:"display_name"`
	Status      string  `json:"status"`
	Revision    Counter `json:"revision"`
	CanUndo     bool    `json:"can_undo"`
	CanRedo     bool    `json:"can_redo"`
	Replayed    bool    `json:"replayed" jsonschema:"true: the first response to the same idempotency key, repeated"`
}

// Replay marks the response as a repeated one.
func (d *Draft) Replay() { d.Replayed = true }

// TryShapeArgs are the arguments of shorts.try_shape (platform document, section 4.7).
type TryShapeArgs struct {
	TileID       Name  `json:"tile_id" jsonschema:"the competitor tile's id as the plan listed it"`
	AlreadyTried Tried `json:"already_tried,omitempty" jsonschema:"the already_tried of the last result"`
	BoardID      UUID  `json:"board_id,omitempty" jsonschema:"the board of an existing week"`
	Scope
}

// TryShape is one more short in a borrowed shape (section 2.5).
type TryShape struct {
	Success
	Shape        string   `json:"shape"`
	Card         Card     `json:"card"`
	WeekSize     int      `json:"week_size"`
	AlreadyTried []string `json:"already_tried" jsonschema:"pass it with the next try, and as extra_shapes when you create the week"`
	Shelf        string   `json:"shelf"`
}

// Card is a planned short.
type Card struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Kind   string `json:"kind"`
	Line   string `json:"line"`
	Source string `json:"source"`
	Length string `json:"length"`
	Day    string `json:"day"`
}

// RecommendStyle are looks worth using next (section 2.8).
type RecommendStyle struct {
	Success
	Recommendations []Recommendation `json:"recommendations" jsonschema:"at most two; none without good evidence"`
	Saved           []Look           `json:"saved"`
	Href            string           `json:"href"`
}

// Recommendation is one look with its reason.
type Recommendation struct {
	TemplateID string `json:"template_id"`
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Why        string `json:"why"`
}

// Look is a saved look.
type Look struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Reads   string `json:"reads"`
	Figures string `json:"figures"`
	Sample  string `json:"sample"`
}

// SetPrimaryVariantArgs are the arguments of approvals.set_primary_variant (section 4.8).
type SetPrimaryVariantArgs struct {
	ChildAssetID Name `json:"childAssetId" jsonschema:"the variant to make primary"`
	Scope
}

// SetPrimaryVariant is the variant that goes forward for review (section 2.6).
type SetPrimaryVariant struct {
	Success
	AssetID   string `json:"assetId"`
	IsPrimary bool   `json:"isPrimary"`
	Status    string `json:"status"`
}

// BrandProfile is the progress of the brand profile (section 2.7).
type BrandProfile struct {
	Success
	ProfileExists       bool      `json:"profile_exists"`
	DisplayName         string    `json:"display_name"`
	Status              string    `json:"status"`
	Sections            []Section `json:"sections"`
	SectionsFilled      int       `json:"sections_filled"`
	SectionsTotal       int       `json:"sections_total"`
	BookingLink         string    `json:"booking_link"`
	BookingContactEmail bool      `json:"booking_contact_email_set"`
	BookingContactPhone bool      `json:"booking_contact_phone_set"`
}

// Section is one part of the brand profile.
type Section struct {
	Key    string `json:"key"`
	Filled bool   `json:"filled"`
}
