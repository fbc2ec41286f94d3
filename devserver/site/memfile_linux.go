package site

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// memoryFile is a file that is in memory alone and that nobody can change any more:
// the kernel sends from it without a copy. A file on disk would not do: it may be
// written to between the look at its hash and the last byte. It is closed with the last
// reference to it, as the bytes it was made of are.
type memoryFile struct {
	file *os.File
	path string // to open it by, for a reader with a place of its own
}

// newMemoryFile returns nil where the system has none.
func newMemoryFile(contents []byte) *memoryFile {
	fd, err := unix.MemfdCreate("asset", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	m := &memoryFile{os.NewFile(uintptr(fd), "asset"), "/proc/self/fd/" + strconv.Itoa(fd)}
	if _, err := m.file.Write(contents); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
		if err == nil {
			return m
		}
	}
	_ = m.file.Close() // nothing in it is needed
	return nil
}

// open is an error where there is no /proc.
func (m *memoryFile) open() (*os.File, error) {
	defer runtime.KeepAlive(m.file) // the number must stay this file's
	return os.Open(m.path)
}
