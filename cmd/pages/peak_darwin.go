package main

import "syscall"

// peakMemory is the most memory in bytes that the process had at a time; 0 where the
// system does not say.
func peakMemory() int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return use.Maxrss
}
