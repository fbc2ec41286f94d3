package localstate

import "golang.org/x/sys/windows"

// errReadOnlyDisk is the error of a write to a read-only disk.
const errReadOnlyDisk = windows.ERROR_WRITE_PROTECT
