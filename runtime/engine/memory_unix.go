//go:build unix

package engine

import (
	"golang.org/x/sys/unix"
)

// mapped is linear memory that reserves its whole address range at once, so that growing copies nothing. Only the used part
// may be written: systems with an overcommit limit, or a limit of the process, count that part alone.
type mapped struct {
	b    []byte
	used uint64
}

// newMemory allocates first bytes of at most limit. The error is an *AddressSpaceError.
func newMemory(first, limit uint64) (allocation, error) {
	b, err := unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return nil, &AddressSpaceError{limit, err}
	}
	m := &mapped{b: b}
	if m.Reallocate(first) == nil {
		m.Free()
		return nil, &AddressSpaceError{limit, unix.ENOMEM}
	}
	return m, nil
}

// Reallocate implements allocation. Sizes are multiples of WebAssembly's pages, and so of the system's.
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

// Free implements allocation.
func (m *mapped) Free() {
	if m.b != nil {
		_ = unix.Munmap(m.b) // of a whole mapping it cannot fail
		m.b = nil
	}
}
