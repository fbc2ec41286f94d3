package failure

import "github.com/pages-toolchain/pages/toolapi"

// Detail holds the further fields of a refusal by a service.
type Detail struct {
	Tool        string          `json:"tool,omitempty"`
	Path        string          `json:"path,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
	Issues      []toolapi.Issue `json:"issues,omitempty"`
	Workspaces  []string        `json:"workspaces,omitempty"`
	Sites       []SiteChoice    `json:"sites,omitempty"`
	RequestID   string          `json:"request_id,omitempty"`
	Status      int             `json:"http_status,omitempty"`
	RetryAfter  int             `json:"retry_after_seconds,omitempty"`

	// Of a proposal that waits for a person:
	State          string `json:"state,omitempty"`
	ConfirmationID string `json:"confirmation_id,omitempty"`
	Summary        string `json:"request_summary,omitempty"`
	Expires        string `json:"expires_at,omitempty"`
	Confirm        string `json:"confirm,omitempty"`           // the command that confirms it here
	Elsewhere      string `json:"confirm_elsewhere,omitempty"` // and on another machine
}

// SiteChoice is a site that could have been meant.
type SiteChoice struct {
	SiteID   string `json:"site_id"`
	Name     string `json:"name"`
	Hostname string `json:"hostname"`
}
