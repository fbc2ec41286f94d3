//go:build !linux && !darwin

package hashfile

import (
	"io/fs"
	"os"
)

// StampOf returns the stamp of a file; ok is false when the system gives too little information.
func StampOf(fs.FileInfo) (s Stamp, ok bool) { return s, false }

// Reliable reports whether the file system of an open file or folder has inodes and change times of its own.
func Reliable(*os.File) bool { return false }
