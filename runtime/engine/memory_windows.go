package engine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserved is linear memory that reserves its whole address range at once and
// commits the used part, so that it never moves.
type reserved struct {
	b         []byte
	committed uint64
}

// newMemory allocates first bytes of at most limit. The error is an *AddressSpaceError.
func newMemory(first, limit uint64) (allocation, error) {
	at, err := windows.VirtualAlloc(0, uintptr(limit), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, &AddressSpaceError{limit, err}
	}
	m := &reserved{b: unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), limit)}
	if m.Reallocate(first) == nil {
		m.Free()
		return nil, &AddressSpaceError{limit, windows.ERROR_NOT_ENOUGH_MEMORY}
	}
	return m, nil
}

// Reallocate implements allocation.
func (m *reserved) Reallocate(size uint64) []byte {
	if size > uint64(len(m.b)) {
		return nil
	}
	if size > m.committed {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(m.b)))
		_, err := windows.VirtualAlloc(base+uintptr(m.committed), uintptr(size-m.committed), windows.MEM_COMMIT, windows.PAGE_READWRITE)
		if err != nil {
			return nil // out of memory: memory.grow is -1
		}
		m.committed = size
	}
	return m.b[:size]
}

// Free implements allocation.
func (m *reserved) Free() {
	if m.b != nil {
		_ = windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(m.b))), 0, windows.MEM_RELEASE) // of a whole range it cannot fail
		m.b = nil
	}
}
