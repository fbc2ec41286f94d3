package site

// SubmissionStatus says how far the copy of a lead in the site's own table got.
type SubmissionStatus string

// The states of that copy. A pending one is tried again when the site is made or
// swapped, and after the next one that is written; a failed one when the site is swapped.
const (
	SubmissionNone    SubmissionStatus = "none"    // the manifest names no table
	SubmissionPending SubmissionStatus = "pending" // not tried yet, or the database was busy
	SubmissionWritten SubmissionStatus = "written"
	SubmissionFailed  SubmissionStatus = "failed" // the table refused the row; Error says why
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
	// Events are the names of the events the lead raised, in order.
	Events []string `json:"events"`
}

// LeadList is the document of GET /__pages/api/leads and of "pages leads list --json".
type LeadList struct {
	Leads []Lead `json:"leads"` // newest first, never null
}

// LeadFilter chooses leads. The zero value chooses all.
type LeadFilter struct {
	ID    string // only the lead of this id
	Form  string // only this form
	Limit int    // at most so many; 0 means all
}
