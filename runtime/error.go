package runtime

import (
	"errors"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
)

// Kind is the kind of an Error.
type Kind string

// The kinds.
const (
	KindLoad         Kind = "load"         // the module could not be evaluated
	KindException    Kind = "exception"    // the handler threw
	KindNotResponse  Kind = "not-response" // the handler returned something else
	KindHung         Kind = "hung"         // no response is possible any more
	KindCPU          Kind = "cpu"          // over limits.cpuMs
	KindMemory       Kind = "memory"       // over the isolate's memory
	KindResponseSize Kind = "answer-size"  // the response exceeds the limit
	KindReset        Kind = "reset"        // the isolate was restarted because of another request
	KindSystemMemory Kind = "room"         // the system has no memory for an isolate
	KindBusy         Kind = "busy"         // the limit of Workers in use is reached
	KindPaused       Kind = "paused"       // a debugger holds the code
	KindInternal     Kind = "internal"     // a fault of this program
)

// Error is the reason why a Worker did not respond, with positions in the author's own files.
type Error struct {
	Kind    Kind
	Name    string // class of the exception: TypeError …
	Message string
	Frames  []Frame       // innermost first
	Snippet []SnippetLine // around Frames[0]
	Causes  []Cause       // the errors of an AggregateError, then the chain of causes
	Limit   string        // the limit that was met, as the manifest names it: "cpuMs 10000"
	Fix     string
	err     error
}

// Cause is a further error of an Error.
type Cause struct {
	// Part is set for an error of an AggregateError; else it is the cause of the previous one.
	Part   bool
	Text   string  // "Name: message"
	Frames []Frame // innermost first; none for a thrown value other than an Error
}

// String is one line with the error and its place.
func (c Cause) String() string {
	text := "caused by " + c.Text
	if c.Part {
		text = "one of " + c.Text
	}
	return text + placeOf(c.Frames)
}

// placeOf returns the innermost frame in brackets, after a blank; "" for none.
func placeOf(frames []Frame) string {
	if len(frames) == 0 {
		return ""
	}
	return " (" + strings.TrimPrefix(frames[0].String(), "at ") + ")"
}

// Error is one line with the headline and the place.
func (f *Error) Error() string { return f.Headline() + placeOf(f.Frames) }

// Headline is the error without its place: "TypeError: x is not a function".
func (f *Error) Headline() string {
	if f.Name == "" {
		return f.Message
	}
	return strings.TrimSuffix(f.Name+": "+f.Message, ": ")
}

// Retriable reports whether the same request may succeed in a second: another request caused the error, or the Worker was replaced.
func (f *Error) Retriable() bool {
	return f.Kind == KindReset || f.Kind == KindBusy || f.Kind == KindPaused
}

// Unwrap returns the engine's own error.
func (f *Error) Unwrap() error { return f.err }

// Status is the HTTP status: 503 for a limit or a restart, otherwise 500.
func (f *Error) Status() int {
	switch f.Kind {
	case KindCPU, KindMemory, KindResponseSize, KindReset, KindSystemMemory, KindBusy, KindPaused:
		return 503
	default:
		return 500
	}
}

// errorOf converts an error of the engine or of web; kind is that of a plain exception.
func (w *Worker) errorOf(kind Kind, err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	var (
		killed *engine.KilledError
		thrown *engine.Error
		failed *web.Failure
		room   *engine.AddressSpaceError
	)
	switch {
	case errors.As(err, &room):
		return addressSpaceError(room)
	case errors.Is(err, engine.ErrReset), errors.Is(err, engine.ErrClosed):
		return ResetError(err)
	case errors.As(err, &killed):
		return w.sources.OverCPU(killed)
	case errors.As(err, &failed) && failed.Err != nil:
		switch k := Kind(failed.Kind); k {
		case KindNotResponse, KindHung, KindResponseSize:
			kind = k
		default:
		}
		return w.sources.Thrown(kind, failed.Err)
	case errors.As(err, &thrown):
		return w.sources.Thrown(kind, thrown)
	}
	return &Error{Kind: KindInternal, Message: err.Error(), err: err}
}

// ResetError is the error of a request that was ended by another one in the same isolate, or because the Worker was
// replaced (engine.ErrClosed).
func ResetError(err error) *Error {
	e := &Error{
		Kind: KindReset, Message: "the Worker was restarted during this request",
		Fix: "send the request again", err: err,
	}
	if errors.Is(err, engine.ErrClosed) {
		e.Message = "the Worker was replaced or stopped, and this request did not end in the time that was left"
	}
	if _, killed := errors.AsType[*engine.KilledError](err); killed {
		e.Message = "another request ran over limits.cpuMs, and the isolate that it shared with this one was restarted"
	}
	return e
}

func addressSpaceError(err *engine.AddressSpaceError) *Error {
	return &Error{
		Kind: KindSystemMemory, Message: err.Error(), err: err,
		Fix: "allow the process more addresses (ulimit -v), or the system (sysctl vm.overcommit_memory), or stop other programs",
	}
}

// repeats reports whether a cause adds nothing to its error: D1 prefixes SQLite's message with a code, and adds the message
// alone as the cause.
func (f *Error) repeats(c Cause) bool {
	said, plain := strings.CutPrefix(c.Text, "Error: ")
	elsewhere := len(c.Frames) > 0 && (len(f.Frames) == 0 || c.Frames[0] != f.Frames[0])
	return plain && !c.Part && !elsewhere && strings.HasSuffix(f.Message, ": "+said)
}

// causes returns the errors of an AggregateError, and then the chain of causes.
func (s *sources) causes(e *engine.Error) (all []Cause) {
	for _, p := range e.Props {
		if parts, ok := p.Value.([]any); ok && p.Name == "errors" {
			for _, part := range parts {
				if further, ok := part.(*engine.Error); ok {
					all = append(all, s.cause(further, true))
				}
			}
		}
	}
	for e = causeOf(e); e != nil; e = causeOf(e) {
		all = append(all, s.cause(e, false))
	}
	return all
}

func causeOf(e *engine.Error) *engine.Error {
	for _, p := range e.Props {
		if c, ok := p.Value.(*engine.Error); ok && p.Name == "cause" {
			return c
		}
	}
	return nil
}

func (s *sources) cause(e *engine.Error, part bool) Cause {
	text := e.Message
	if e.Name != "" {
		text = e.Error()
	}
	return Cause{Part: part, Text: text, Frames: s.trace(e.Stack)}
}

// show adds the source text around the innermost frame.
func (f *Error) show(s *sources) {
	if len(f.Frames) > 0 {
		f.Snippet = s.snippet(f.Frames[0])
	}
}
