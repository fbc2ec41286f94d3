//go:build !unix

package engine

import "github.com/tetratelabs/wazero/experimental"

// sliced is linear memory in a Go slice.
type sliced struct{ b []byte }

// newMemory implements experimental.MemoryAllocator.
func newMemory(size, _ uint64) experimental.LinearMemory {
	return &sliced{b: make([]byte, 0, size)}
}

// Reallocate implements experimental.LinearMemory.
func (m *sliced) Reallocate(size uint64) []byte {
	if size <= uint64(cap(m.b)) {
		m.b = m.b[:size]
		return m.b
	}
	grown := make([]byte, size, size+size/2)
	copy(grown, m.b)
	m.b = grown
	return m.b
}

// Free implements experimental.LinearMemory.
func (m *sliced) Free() { m.b = nil }
