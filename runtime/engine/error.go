package engine

import (
	"errors"
	"fmt"
	"time"
)

// Error is a JavaScript exception, in either direction.
type Error struct {
	// Name is the error's class: Error, TypeError, RangeError, SyntaxError …
	// or a DOMException's name such as AbortError.
	Name    string
	Message string
	// Stack is the trace of an exception that JavaScript threw, in positions of
	// the code as it was evaluated. It is ignored on the way in.
	Stack string
	// Props are further own properties: code, cause …
	Props []Field
}

// Error returns "Name: Message".
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// OutOfMemory is what QuickJS throws when the heap has no room for more.
func OutOfMemory() *Error { return &Error{Name: "InternalError", Message: "out of memory"} }

// OutOfMemory reports whether e is QuickJS's own "out of memory": the isolate's
// heap reached its limit.
func (e *Error) OutOfMemory() bool {
	return e.Name == "InternalError" && e.Message == "out of memory"
}

// TypeError returns a TypeError for JavaScript.
func TypeError(format string, args ...any) *Error {
	return &Error{Name: "TypeError", Message: fmt.Sprintf(format, args...)}
}

// KilledError says that a turn used up its scope's CPU budget and was ended. The
// isolate that ran it starts over from its image.
type KilledError struct {
	Scope  *Scope
	Budget time.Duration
	// Stack is the JavaScript trace of what was running, as far as the engine
	// could still tell; it may be empty.
	Stack string
}

func (k *KilledError) Error() string {
	return fmt.Sprintf("used more than %v of CPU time", k.Budget)
}

// ErrReset is the answer to work that was under way in an isolate when the
// isolate had to start over because of other work.
var ErrReset = errors.New("the isolate was restarted")

// ErrClosed is the answer to work given to an isolate after its Close.
var ErrClosed = errors.New("the isolate is closed")

// ErrNoArtifact says that the binary was built without quickjs.wasm.
var ErrNoArtifact = errors.New("this binary was built without its JavaScript engine; run `make artifacts` and build again")

func asError(err error) (*Error, bool) {
	var e *Error
	return e, errors.As(err, &e)
}
