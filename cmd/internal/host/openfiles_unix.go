//go:build unix

package host

import "syscall"

// mostFiles is how many files the process may have open; Go raises the limit to what it may be raised to.
func mostFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1 << 10 // the usual one
	}
	return uint64(limit.Cur) //nolint:unconvert // int64 on some systems
}
