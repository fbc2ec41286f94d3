package engine

import (
	"time"

	"github.com/tetratelabs/wazero/experimental"
)

// This file gives free pages of linear memory back to the system. Linear memory grows
// only, so that one request that took a hundred megabytes would have the process keep
// them for as long as the isolate lives.

const (
	// trimFrom is from how many bytes of linear memory on that is worth it.
	trimFrom = 32 << 20
	// trimAfter is how long after its last turn an isolate is looked at.
	trimAfter = 2 * time.Second
	// The pieces that free memory is looked for in: the largest first.
	trimLargest, trimLeast = 1 << 20, 64 << 10
)

// linear is linear memory that can be kept from growing.
type linear struct {
	experimental.LinearMemory
	size   uint64
	frozen bool
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if l.frozen && size > l.size {
		return nil // memory.grow is -1
	}
	b := l.LinearMemory.Reallocate(size)
	if b != nil {
		l.size = size
	}
	return b
}

// scheduleTrim has an isolate that took much looked at once it has been idle for a while.
func (i *Isolate) scheduleTrim() {
	if i.vm == nil || i.vm.mem.Size() < trimFrom {
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

// discardFree gives the system the pages of the free heap, and of free spans, which read
// as zeros from then on where they are not the image's.
func (vm *VM) discardFree() {
	vm.call(fnRunGC, uint64(vm.rt))
	vm.linear.frozen = true
	defer func() { vm.linear.frozen = false }()
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
