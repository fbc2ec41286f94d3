package main

import (
	"os"
	"regexp"
	"strconv"
)

var highWater = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// peakMemory is the largest memory of the process so far, in bytes; 0 if unknown. The value of getrusage includes the program that started
// this one.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	m := highWater.FindSubmatch(status)
	if m == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits
	return kilobytes << 10
}
