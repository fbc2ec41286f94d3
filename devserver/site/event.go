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
	// Delivery tells how far the webhook got; nil for an event that is not meant for one.
	Delivery *Delivery `json:"delivery,omitempty"`
}

// DeliveryStatus says how far the delivery of an event to the webhook got.
type DeliveryStatus string

// The states of a delivery. A dead one is tried again only by [Store.ReplayEvents].
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered" // the webhook answered 2xx
	DeliveryDead      DeliveryStatus = "dead"      // given up; Error says why
)

// DeliveryStatuses are the states of a delivery, in the order of its life.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryDead}
}

// Delivery is the delivery of one event to the webhook.
type Delivery struct {
	Status   DeliveryStatus `json:"status"`
	Attempts int            `json:"attempts"` // since it was last put in the queue
	// At is when it was last tried, Next when it is tried again; nil for never.
	At    *Stamp `json:"at,omitempty"`
	Next  *Stamp `json:"next_at,omitempty"`
	Error string `json:"error,omitempty"` // of the last attempt, "" when that went well
}

// EventList is the document of GET /__pages/api/events and of "pages events list --json".
type EventList struct {
	Events []Event `json:"events"` // newest first, never null
}

// EventFilter chooses events. The zero value chooses all.
type EventFilter struct {
	ID       string         // only the event of this id
	Lead     string         // only events of the lead of this id
	Name     string         // only this event
	Form     string         // only leads of this form
	Delivery DeliveryStatus // only those whose delivery got that far
	After    int64          // only events with a greater Sequence; implies Oldest
	Oldest   bool           // the oldest first
	Limit    int            // at most so many; 0 means all
}
