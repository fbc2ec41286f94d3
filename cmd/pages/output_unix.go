//go:build unix

package main

import "syscall"

// errReaderGone is a write to a pipe that nobody reads.
const errReaderGone = syscall.EPIPE
