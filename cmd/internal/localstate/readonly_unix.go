//go:build unix

package localstate

import "syscall"

// errReadOnlyDisk is the error of a write to a read-only disk.
const errReadOnlyDisk = syscall.EROFS
