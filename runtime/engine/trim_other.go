//go:build !linux

package engine

// discard is for systems that say what becomes of discarded pages: Linux only.
func discard([]byte) {}
