//go:build !unix && !windows

package engine

import "github.com/tetratelabs/wazero/experimental"

// sliced is linear memory in a Go slice of all the room it may need, so that it
// never moves.
type sliced struct{ b []byte }

// newMemory implements experimental.MemoryAllocator.
func newMemory(_, limit uint64) experimental.LinearMemory {
	return &sliced{b: make([]byte, limit)}
}

// Reallocate implements experimental.LinearMemory.
func (m *sliced) Reallocate(size uint64) []byte {
	if size > uint64(len(m.b)) {
		return nil
	}
	return m.b[:size]
}

// Free implements experimental.LinearMemory.
func (m *sliced) Free() { m.b = nil }
