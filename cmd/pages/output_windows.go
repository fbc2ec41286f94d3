package main

import "golang.org/x/sys/windows"

// errReaderGone is a write to a pipe that nobody reads.
const errReaderGone = windows.ERROR_NO_DATA
