package toolapi

// TryShapeArgs are the arguments of shorts.try_shape (platform document, section 4.7).
type TryShapeArgs struct {
	TileID       Name  `json:"tile_id" jsonschema:"the competitor tile's id as the plan listed it"`
	AlreadyTried Tried `json:"already_tried,omitempty" jsonschema:"what the last call returned"`
	BoardID      UUID  `json:"board_id,omitempty" jsonschema:"the board of an existing week"`
	Scope
}

// TryShape is one more short in a borrowed shape (section 2.5).
type TryShape struct {
	Success
	Shape        string   `json:"shape"`
	Card         Card     `json:"card"`
	WeekSize     int      `json:"week_size"`
	AlreadyTried []string `json:"already_tried" jsonschema:"pass back on the next try, and as extra_shapes when the week is made"`
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
	Recommendations []Recommendation `json:"recommendations" jsonschema:"at most two; none rather than noise"`
	Saved           []Look           `json:"saved"`
	Href            string           `json:"href"`
}

// Recommendation is one look and why.
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

// BrandProfile is how far the brand profile is filled (section 2.7).
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
