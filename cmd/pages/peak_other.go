//go:build !linux && !darwin

package main

// peakMemory is 0: this system does not report it.
func peakMemory() int64 { return 0 }
