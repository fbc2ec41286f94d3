package engine

import (
	"errors"
)

// settler holds the two functions of a pending promise.
type settler struct{ resolve, reject Value }

// newPromise makes a pending promise.
func (vm *VM) newPromise() (Value, settler, error) {
	functions := vm.malloc(16)
	defer func() { vm.call(fnFree, uint64(functions)) }()
	promise, err := vm.checkValue(vm.call(fnNewPromise, uint64(vm.js), uint64(functions)))
	if err != nil {
		return 0, settler{}, err
	}
	return promise, settler{resolve: Value(vm.readU64(functions)), reject: Value(vm.readU64(functions + 8))}, nil
}

// startAsync starts the work that begin makes, and returns the promise of its result.
func (vm *VM) startAsync(begin AsyncInOrder) (Value, error) {
	if vm.async == nil {
		return 0, TypeError("no work can be started while the image is made")
	}
	promise, s, err := vm.newPromise()
	if err == nil {
		vm.async(vm, begin(), s)
	}
	return promise, err
}

// settle resolves with value or rejects with err, and frees the functions. If the heap has no room for either, it breaks
// the VM: the promise would stay pending forever.
func (s settler) settle(vm *VM, value any, err error) {
	defer s.free(vm)
	f := s.resolve
	if err != nil {
		f, value = s.reject, errorFor(err)
	}
	v, err := vm.New(value)
	if e, ok := errors.AsType[*Error](err); ok { // the heap cannot take it
		f = s.reject
		v, err = vm.New(e)
	}
	if err != nil {
		panic(broken{err})
	}
	defer vm.Free(v)
	result, err := vm.apply(f, []Value{v})
	if err != nil {
		panic(broken{err})
	}
	vm.Free(result)
}

func (s settler) free(vm *VM) {
	vm.Free(s.resolve)
	vm.Free(s.reject)
}

// apply calls f with undefined as this.
func (vm *VM) apply(f Value, args []Value) (Value, error) {
	argv, free := vm.arguments(args)
	defer free()
	return vm.checkValue(vm.call(fnCall, uint64(vm.js), uint64(f), uint64(makeValue(tagUndefined, 0)),
		uint64(len(args)), uint64(argv)))
}

// hostPromiseRejection is env.host_promise_rejection(promise, reason, handled): a promise was rejected without a handler,
// or got its handler after that. The host owns both boxes. Rejections that remain when the job queue is empty are
// reported.
func hostPromiseRejection(vm *VM, stack []uint64) {
	promise, reason := vm.unbox(uint32(stack[0])), vm.unbox(uint32(stack[1]))
	handled := uint32(stack[2]) != 0
	vm.depth++
	defer func() { vm.depth-- }()
	if _, known := vm.rejected[promise]; known == !handled {
		if handled {
			vm.offer("handled", promise, reason)
		}
		vm.Free(promise)
		vm.Free(reason)
		return
	}
	if handled {
		vm.Free(vm.rejected[promise])
		vm.Free(promise) // the one the map held
		delete(vm.rejected, promise)
		vm.Free(promise)
		vm.Free(reason)
		return
	}
	vm.rejected[promise] = reason
}

// unbox returns the value in a box and frees the box alone.
func (vm *VM) unbox(box uint32) Value {
	v := Value(vm.readU64(box))
	vm.depth++
	vm.call(fnFree, uint64(box))
	vm.depth--
	return v
}

// reportRejections reports the promises without a handler after the job queue is empty: to the entry point "rejected",
// and to OnRejection unless that returns true. The entry point "handled" is called when one of them gets its handler after
// all. Either may be missing.
func (vm *VM) reportRejections() {
	for len(vm.rejected) > 0 {
		for promise, reason := range vm.rejected {
			delete(vm.rejected, promise)
			if !vm.offer("rejected", promise, reason) && vm.onRejection != nil {
				vm.onRejection(vm.scope, vm.errorOf(reason))
			}
			vm.Free(promise)
			vm.Free(reason)
		}
		vm.drain() // jobs that the entry point started
		vm.checkDrain()
	}
}

// offer calls an entry point, if there is one, and reports whether it returned true.
func (vm *VM) offer(entry string, promise, reason Value) bool {
	f, ok := vm.entryFns[entry]
	if !ok {
		return false
	}
	result, err := vm.apply(f, []Value{promise, reason})
	if err != nil {
		return false
	}
	defer vm.Free(result)
	return result.tag() == tagBool && uint32(result) != 0
}

// Promise returns the state of argument i, a promise: 0 for pending, 1 for fulfilled and 2 for rejected, with its result.
func (c *Call) Promise(i int) (state int, result Value) {
	promise := c.Arg(i)
	state = int(int32(c.vm.call32(fnPromiseState, uint64(c.vm.js), uint64(promise))))
	if state <= 0 {
		return 0, makeValue(tagUndefined, 0)
	}
	return state, Value(c.vm.call(fnPromiseResult, uint64(c.vm.js), uint64(promise)))
}
