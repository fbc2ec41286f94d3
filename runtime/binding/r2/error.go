package r2

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/runtime/binding/sqlitetext"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Codes of object storage, as R2 numbers them.
const (
	codeInternal        = 10001
	codeTooSmall        = 10011
	codeMetadataTooBig  = 10012
	codeBadName         = 10020
	codeBadMaxKeys      = 10022
	codeNoSuchUpload    = 10024
	codeInvalidPart     = 10025
	codeInvalidArgument = 10029
	codeBadDigest       = 10037
	codeInvalidRange    = 10039
	codeBadUpload       = 10048
	codeTooLarge        = 100100
)

// texts are R2's own sentences, which Workers match on.
var texts = map[int]string{
	codeInternal:       "We encountered an internal error. Please try again.",
	codeTooSmall:       "Your proposed upload is smaller than the minimum allowed object size.",
	codeMetadataTooBig: "Your metadata headers exceed the maximum allowed metadata size.",
	codeBadName:        "The specified object name is not valid.",
	codeBadMaxKeys:     "MaxKeys params must be positive integer <= 1000.",
	codeNoSuchUpload:   "The specified multipart upload does not exist.",
	codeInvalidPart:    "One or more of the specified parts could not be found.",
	codeInvalidRange:   "The requested range is not satisfiable",
	codeBadUpload:      "There was a problem with the multipart upload.",
	codeTooLarge:       "Your proposed upload exceeds the maximum allowed object size.",
}

// Error is a refusal of object storage. Its text is R2's:
// "<action>: <text> (<code>)", or the text alone when the code is 0.
type Error struct {
	Action string // the method of the bucket: "put", "get", "list" …
	Code   int
	Text   string
	cause  error
}

func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Text
	}
	return fmt.Sprintf("%s: %s (%d)", e.Action, e.Text, e.Code)
}

// WorkerError is the error that a Worker catches: R2's errors have no code of their own.
func (e *Error) WorkerError() *engine.Error {
	return &engine.Error{Name: "Error", Message: e.Error()}
}

// Unwrap returns the cause of an internal error, nil otherwise.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) in(action string) *Error {
	named := *e
	named.Action = action
	return &named
}

func refuse(code int) *Error {
	return &Error{Code: code, Text: texts[code]}
}

func (s *Bucket) fail(action string, err error) error {
	if s.Failed != nil {
		s.Failed(err)
	}
	return internal(action, err)
}

// internal is a failure that is not the Worker's fault, unless err already is
// a refusal. Its text names the reason, without any path of this machine.
func internal(action string, err error) error {
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.in(action)
	}
	if limit, ok := errors.AsType[*engine.Error](err); ok {
		return limit
	}
	e := refuse(codeInternal).in(action)
	e.cause = err
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		e.Text += " " + path.Err.Error()
	} else if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		e.Text += " " + sqlitetext.Of(failed)
	}
	return e
}
