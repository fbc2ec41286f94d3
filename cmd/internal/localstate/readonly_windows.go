package localstate

import "golang.org/x/sys/windows"

// errReadOnlyDisk is a write to a disk that takes none.
const errReadOnlyDisk = windows.ERROR_WRITE_PROTECT
