package engine

// This file lets JavaScript keep a context across await (AsyncLocalStorage). When enabled, the prelude's entry point
// "follow" gets each function that will run in a later job, and returns a replacement; the entry point "leave" is called
// at the end of a job.

// Follow turns this on or off until the end of the job or of the call into the virtual machine.
func (c *Call) Follow(on bool) { c.vm.follow(on) }

func (vm *VM) follow(on bool) {
	if vm.following == on {
		return
	}
	var flag uint32
	if on {
		flag = 1
	}
	vm.mod.set(globalFollow, flag)
	vm.following = on
}

// endJob is called at the end of each job.
func (vm *VM) endJob() {
	if vm.following {
		vm.callEntry("leave")
	}
	vm.letGo()
}

// callEntry calls an entry point and ignores the result.
func (vm *VM) callEntry(entry string) {
	result, err := vm.apply(vm.entryFns[entry], nil)
	if err == nil {
		vm.Free(result)
	}
}

// followThen is perform_promise_then with handlers that are followed.
func followThen(vm *VM, stack []uint64) {
	handlers, functions := uint32(stack[0]), uint32(stack[4])
	promise := uint64(uint32(stack[2])) | uint64(uint32(stack[3]))<<32
	block := vm.malloc(16)
	for at := uint32(0); at < 16; at += 8 {
		vm.mem.writeU64(block+at, uint64(vm.followFunc(Value(vm.readU64(handlers+at)))))
	}
	stack[0] = uint64(vm.call32(fnPerformThen, uint64(vm.js), promise, uint64(block), uint64(functions)))
	vm.Free(Value(vm.readU64(block)))
	vm.Free(Value(vm.readU64(block + 8)))
	vm.call(fnFree, uint64(block))
}

// followJob is JS_EnqueueJob that follows the function of a microtask, its only argument, and the then of a foreign
// thenable, its last one.
func followJob(vm *VM, stack []uint64) {
	const microtask, thenable = 1, 3
	arguments, job, n := uint32(stack[0]), uint32(stack[2]), uint32(stack[3])
	if n != microtask && n != thenable {
		stack[0] = uint64(vm.call32(fnEnqueueJob, uint64(vm.js), uint64(job), uint64(n), uint64(arguments)))
		return
	}
	block := vm.malloc(n * 8)
	for at := uint32(0); at < n*8; at += 8 {
		vm.mem.writeU64(block+at, vm.readU64(arguments+at))
	}
	last := block + (n-1)*8
	f := vm.followFunc(Value(vm.readU64(last)))
	vm.mem.writeU64(last, uint64(f))
	stack[0] = uint64(vm.call32(fnEnqueueJob, uint64(vm.js), uint64(job), uint64(n), uint64(block)))
	vm.Free(f)
	vm.call(fnFree, uint64(block))
}

// followFunc returns the function that runs instead of f; undefined if f is not a function. The caller frees it.
func (vm *VM) followFunc(f Value) Value {
	if f.tag() != tagObject || vm.call32(fnIsFunction, uint64(vm.js), uint64(f)) == 0 {
		return makeValue(tagUndefined, 0)
	}
	bound, err := vm.apply(vm.entryFns["follow"], []Value{f})
	if err != nil { // out of memory
		panic(broken{err})
	}
	return bound
}
