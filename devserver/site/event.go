package site

// EventLeadCaptured is raised by every lead (platform document, section 6).
const EventLeadCaptured = "pages.lead.captured"

// Event is one automation event. It was stored together with its lead, in one
// transaction, so there is never one without the other.
type Event struct {
	ID        string `json:"id"`   // "evt_…", the same at every delivery
	Name      string `json:"name"` // EventLeadCaptured or "custom.…"
	LeadID    string `json:"lead_id"`
	Form      string `json:"form"`
	Fields    Fields `json:"fields"` // of the lead
	CreatedAt Stamp  `json:"created_at"`
	// Sequence grows by every event of the store. It is the id of the SSE stream.
	Sequence int64 `json:"sequence"`
}

// EventList is the document of GET /__pages/api/events and of "pages events list --json".
type EventList struct {
	Events []Event `json:"events"` // newest first, never null
}

// EventFilter chooses events. The zero value chooses all.
type EventFilter struct {
	Name  string // only this event
	Form  string // only leads of this form
	After int64  // only events with a greater Sequence, oldest first
	Limit int    // at most so many; 0 means all
}
