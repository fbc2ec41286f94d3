//go:build !linux

package site

import (
	"errors"
	"os"
)

// memoryFile is Linux's; elsewhere there is none.
type memoryFile struct{}

func newMemoryFile([]byte) *memoryFile { return nil }

func (*memoryFile) open() (*os.File, error) { return nil, errors.ErrUnsupported }
