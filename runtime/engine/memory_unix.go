//go:build unix

package engine

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// mapped is linear memory that reserves its whole address range at once, so that growing copies nothing. Only the used part
// may be written: systems with an overcommit limit, or a limit of the process, count that part alone.
type mapped struct {
	b    []byte
	used uint64
}

// newMemory implements experimental.MemoryAllocator.
func newMemory(first, limit uint64) experimental.LinearMemory {
	b, err := unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		panic(&AddressSpaceError{limit, err})
	}
	m := &mapped{b: b}
	if m.Reallocate(first) == nil {
		m.Free()
		panic(&AddressSpaceError{limit, unix.ENOMEM})
	}
	return m
}

// Reallocate implements experimental.LinearMemory. Sizes are multiples of WebAssembly's pages, and so of the system's.
func (m *mapped) Reallocate(size uint64) []byte {
	if size > uint64(len(m.b)) {
		return nil
	}
	if size > m.used {
		if unix.Mprotect(m.b[m.used:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
			return nil // out of memory: memory.grow is -1
		}
		m.used = size
	}
	return m.b[:size]
}

// Free implements experimental.LinearMemory.
func (m *mapped) Free() {
	if m.b != nil {
		_ = unix.Munmap(m.b) // of a whole mapping it cannot fail
		m.b = nil
	}
}
