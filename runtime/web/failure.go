package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Kinds of Failure.
const (
	// KindException: the handler threw, or its promise was rejected.
	KindException = "exception"
	// KindNotResponse: the handler returned a value other than a Response.
	KindNotResponse = "not-response"
	// KindHung: the handler's promise can never settle, because no pending work could settle it.
	KindHung = "hung"
	// KindResponseSize: the response's body exceeds Options.ResponseBytes.
	KindResponseSize = "answer-size"
)

// Failure is the reason why the Worker returned no response. Nothing was written.
type Failure struct { //nolint:errname // callers show it as a report
	Kind string
	// Err is the exception; its Stack is in positions of the bundle.
	Err *engine.Error
	// PassThrough is true if the Worker called ctx.passThroughOnException: the caller may respond
	// as if there were no Worker.
	PassThrough bool
}

func (f *Failure) Error() string {
	if f.Kind == KindException {
		return "the Worker threw " + f.Err.Error()
	}
	return f.Err.Message
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// Aborted is the error of a response that broke off after its head was written. Its connection is
// closed; without a connection, as for a fetch of the site itself, the caller must prevent that
// half a response looks complete.
type Aborted struct { //nolint:errname // as above
	Err error
}

func (a *Aborted) Error() string { return fmt.Sprintf("the response broke off: %v", a.Err) }

// Unwrap returns Err.
func (a *Aborted) Unwrap() error { return a.Err }

// ErrClientGone is the error of Serve when the client did not wait.
var ErrClientGone = errors.New("the client disconnected")

// Absent reports whether name is a global that the platform has and this version does not provide.
func Absent(name string) bool { return slices.Contains([]string{"FetchEvent", "ScheduledEvent"}, name) }

// AbsentIn returns the absent global that an exception is about; "" for other exceptions. Such an
// exception is the engine's own "X is not defined", although the Worker would run on the platform.
func AbsentIn(e *engine.Error) string {
	name, found := strings.CutSuffix(e.Message, " is not defined")
	if e.Name != "ReferenceError" || !found || !Absent(name) {
		return ""
	}
	return name
}

// NeverAnswers is the error of a handler whose promise can no longer settle.
func NeverAnswers() *engine.Error {
	return &engine.Error{
		Name: "Error",
		Message: "the handler will never answer: its promise is pending and nothing is under way that could settle it " +
			"(a promise that is never resolved, or I/O that belongs to another request)",
	}
}
