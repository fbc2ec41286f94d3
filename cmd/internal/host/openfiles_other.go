//go:build !unix

package host

// mostFiles is how many files the process may have open: there is no limit that matters.
func mostFiles() uint64 { return 1 << 20 }
