package engine

import (
	"encoding/binary"
	"fmt"
)

// allocation is linear memory at a place that does not change.
type allocation interface {
	// Reallocate returns the first size bytes, with zeros for new ones; nil without room for them.
	Reallocate(size uint64) []byte
	Free()
}

// linear is linear memory that can be frozen at its size.
type linear struct {
	allocation
	b      []byte // in use
	frozen bool
}

// newLinear returns first bytes of memory that can grow to reserve.
func newLinear(first uint64) (*linear, error) {
	a, err := newMemory(first, reserve)
	if err != nil {
		return nil, err
	}
	return &linear{allocation: a, b: a.Reallocate(first)}, nil
}

// Reallocate implements allocation.
func (l *linear) Reallocate(size uint64) []byte {
	if l.frozen && size > uint64(len(l.b)) {
		return nil // memory.grow is -1
	}
	b := l.allocation.Reallocate(size)
	if b != nil {
		l.b = b
	}
	return b
}

// Free implements allocation. No view of the memory may be left.
func (l *linear) Free() {
	l.allocation.Free()
	l.b = nil
}

func (l *linear) length() uint32 { return uint32(len(l.b)) }

// at returns a view of n bytes; nil when they are outside of the memory.
func (l *linear) at(ptr, n uint32) []byte {
	end := uint64(ptr) + uint64(n)
	if end > uint64(len(l.b)) {
		return nil
	}
	return l.b[ptr:end:end]
}

// mustAt is at for addresses of the module, which panics as broken.
func (l *linear) mustAt(ptr, n uint32) []byte {
	end := uint64(ptr) + uint64(n)
	if end > uint64(len(l.b)) {
		l.outside(ptr, n)
	}
	return l.b[ptr:end:end]
}

func (l *linear) outside(ptr, n uint32) {
	panic(broken{fmt.Errorf("%d bytes at %#x are outside memory", n, ptr)})
}

func (l *linear) write(ptr uint32, b []byte) { copy(l.mustAt(ptr, uint32(len(b))), b) }

func (l *linear) writeString(ptr uint32, s string) { copy(l.mustAt(ptr, uint32(len(s))), s) }

func (l *linear) writeByte(ptr uint32, b byte) { l.mustAt(ptr, 1)[0] = b }

func (l *linear) writeU32(ptr, v uint32) { binary.LittleEndian.PutUint32(l.mustAt(ptr, 4), v) }

func (l *linear) writeU64(ptr uint32, v uint64) { binary.LittleEndian.PutUint64(l.mustAt(ptr, 8), v) }
