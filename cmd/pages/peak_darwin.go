package main

import "syscall"

// peakMemory is the largest memory of the process so far, in bytes; 0 if unknown.
func peakMemory() int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return use.Maxrss
}
