//go:build unix

package host

import "syscall"

// mostFiles is the number of files that the process may have open; Go raises the soft limit to the hard one.
func mostFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1 << 10 // the usual one
	}
	return uint64(limit.Cur) //nolint:unconvert // int64 on some systems
}
