//go:build !unix && !windows

package engine

// sliced is linear memory in a Go slice of all the room it may need, so that it
// never moves.
type sliced struct{ b []byte }

// newMemory allocates first bytes of at most limit. The error is an *AddressSpaceError.
func newMemory(_, limit uint64) (allocation, error) {
	return &sliced{b: make([]byte, limit)}, nil
}

// Reallocate implements allocation.
func (m *sliced) Reallocate(size uint64) []byte {
	if size > uint64(len(m.b)) {
		return nil
	}
	return m.b[:size]
}

// Free implements allocation.
func (m *sliced) Free() { m.b = nil }
