//go:build unix

package localstate

import "syscall"

// errReadOnlyDisk is a write to a disk that takes none.
const errReadOnlyDisk = syscall.EROFS
