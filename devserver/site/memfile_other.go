//go:build !linux

package site

import (
	"errors"
	"os"
)

// memoryFile exists only on Linux.
type memoryFile struct{}

func newMemoryFile([]byte) *memoryFile { return nil }

func (*memoryFile) open() (*os.File, error) { return nil, errors.ErrUnsupported }
