//go:build unix

package engine

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// mapped is linear memory that reserves its whole address range at once, so
// that growing copies nothing, and gives it back to the system when freed.
type mapped struct{ b []byte }

// newMemory implements experimental.MemoryAllocator.
func newMemory(_, limit uint64) experimental.LinearMemory {
	b, err := unix.Mmap(-1, 0, int(limit), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		panic(&RoomError{limit, err})
	}
	return &mapped{b: b}
}

// Reallocate implements experimental.LinearMemory.
func (m *mapped) Reallocate(size uint64) []byte {
	if size > uint64(len(m.b)) {
		return nil
	}
	return m.b[:size]
}

// Free implements experimental.LinearMemory.
func (m *mapped) Free() {
	if m.b == nil {
		return
	}
	// Unmapping what was mapped whole cannot fail.
	_ = unix.Munmap(m.b)
	m.b = nil
}
