package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// This file is for an embedder with code between JavaScript and JavaScript, such as WebAssembly: values without
// conversion, exceptions that stay the thrown object, and state outside of the VM's memory.

// Companion is state of a VM that is not in its linear memory. It is used on the isolate's goroutine only.
type Companion interface {
	// Save returns the state for the companion of a VM that starts from the image of this one. The VM is at rest. The state
	// is never changed.
	Save() (any, error)
	// Close frees it. The VM must not be used afterwards.
	Close()
}

// Companion is the result of IsolateOptions.Companion for the VM; nil without one.
func (vm *VM) Companion() Companion { return vm.companion }

// Context carries the VM, and lives as long as it.
func (vm *VM) Context() context.Context { return vm.ctx }

// VM is the VM of the current turn.
func (c *Call) VM() *VM { return c.vm }

// Arg is argument i without conversion; the caller owns it.
func (c *Call) Arg(i int) Value {
	if i >= c.argc {
		return makeValue(tagUndefined, 0)
	}
	return Value(c.vm.readU64(c.argv + uint32(i)*8))
}

// BigInt becomes a BigInt.
type BigInt int64

// ThrownError is an exception as JavaScript threw it: a Func that returns it throws the same value again.
type ThrownError struct{ value Value }

// Error implements error.
func (t *ThrownError) Error() string { return "JavaScript threw" }

// Value is the value that was thrown; the error owns it.
func (t *ThrownError) Value() Value { return t.value }

// thrown takes the pending exception out of the VM.
func (vm *VM) thrown() *ThrownError {
	return &ThrownError{Value(vm.call(fnGetException, uint64(vm.js)))}
}

// Invoke is Call with values without conversion, which it frees; the error is a *ThrownError.
func (vm *VM) Invoke(entry string, args ...Value) (Value, error) {
	defer vm.freeAll(args)
	f, ok := vm.entryFns[entry]
	if !ok {
		return 0, fmt.Errorf("the prelude has no entry point %q", entry)
	}
	argv, free := vm.arguments(args)
	defer free()
	result := Value(vm.call(fnCall, uint64(vm.js), uint64(f), uint64(makeValue(tagUndefined, 0)), uint64(len(args)), uint64(argv)))
	if result.tag() == tagException {
		return 0, vm.thrown()
	}
	return result, nil
}

// Collect runs JavaScript's garbage collector.
func (vm *VM) Collect() { vm.call(fnRunGC, uint64(vm.rt)) }

// InvokeWith is Invoke with values as VM.New takes them.
func (vm *VM) InvokeWith(entry string, args ...any) (Value, error) {
	values, err := vm.convert(args)
	if err != nil {
		return 0, err
	}
	return vm.Invoke(entry, values...)
}

// Throw is v as an exception, which owns it.
func Throw(v Value) error { return &ThrownError{v} }

// Index is item i of array, owned by the caller; the error is a *ThrownError.
func (vm *VM) Index(array Value, i uint32) (Value, error) {
	v := Value(vm.call(fnGetIndex, uint64(vm.js), uint64(array), uint64(i)))
	if v.tag() == tagException {
		return 0, vm.thrown()
	}
	return v, nil
}

// ToInt32 is ECMA-262's; the error is a *ThrownError.
func (vm *VM) ToInt32(v Value) (int32, error) {
	if v.tag() == tagInt {
		return int32(v), nil
	}
	if int32(vm.call32(fnToInt32, uint64(vm.js), uint64(vm.scratch), uint64(v))) < 0 {
		return 0, vm.thrown()
	}
	return int32(vm.readU32(vm.scratch)), nil
}

// ToNumber is ECMA-262's; the error is a *ThrownError.
func (vm *VM) ToNumber(v Value) (float64, error) {
	switch v.tag() {
	case tagInt:
		return float64(int32(v)), nil
	case tagFloat:
		return v.float(), nil
	}
	if int32(vm.call32(fnToFloat, uint64(vm.js), uint64(vm.scratch), uint64(v))) < 0 {
		return 0, vm.thrown()
	}
	return math.Float64frombits(vm.readU64(vm.scratch)), nil
}

// ToBigInt64 is ECMA-262's; the error is a *ThrownError.
func (vm *VM) ToBigInt64(v Value) (int64, error) {
	if int32(vm.call32(fnToBigInt64, uint64(vm.js), uint64(vm.scratch), uint64(v))) < 0 {
		return 0, vm.thrown()
	}
	return int64(vm.readU64(vm.scratch)), nil
}

// Interrupt ends the turn with a panic when its budget is used up or the isolate is closing. Long-running Go code within a turn calls it.
// It is cheap; call it about once a millisecond.
func (vm *VM) Interrupt() {
	if !vm.killing {
		vm.checkBudget()
	}
}

// InSteps calls step for the parts of n bytes, with Interrupt between them.
func (vm *VM) InSteps(n int, step func(from, to int)) {
	for at := 0; at < n; at += pace {
		step(at, min(at+pace, n))
		if n > pace {
			vm.Interrupt()
		}
	}
}

// IsBroken reports whether err means that the turn must end: pass it to Abort.
func IsBroken(err error) bool {
	_, ok := errors.AsType[broken](err)
	return ok
}

// Abort ends the turn with err by a panic, as Interrupt does. The isolate starts over from its image.
func (vm *VM) Abort(err error) { panic(broken{err}) }
