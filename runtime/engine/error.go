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
	// Stack is the trace of an exception that JavaScript threw, in positions of the evaluated code. Errors from Go do not use it.
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

// OutOfMemory returns the error that QuickJS throws when the heap is full.
func OutOfMemory() *Error { return &Error{Name: "InternalError", Message: "out of memory"} }

// OutOfMemory reports whether e is QuickJS's own "out of memory": the isolate's heap reached its limit. For a buffer it has
// V8's words, which a host may use, too.
func (e *Error) OutOfMemory() bool {
	return e.Name == "InternalError" && e.Message == "out of memory" ||
		e.Name == "RangeError" && e.Message == "Array buffer allocation failed"
}

// ConnectionLost returns the error for JavaScript of a failed connection, with production's message and class, which retry code checks.
// The cause follows.
func ConnectionLost(format string, args ...any) *Error {
	return &Error{Name: "Error", Message: "Network connection lost. " + fmt.Sprintf(format, args...)}
}

// TypeError returns a TypeError for JavaScript.
func TypeError(format string, args ...any) *Error {
	return &Error{Name: "TypeError", Message: fmt.Sprintf(format, args...)}
}

// quotaError returns the error for JavaScript of a limit on Go's memory.
func quotaError(format string, args ...any) *Error {
	return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf(format, args...)}
}

// errorFor returns err for JavaScript: as it is if it is an *Error, otherwise as an Error with its text.
func errorFor(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Name: "Error", Message: err.Error()}
}

// KilledError means that a turn used up its scope's CPU budget and was ended. Its isolate starts
// over from its image.
type KilledError struct {
	Scope  *Scope
	Budget time.Duration
	// Stack is the JavaScript trace of the code, as far as the engine could read it; it may be empty.
	Stack string
	// Watched reports whether the turn read the clock repeatedly, like a loop that waits for it.
	Watched bool
}

func (k *KilledError) Error() string {
	return fmt.Sprintf("used more than %v of CPU time", k.Budget)
}

var (
	// ErrAbandoned is the error of a turn that did not start, or was ended, because its scope is abandoned: see
	// [Scope.Abandoned].
	ErrAbandoned = errors.New("the client has gone")
	// ErrReset is the error of work whose isolate started over because of other work.
	ErrReset = errors.New("the isolate was restarted")
	// ErrClosed is the error of work given to an isolate after its Close.
	ErrClosed = errors.New("the isolate is closed")
	// ErrNoArtifact means that the binary was built without the translation of quickjs.wasm.
	ErrNoArtifact = errors.New("this binary was built without its JavaScript engine; run `make artifacts` and build again")
)

// errNested replaces an exception that was thrown while another one was read.
var errNested = &Error{Name: "Error", Message: "a value that cannot be shown"}

// maxCauses bounds a chain of causes, which may be circular.
const maxCauses = 5

// exception removes the pending exception from the VM. It does not read an exception that was thrown while another was read, which could
// continue without end.
func (vm *VM) exception() error {
	v := Value(vm.call(fnGetException, uint64(vm.js)))
	defer vm.Free(v)
	if vm.describing {
		return errNested
	}
	return vm.errorOf(v)
}

func (vm *VM) dropException() { vm.Free(Value(vm.call(fnGetException, uint64(vm.js)))) }

// errorOf describes a thrown value, which need not be an Error. Reading it may throw again.
func (vm *VM) errorOf(v Value) *Error {
	defer func(before bool) { vm.describing = before }(vm.describing)
	vm.describing = true
	if v.tag() == tagNull && vm.full() { // the heap had no room for the error itself
		return OutOfMemory()
	}
	if v.tag() != tagObject {
		text, err := vm.Text(v)
		if err != nil {
			text = errNested.Message
		}
		return &Error{Name: "Error", Message: text}
	}
	e := &Error{
		Name:    vm.textProperty(v, "name"),
		Message: vm.textProperty(v, "message"),
		Stack:   vm.textProperty(v, "stack"),
	}
	if e.Name == "" && e.Message == "" {
		text, err := vm.Text(v)
		if err != nil {
			text = errNested.Message
		}
		e.Message = text
	}
	if e.Name == "" {
		e.Name = "Error"
	}
	if vm.causes >= maxCauses {
		return e
	}
	if cause, err := vm.get(v, "cause"); err == nil {
		if cause.tag() == tagObject {
			vm.causes++
			defer func() { vm.causes-- }()
			e.Props = append(e.Props, Field{"cause", vm.errorOf(cause)})
		}
		vm.Free(cause)
	}
	return e
}

func (vm *VM) textProperty(v Value, name string) string {
	p, err := vm.get(v, name)
	if err != nil {
		return ""
	}
	defer vm.Free(p)
	if p.tag() != tagString && p.tag() != tagRope {
		return ""
	}
	text, err := vm.Text(p)
	if err != nil {
		return ""
	}
	return text
}

// newError makes the error object of e: of the global class e.Name, a DOMException if the name is one of those, otherwise an
// Error with that name.
func (vm *VM) newError(e *Error) (Value, error) {
	class, args, fields := "Error", []any{e.Message}, e.Props
	name := e.Name
	if name == "InternalError" && !e.OutOfMemory() { // the platform has no such class
		name = "Error"
	}
	switch name {
	case "", "Error":
	case "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError":
		class = e.Name
	default:
		if isDOMException(e.Name) {
			class, args = "DOMException", []any{e.Message, e.Name}
		} else {
			fields = append([]Field{{"name", e.Name}}, fields...)
		}
	}
	object, err := vm.construct(class, args...)
	if err != nil {
		return 0, err
	}
	if err := vm.setFields(object, fields); err != nil {
		vm.Free(object)
		return 0, err
	}
	return object, nil
}

// isDOMException reports whether name is in the table of https://webidl.spec.whatwg.org/#idl-DOMException-error-names,
// without SyntaxError, which is also a class of the language.
func isDOMException(name string) bool {
	switch name {
	case "HierarchyRequestError", "WrongDocumentError", "InvalidCharacterError", "NoModificationAllowedError", "NotFoundError",
		"NotSupportedError", "InUseAttributeError", "InvalidStateError", "InvalidModificationError", "NamespaceError",
		"InvalidAccessError", "TypeMismatchError", "SecurityError", "NetworkError", "AbortError", "URLMismatchError",
		"QuotaExceededError", "TimeoutError", "InvalidNodeTypeError", "DataCloneError", "EncodingError", "NotReadableError",
		"UnknownError", "ConstraintError", "DataError", "TransactionInactiveError", "ReadOnlyError", "VersionError",
		"OperationError", "NotAllowedError", "OptOutError":
		return true
	}
	return false
}

// construct calls new class(args…) for a class of the global object.
func (vm *VM) construct(class string, args ...any) (Value, error) {
	global := Value(vm.call(fnGlobal, uint64(vm.js)))
	defer vm.Free(global)
	f, err := vm.get(global, class)
	if err != nil {
		return 0, err
	}
	defer vm.Free(f)
	values, err := vm.convert(args)
	if err != nil {
		return 0, err
	}
	defer vm.freeAll(values)
	argv, free := vm.arguments(values)
	defer free()
	return vm.checkValue(vm.call(fnConstruct, uint64(vm.js), uint64(f), uint64(len(values)), uint64(argv)))
}

// convert makes JavaScript values of args.
func (vm *VM) convert(args []any) ([]Value, error) {
	values := make([]Value, 0, len(args))
	for _, a := range args {
		v, err := vm.New(a)
		if err != nil {
			vm.freeAll(values)
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

func (vm *VM) freeAll(values []Value) {
	for _, v := range values {
		vm.Free(v)
	}
}

// throw makes err the pending exception.
func (vm *VM) throw(err error) {
	if t, ok := errors.AsType[*ThrownError](err); ok {
		vm.call(fnThrow, uint64(vm.js), uint64(t.value))
		return
	}
	e := errorFor(err)
	object, failed := vm.newError(e)
	if failed != nil {
		object, failed = vm.newString(e.Error())
		if failed != nil {
			object = makeValue(tagNull, 0)
		}
	}
	vm.call(fnThrow, uint64(vm.js), uint64(object))
}
