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
	return Stamp{info.Size(), t.Mtim.Nano(), t.Ctim.Nano(), t.Ino, uint64(t.Dev)}, true //nolint:unconvert // an int32 on some machines
}

// Reliable reports whether the file system of an open file or folder has inodes and change times of its own.
func Reliable(f *os.File) bool {
	var t unix.Statfs_t
	for {
		err := unix.Fstatfs(int(f.Fd()), &t) //nolint:gosec // a file descriptor
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return false
		}
	}
	switch int64(t.Type) { //nolint:unconvert // an int32 on some machines
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, zfs, bcachefs:
		return true
	}
	return false
}

const (
	zfs      = 0x2fc12fc1
	bcachefs = 0xca451a4e
)
