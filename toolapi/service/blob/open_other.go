//go:build !windows

package blob

import "os"

// open opens a file that may be removed meanwhile.
func open(name string) (*os.File, error) { return os.Open(name) }
