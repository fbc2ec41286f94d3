package toolapi

// Confirmation is the argument of the second call of a two-call tool.
type Confirmation struct {
	ConfirmationID UUID `json:"confirmation_id,omitempty" jsonschema:"the id that the proposal answered, with the same arguments; omit to propose"`
}

// Proposal is the part that the results of all two-call tools share (platform
// document, section 2.3). After the confirming call only State is set.
type Proposal struct {
	State            ProposalState `json:"state" jsonschema:"confirmation_required: nothing has changed yet; done: it has"`
	ConfirmationID   string        `json:"confirmation_id,omitempty" jsonschema:"pass it back with the same arguments to perform the action"`
	ExpiresInSeconds Seconds       `json:"expires_in_seconds,omitempty" jsonschema:"how long the proposal can be confirmed"`
	RequestSummary   string        `json:"request_summary,omitempty" jsonschema:"one sentence of what will happen, for a person to approve"`
}

// Propose makes the result that of a first call.
func (p *Proposal) Propose(id, summary string, expires Seconds) {
	*p = Proposal{State: ConfirmationRequired, ConfirmationID: id, RequestSummary: summary, ExpiresInSeconds: expires}
}

// Perform makes the result that of a second call.
func (p *Proposal) Perform() { *p = Proposal{State: Done} }

// Confirm returns the id that the call confirms, or "" for a proposal.
func (c Confirmation) Confirm() string { return string(c.ConfirmationID) }
