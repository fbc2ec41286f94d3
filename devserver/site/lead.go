package site

import (
	"bytes"
	"encoding/json"
	"errors"
)

// SubmissionStatus is the state of a lead's row in the site's own table.
type SubmissionStatus string

// The states of that row. A pending row is retried when the site is made or swapped, and after the next row is written; a failed one when
// the site is swapped.
const (
	SubmissionNone    SubmissionStatus = "none"    // the manifest names no table
	SubmissionPending SubmissionStatus = "pending" // not tried yet, or the database was busy
	SubmissionWritten SubmissionStatus = "written"
	SubmissionFailed  SubmissionStatus = "failed" // the table refused the row; Error says why
	// SubmissionWithheld is the state for spam: no row is written until a person marks the lead as ham.
	SubmissionWithheld SubmissionStatus = "withheld"
)

// Submission is the copy of a lead in the table that the manifest's "submissions" names.
type Submission struct {
	Table  string           `json:"table"`
	Status SubmissionStatus `json:"status"`
	Error  string           `json:"error,omitempty"`
}

// Lead is one captured form post.
type Lead struct {
	ID string `json:"id"` // "lead_…"
	// Form is the name in the field "form": 1-64 lower-case letters, digits, "-", "_".
	Form      string `json:"form"`
	Fields    Fields `json:"fields"`
	CreatedAt Stamp  `json:"created_at"`
	// Preview is true for a post to a preview; it raises no events.
	Preview    bool       `json:"preview"`
	Submission Submission `json:"submission"`
	// Unasked has the names of answers that no form of the site asks for: they fill no column of the row.
	Unasked []string `json:"unasked,omitempty"`
	unseen  bool     // no page shows the fields of the form
	// Events are the names of the events the lead raised, in order.
	Events []string `json:"events"`
	// Spam is set for spam, which is kept apart: it raises no events and gets no row.
	Spam *Spam `json:"spam,omitempty"`
}

// LeadList is the document of GET /__pages/api/leads and of "pages leads list --json".
type LeadList struct {
	Leads []Lead `json:"leads"` // newest first, never null
}

// LeadFilter chooses leads. The zero value chooses all leads without spam.
type LeadFilter struct {
	ID    string // only the lead with this id, spam or not
	Spam  bool   // spam instead of leads
	Form  string // only this form
	Limit int    // at most so many; 0 means all
}

// EventLeadCaptured is raised by every lead (platform document, section 6).
const EventLeadCaptured = "pages.lead.captured"

// Event is one automation event. It is stored together with its lead, in one transaction, so that neither exists
// without the other.
type Event struct {
	ID        string `json:"id"`   // "evt_…", the same at every delivery
	Name      string `json:"name"` // EventLeadCaptured or "custom.…"
	LeadID    string `json:"lead_id"`
	Form      string `json:"form"`
	Fields    Fields `json:"fields"` // of the lead
	CreatedAt Stamp  `json:"created_at"`
	// Sequence grows with every event of the store. It is the id in the SSE stream.
	Sequence int64 `json:"sequence"`
	// Delivery is the state of its delivery to the webhook; nil for an event that is not delivered.
	Delivery *Delivery `json:"delivery,omitempty"`
}

// DeliveryStatus is the state of the delivery of an event to the webhook.
type DeliveryStatus string

// The states of a delivery. Only [Store.ReplayEvents] tries a dead one again.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered" // the webhook answered 2xx
	DeliveryDead      DeliveryStatus = "dead"      // given up; Error says why
)

// DeliveryStatuses returns the states of a delivery, in the order of its life.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryDead}
}

// Delivery is the delivery of one event to the webhook.
type Delivery struct {
	Status   DeliveryStatus `json:"status"`
	Attempts int            `json:"attempts"` // since its last place in the queue
	// At is the time of the last attempt, Next of the next one; nil for none.
	At    *Stamp `json:"at,omitempty"`
	Next  *Stamp `json:"next_at,omitempty"`
	Error string `json:"error,omitempty"` // of the last attempt, "" when that succeeded
}

// EventList is the document of GET /__pages/api/events and of "pages events list --json".
type EventList struct {
	Events []Event `json:"events"` // newest first, never null
}

// EventFilter chooses events. The zero value chooses all.
type EventFilter struct {
	ID       string         // only the event with this id
	Lead     string         // only events of the lead with this id
	Name     string         // only this event
	Form     string         // only leads of this form
	Delivery DeliveryStatus // only those in this state
	After    int64          // only events with a greater Sequence; implies Oldest
	Oldest   bool           // the oldest first
	Limit    int            // at most so many; 0 means all
}

// Field is one answer of a form.
type Field struct {
	Name string
	// Value is a JSON value: a string for HTML forms, an array of strings for a name that occurred more than once, an object for a file
	// (see [File]), and anything for a JSON post.
	Value json.RawMessage
}

// marshal writes JSON for people: "&" stays "&". Our documents are never part of a script.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// Fields are the answers of a form in the order of their arrival. As JSON they are one object.
type Fields []Field

// Text returns the value of a field as text: a JSON string without its quotes, anything else as JSON. It is empty if there is no such
// field.
func (f Fields) Text(name string) string {
	for _, each := range f {
		if each.Name == name {
			return each.text()
		}
	}
	return ""
}

func (f Field) text() string {
	var s string
	if json.Unmarshal(f.Value, &s) == nil {
		return s
	}
	return string(f.Value)
}

// MarshalJSON writes one object, in the order of the fields.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, each := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(each.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := json.Compact(&b, each.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var errNoObject = errors.New("not a JSON object")

// UnmarshalJSON reads one object and keeps the order of its fields.
func (f *Fields) UnmarshalJSON(src []byte) error {
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errNoObject, err)
	}
	*f = Fields{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return errNoObject
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*f = append(*f, Field{Name: name, Value: value})
	}
	return nil
}
