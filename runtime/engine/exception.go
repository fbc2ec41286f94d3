package engine

import "errors"

// errNested is thrown while another exception is described.
var errNested = &Error{Name: "Error", Message: "a value that cannot be shown"}

// exception takes the pending exception out of the VM. One that comes of reading
// another one is not read itself: what reads it may throw as well, and so on.
func (vm *VM) exception() error {
	v := Value(vm.call(fnGetException, uint64(vm.js)))
	defer vm.Free(v)
	if vm.describing {
		return errNested
	}
	return vm.errorOf(v)
}

func (vm *VM) dropException() { vm.Free(Value(vm.call(fnGetException, uint64(vm.js)))) }

// errorOf describes a thrown value. What is thrown need not be an Error, and
// reading it may throw again.
func (vm *VM) errorOf(v Value) *Error {
	defer func(before bool) { vm.describing = before }(vm.describing)
	vm.describing = true
	if v.tag() == tagNull && vm.full() { // the engine had no room for the error itself
		return OutOfMemory()
	}
	if v.tag() != tagObject {
		text, err := vm.text(v)
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
		text, err := vm.text(v)
		if err != nil {
			text = errNested.Message
		}
		e.Message = text
	}
	if e.Name == "" {
		e.Name = "Error"
	}
	if cause := vm.causeOf(v); cause != nil {
		e.Props = append(e.Props, Field{"cause", cause})
	}
	return e
}

// causeOf follows one step of the chain; errorOf of the cause follows the next,
// up to causeDepth, since a chain may be a ring.
func (vm *VM) causeOf(v Value) *Error {
	if vm.causes >= causeDepth {
		return nil
	}
	cause, err := vm.get(v, "cause")
	if err != nil || cause.tag() != tagObject {
		if err == nil {
			vm.Free(cause)
		}
		return nil
	}
	defer vm.Free(cause)
	vm.causes++
	defer func() { vm.causes-- }()
	return vm.errorOf(cause)
}

const causeDepth = 5

func (vm *VM) textProperty(v Value, name string) string {
	p, err := vm.get(v, name)
	if err != nil {
		return ""
	}
	defer vm.Free(p)
	if p.tag() != tagString && p.tag() != tagRope {
		return ""
	}
	text, err := vm.text(p)
	if err != nil {
		return ""
	}
	return text
}

// newError makes the error object of e: of the global class that e.Name names,
// a DOMException if the name is one of those, else an Error that goes by it.
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

// isDOMException reports whether name is in the table of
// https://webidl.spec.whatwg.org/#idl-DOMException-error-names, without
// SyntaxError, which is also a class of the language.
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
	e, ok := asError(err)
	if !ok {
		e = &Error{Name: "Error", Message: err.Error()}
	}
	object, failed := vm.newError(e)
	if failed != nil {
		object, failed = vm.newString(e.Error())
		if failed != nil {
			object = tagged(tagNull, 0)
		}
	}
	vm.call(fnThrow, uint64(vm.js), uint64(object))
}
