//go:build !linux

package engine

import (
	"errors"
)

// memoryFile needs a system that can map a file over memory and expose written pages; here an image is copied into each
// isolate.
type memoryFile struct{ runs []run }

const headroom = 0

func newMemoryFile(uint32, []run) (*memoryFile, error) { return nil, errors.ErrUnsupported }

func (*memoryFile) mapInto([]byte) error { return errors.ErrUnsupported }

func (*memoryFile) restore([]byte, uint32) error { return errors.ErrUnsupported }

// discard does nothing: only Linux specifies the content of discarded pages.
func discard([]byte) {}
