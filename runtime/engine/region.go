package engine

import (
	"slices"

	"github.com/pages-toolchain/pages/runtime/engine/quickjspatch"
)

const (
	// reserve is the limit of linear memory. The heap and the regions together may hold DefaultMemoryLimit; a region that
	// moves needs its old span and its new one at the same time.
	reserve = 2*DefaultMemoryLimit + memoryHeadroom
	// leastHeap is the limit of the heap next to the largest regions: QuickJS takes 0 for no limit.
	leastHeap = 1 << 20
)

// Region is a part of a VM's linear memory that belongs to the embedder instead of the JavaScript heap: JavaScript sees its
// bytes in an ArrayBuffer without a copy. Linear memory never moves while a VM lives, so the bytes stay where they are
// until Resize. A Region belongs to the current turn, like the VM.
type Region struct {
	vm *VM
	span
	size uint32 // bytes in use, of the span's
}

// span is a part of linear memory, in whole pages.
type span struct{ at, length uint32 }

func (s span) end() uint32 { return s.at + s.length }

// NewRegion returns a region of size zero bytes, a multiple of 64 KiB. False when the isolate would hold more than its
// limit.
func (vm *VM) NewRegion(size uint64) (*Region, bool) {
	r := &Region{vm: vm, span: span{at: vm.mem.length()}}
	vm.regions = append(vm.regions, r)
	if !r.Resize(size) {
		vm.regions = vm.regions[:len(vm.regions)-1]
		return nil, false
	}
	return r, true
}

// Regions are the regions that are not freed, in the order they were made, those of the VM's image first.
func (vm *VM) Regions() []*Region { return vm.regions }

// At is the offset of the bytes in linear memory.
func (r *Region) At() uint32 { return r.at }

// Size is the number of bytes in use.
func (r *Region) Size() uint32 { return r.size }

// Bytes are the region's, in place, until the next Resize.
func (r *Region) Bytes() []byte { return r.vm.read(r.at, r.size) }

// Resize makes the region longer; new bytes are zero, and the region may move. False when the isolate would hold more than
// its limit.
func (r *Region) Resize(size uint64) bool {
	if size > DefaultMemoryLimit || size < uint64(r.size) || !r.vm.Charge(int64(size)-int64(r.size)) {
		return false
	}
	n := uint32(size)
	switch {
	case n <= r.length:
	case r.end() == r.vm.mem.length() && r.vm.growMemory(n-r.length):
		r.length = n
	default:
		to, ok := r.vm.takeSpan(n)
		if !ok {
			r.vm.Charge(int64(r.size) - int64(size))
			return false
		}
		old := r.span
		copy(r.vm.read(to.at, r.size), r.vm.read(old.at, r.size))
		r.span = to
		r.vm.freeSpan(old, r.size)
	}
	r.size = n
	return true
}

// Free frees the region. Its bytes must not be used any more.
func (r *Region) Free() {
	n := slices.Index(r.vm.regions, r)
	if n < 0 {
		return
	}
	r.vm.regions = slices.Concat(r.vm.regions[:n], r.vm.regions[n+1:])
	r.vm.freeSpan(r.span, r.size)
	r.vm.Charge(-int64(r.size))
}

// Alias returns an ArrayBuffer or a SharedArrayBuffer over the region's bytes. Before the region is resized or freed, Detach
// the former; afterwards, Point the latter to the new place of the bytes. Point can make either resizable.
func (r *Region) Alias(shared bool) (Value, error) {
	const noMaximum, noRealloc, noOpaque = 0, 0, 0
	isShared := uint64(0)
	if shared {
		isShared = 1
	}
	return r.vm.checkValue(
		r.vm.call(fnNewArrayBuffer, uint64(r.vm.js), uint64(r.at), uint64(r.size), noMaximum, noRealloc, noOpaque, isShared))
}

// Offsets in a JSArrayBuffer, in bytes.
const (
	bufferMaximum = 4 // the maximum of a resizable buffer, otherwise -1
	bufferShared  = 10
	bufferData    = 12
)

// Point lets a buffer that Alias returned have its bytes where the region is now, and be given up to most of them by its own
// method resize or grow, without which its views do not know. Settle follows.
func (r *Region) Point(buffer Value, most uint32) {
	at := r.vm.bufferOf(buffer)
	r.vm.mem.writeU32(at+bufferData, r.at)
	r.vm.mem.writeU32(at+bufferMaximum, most)
	r.vm.mem.writeByte(at+bufferShared, 1) // its bytes are not its own to be moved
}

// Settle restores the kind of a buffer from before Point, but not its bytes: one that can be resized up to most, or with -1 cannot.
func (vm *VM) Settle(buffer Value, shared bool, most int32) {
	at := vm.bufferOf(buffer)
	vm.mem.writeU32(at+bufferMaximum, uint32(most))
	if !shared {
		vm.mem.writeByte(at+bufferShared, 0)
	}
}

// bufferOf is the address of the JSArrayBuffer of an object.
func (vm *VM) bufferOf(buffer Value) uint32 {
	return vm.readU32(uint32(buffer) + quickjspatch.ObjectData)
}

// Detach makes buffer an ArrayBuffer of no bytes. It ignores other values and detached buffers.
func (vm *VM) Detach(buffer Value) { vm.call(fnDetachArrayBuffer, uint64(vm.js), uint64(buffer)) }

// takeSpan returns a span of zeros, with space to grow into if memory allows.
func (vm *VM) takeSpan(size uint32) (span, bool) {
	for n, s := range vm.spans {
		if s.length < size {
			continue
		}
		if s.length == size {
			vm.spans = slices.Concat(vm.spans[:n], vm.spans[n+1:])
		} else {
			vm.spans[n] = span{s.at + size, s.length - size}
		}
		return span{s.at, size}, true
	}
	at := vm.mem.length()
	for _, length := range []uint32{size + size/2&^(pageSize-1), size} {
		if vm.growMemory(length) {
			return span{at, length}, true
		}
	}
	return span{}, false
}

// freeSpan frees s; its first used bytes may be other than zero. Adjacent free spans become one.
func (vm *VM) freeSpan(s span, used uint32) {
	clear(vm.read(s.at, used))
	rest := vm.spans[:0]
	for _, x := range vm.spans {
		switch {
		case x.end() == s.at:
			s = span{x.at, x.length + s.length}
		case s.end() == x.at:
			s.length += x.length
		default:
			rest = append(rest, x)
		}
	}
	vm.spans = rest
	if s.length > 0 {
		vm.spans = append(vm.spans, s)
	}
}

func (vm *VM) growMemory(n uint32) bool {
	return vm.mod.grow(n / pageSize)
}

// Charge counts n bytes, which may be negative, that the embedder holds outside of the heap on the isolate's behalf: heap
// and charges share one limit. False, and nothing is counted, when that would be exceeded.
func (vm *VM) Charge(n int64) bool {
	if n > 0 && !vm.fits(n) && (!vm.collect() || !vm.fits(n)) {
		return false
	}
	vm.charged += n
	vm.call(fnSetMemoryLimit, uint64(vm.heapLimit()))
	vm.collectSooner()
	return true
}

// heapLimit bounds the heap, in bytes.
func (vm *VM) heapLimit() int64 { return max(DefaultMemoryLimit-vm.charged, leastHeap) }

// Charged is the number of bytes that regions hold, and that Charge counted.
func (vm *VM) Charged() int64 { return vm.charged }

// heapSize is the peak size of the heap so far, in bytes.
func (vm *VM) heapSize() int64 {
	heap := int64(vm.mem.length())
	for _, r := range vm.regions {
		heap -= int64(r.length)
	}
	for _, s := range vm.spans {
		heap -= int64(s.length)
	}
	return heap
}
