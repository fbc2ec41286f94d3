package engine

// This file controls when JavaScript notices that a value was collected. QuickJS counts references and frees a value at
// once; production's engine collects from time to time, rarely within a request. Code that works there must work here:
// targets of WeakRefs live on for a while, and callbacks of FinalizationRegistry run in separate turns, which serve no
// request.

// keptBytes is the growth of the heap after which the targets of WeakRefs are released.
const keptBytes = 16 << 20

// KeepAlive requests a call of the prelude's entry point "letGo" at the end of the job (ECMA-262, ClearKeptObjects). Its
// value is true if it keeps targets longer: then the entry point "letGoAll" is called at the end of a turn, once the heap has
// grown.
func (c *Call) KeepAlive() { c.vm.keepsAlive = true }

// letGo is called at the end of each job.
func (vm *VM) letGo() {
	if !vm.keepsAlive {
		return
	}
	vm.keepsAlive = false
	kept, err := vm.apply(vm.entryFns["letGo"], nil)
	if err != nil {
		return
	}
	if vm.keptFrom == 0 && vm.call32(fnToBool, uint64(vm.js), uint64(kept)) == 1 {
		vm.keptFrom = vm.heapSize()
	}
	vm.Free(kept)
}

// letGoAll is called at the end of each turn.
func (vm *VM) letGoAll() {
	if vm.keptFrom == 0 {
		return
	}
	if size := vm.heapSize(); size-vm.keptFrom > keptBytes || size > vm.heapLimit()/2 {
		vm.keptFrom = 0
		vm.callEntry("letGoAll")
	}
}

// Finalize requests a call of the prelude's entry point "finalize" in a turn of the scope that
// [IsolateOptions.FinalizerScope] makes.
func (c *Call) Finalize() { c.vm.finalizes = true }

// runFinalizers runs that turn.
func (i *Isolate) runFinalizers() {
	vm := i.vm
	if vm == nil || !vm.finalizes || i.stop.Load() || i.o.FinalizerScope == nil {
		return
	}
	vm.finalizes = false
	scope, done := i.o.FinalizerScope()
	defer done()
	_ = i.run(task{scope: scope, vm: vm, fn: func(vm *VM) error { // OnReset reports a failure
		vm.callEntry("finalize")
		return nil
	}})
	i.runCrossings()
}
