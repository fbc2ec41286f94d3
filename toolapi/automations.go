package toolapi

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
	Replayed    bool    `json:"replayed" jsonschema:"the first answer to the same idempotency key, given again"`
}

// Replay marks the answer as one that is given again.
func (d *Draft) Replay() { d.Replayed = true }
