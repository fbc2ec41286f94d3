//go:build !unix

package host

// mostFiles is the number of files that the process may have open: this system sets no limit that matters.
func mostFiles() uint64 { return 1 << 20 }
