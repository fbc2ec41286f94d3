package main

import "golang.org/x/sys/windows"

// errReadOnlyDisk is a write to a disk that takes none.
const errReadOnlyDisk = windows.ERROR_WRITE_PROTECT

// errReaderGone is a write to a pipe that nobody reads.
const errReaderGone = windows.ERROR_NO_DATA
