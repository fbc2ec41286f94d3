//go:build !linux

package engine

import "errors"

// backing is for systems that can map a file in place of memory and tell which
// pages of it were written; here an image is copied into each isolate.
type backing struct{ runs []run }

const headroom = 0

func newBacking(uint32, []run) (*backing, error) { return nil, errors.ErrUnsupported }

func (*backing) lay([]byte) error { return errors.ErrUnsupported }

func (*backing) rewind([]byte, uint32) error { return errors.ErrUnsupported }
