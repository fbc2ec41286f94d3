package engine

import "time"

// This file returns free pages of linear memory to the system. Linear memory only grows: otherwise the process would
// keep the hundred megabytes of one request for the life of the isolate.

const (
	// trimFrom is the bytes of linear memory from which an isolate is trimmed.
	trimFrom = 32 << 20
	// trimAfter is the idle time after which it is.
	trimAfter = 2 * time.Second
	// trimLargest and trimLeast are the sizes of the pieces of free heap, the largest first.
	trimLargest, trimLeast = 1 << 20, 64 << 10
)

// scheduleTrim trims an isolate with much memory after it has been idle for a while.
func (i *Isolate) scheduleTrim() {
	if i.vm == nil || i.vm.mem.length() < trimFrom {
		return
	}
	if i.trim == nil {
		i.trim = time.AfterFunc(trimAfter, func() {
			select {
			case i.tasks <- task{trim: true}:
			default: // it is busy
			}
		})
		return
	}
	i.trim.Reset(trimAfter)
}

// discardFree returns the pages of the free heap and of free spans to the system. Outside of the image they then read as
// zeros.
func (vm *VM) discardFree() {
	vm.call(fnRunGC, uint64(vm.rt))
	vm.mem.frozen = true
	defer func() { vm.mem.frozen = false }()
	var taken []uint32
	for size := uint32(trimLargest); size >= trimLeast; size /= 4 {
		for at := vm.call32(fnMalloc, uint64(size)); at != 0; at = vm.call32(fnMalloc, uint64(size)) {
			taken = append(taken, at)
			discard(vm.read(at, size))
		}
	}
	for _, at := range taken {
		vm.call(fnFree, uint64(at))
	}
	for _, s := range vm.spans {
		if from := max(s.at, vm.imageSize); from < s.end() {
			discard(vm.read(from, s.end()-from))
		}
	}
}
