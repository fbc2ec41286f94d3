//go:build unix

package main

import "syscall"

// errReadOnlyDisk is a write to a disk that takes none.
const errReadOnlyDisk = syscall.EROFS

// errReaderGone is a write to a pipe that nobody reads.
const errReaderGone = syscall.EPIPE
