package toolapi

// Error is a refusal of the boundary: HTTP 4xx and 5xx (platform document, section
// 7.1). Nothing ran.
type Error struct {
	OK      False  `json:"ok"`
	Code    string `json:"code" jsonschema:"typed refusal code"`
	Message string `json:"message" jsonschema:"a sentence a person can act on"`
	// RetryAfterSeconds mirrors Retry-After on 429.
	RetryAfterSeconds Seconds `json:"retry_after_seconds,omitempty" jsonschema:"on 429, the same as Retry-After"`
	// Nested repeats the fields above for readers of before they were at the top.
	Nested NestedErrorFields `json:"error" jsonschema:"deprecated: read the fields of the top level"`
}

// NestedErrorFields are the deprecated object of an Error.
type NestedErrorFields struct {
	Code              string  `json:"code"`
	Message           string  `json:"message"`
	RetryAfterSeconds Seconds `json:"retry_after_seconds,omitempty"`
}

// NewError returns the refusal with a code of the boundary.
func NewError(code, message string) *Error {
	return &Error{Code: code, Message: message, Nested: NestedErrorFields{Code: code, Message: message}}
}

// After says when to try again, in seconds.
func (e *Error) After(seconds Seconds) *Error {
	e.RetryAfterSeconds, e.Nested.RetryAfterSeconds = seconds, seconds
	return e
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// ToolRefusal is the answer of a call that was admitted and did not succeed: HTTP
// 200 (platform document, section 7.2).
type ToolRefusal struct {
	OK      False  `json:"ok"`
	Code    string `json:"code" jsonschema:"typed refusal code"`
	Message string `json:"message" jsonschema:"a sentence a person can act on"`
	// Workspaces are the slugs the key may pass, on a workspace refusal.
	Workspaces []string `json:"workspaces,omitzero" jsonschema:"on a workspace refusal, the slugs that may be passed"`
	// Issues are all that is wrong with the arguments, on invalid_arguments.
	Issues      []Issue `json:"issues,omitempty" jsonschema:"on invalid_arguments, everything that is wrong"`
	Path        string  `json:"path,omitempty" jsonschema:"where in the input the refusal points"`
	Fix         string  `json:"fix,omitempty" jsonschema:"the change that would pass"`
	Instruction string  `json:"instruction,omitempty" jsonschema:"what to do next"`
}

// Issue is one thing that is wrong with the arguments of a call.
type Issue struct {
	Path    string `json:"path" jsonschema:"the argument"`
	Message string `json:"message" jsonschema:"what is expected there"`
}
