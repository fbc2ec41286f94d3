package hashfile

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// StampOf returns the stamp of a file; ok is false when the system gives too little information.
func StampOf(info fs.FileInfo) (s Stamp, ok bool) {
	t, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return s, false
	}
	return Stamp{info.Size(), t.Mtimespec.Nano(), t.Ctimespec.Nano(), t.Ino, uint64(t.Dev)}, true //nolint:gosec // any number does
}

// Reliable reports whether the file system of an open file or folder has inodes and change times of its own.
func Reliable(f *os.File) bool {
	var t unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &t); err != nil { //nolint:gosec // a file descriptor
		return false
	}
	switch unix.ByteSliceToString(t.Fstypename[:]) {
	case "apfs", "hfs":
		return true
	}
	return false
}
