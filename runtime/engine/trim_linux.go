package engine

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// discard gives the whole pages of b back to the system. What is in them is lost; where
// the system keeps them nothing is.
func discard(b []byte) {
	page := uintptr(os.Getpagesize())
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := (page - from%page) % page
	if uintptr(len(b)) < skip+page {
		return
	}
	b = b[skip:]
	_ = unix.Madvise(b[:uintptr(len(b))/page*page], unix.MADV_DONTNEED) // advice
}
