package site

// RefusalError is an answer to what a client did wrong. As JSON it is the "error" of
// {"ok":false,"error":{…}} (platform document, section 7.3).
type RefusalError struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`    // stable: "path_malformed"
	Message string `json:"message"` // a sentence a person can act on
	// Fix is what to do about it. Pages show it; JSON carries it in Message.
	Fix string `json:"-"`
	// Retriable says that the same request may well be answered later.
	Retriable bool `json:"retriable,omitempty"`
	// RetryAfter is in how many seconds, for the header Retry-After; 0 is for none.
	RetryAfter int `json:"-"`
}

func (e *RefusalError) Error() string { return e.Message }

func refuse(status int, code, message string) *RefusalError {
	return &RefusalError{Status: status, Code: code, Message: message}
}

func (e *RefusalError) fix(text string) *RefusalError {
	e.Fix = text
	return e
}

func refusePath(message string) *RefusalError { return refuse(400, "path_malformed", message) }
