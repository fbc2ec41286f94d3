package engine

import (
	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

// This file detects that an isolate met its memory limit, even if JavaScript caught the error: the rest of the heap is too small for
// other requests. Garbage is collected before an allocation is refused.

// collectAgain is the growth of the heap in bytes that makes another collection worthwhile.
const collectAgain = 4 << 20

// Held is the bytes that an isolate held when it met its limit.
type Held struct {
	// Heap is JavaScript's, with its ArrayBuffers.
	Heap int64
	// Regions are the embedder's part of linear memory: memories of WebAssembly.
	Regions int64
	// Charged is the further memory counted by Charge.
	Charged int64
	// Outside is the memory that Go held: bodies, results, buffers of codecs.
	Outside int64
}

// MeetLimit records that an allocation was refused for the isolate's memory limit: see IsolateOptions.OnFull.
func (vm *VM) MeetLimit() {
	if vm.met != nil || vm.account == nil {
		return
	}
	var regions int64
	for _, r := range vm.regions {
		regions += int64(r.size)
	}
	vm.met = &Held{Heap: vm.HeapUsed(), Regions: regions, Charged: vm.charged - regions, Outside: vm.account.used.Load()}
}

// noteFull is called by an interrupt. It reports whether it is the one after a refused allocation of JavaScript.
func (vm *VM) noteFull() bool {
	const unseen, seen = 1, 2
	if vm.mod.get(globalFull) != unseen {
		return false
	}
	vm.mod.set(globalFull, seen)
	vm.MeetLimit()
	return true
}

// watchLimit starts the detection; the module instance may have run another VM before.
func (vm *VM) watchLimit() { vm.mod.set(globalFull, 0) }

// fits reports whether n bytes more can be charged.
func (vm *VM) fits(n int64) bool {
	left := DefaultMemoryLimit - vm.charged
	return n <= left-leastHeap && n <= left-vm.HeapUsed()
}

// collectSooner makes a collection precede a lowered limit.
func (vm *VM) collectSooner() {
	used := vm.HeapUsed()
	latest := used + max((vm.heapLimit()-used)/2, quickjspatch.LeastStep)
	if at := vm.rt + quickjspatch.CollectorThreshold; int64(vm.readU32(at)) > latest {
		vm.mem.writeU32(at, uint32(latest))
	}
}

// collect collects garbage, unless the heap has hardly grown since the last collection, and reports whether it did.
func (vm *VM) collect() bool {
	if vm.HeapUsed()-vm.collected < collectAgain {
		return false
	}
	vm.call(fnRunGC, uint64(vm.rt))
	vm.collected = vm.HeapUsed()
	return true
}

// HeapUsed is the number of bytes of the heap in use.
func (vm *VM) HeapUsed() int64 { return int64(vm.readU32(vm.rt + quickjspatch.MallocSize)) }
