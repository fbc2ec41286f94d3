package engine

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryFile is an image in an anonymous file with the layout of linear memory. The memory of an isolate is a private mapping
// of the file: isolates share the pages that they do not write, and only written pages are copied back when an isolate
// starts over.
type memoryFile struct {
	file    *os.File
	pagemap *os.File // nil if the system does not expose written pages
	view    []byte   // the whole file, to read
	runs    []run    // in view
	from    uint32   // of the first run
	to      uint32   // end of the last
}

const (
	// headroom is the free heap of an image for its isolates, in bytes. Linear memory that grew cannot shrink: an isolate
	// that takes more gets a new VM when it starts over.
	headroom = 4 << 20
	// maxDirty bounds the written pages that are copied one by one. For more, it is faster to map the file again.
	maxDirty = 1024
)

// newMemoryFile stores runs, whose addresses are multiples of imagePage. On an error the image is copied into each
// isolate instead.
func newMemoryFile(size uint32, runs []run) (*memoryFile, error) {
	if len(runs) == 0 || os.Getpagesize() != imagePage {
		return nil, fmt.Errorf("pages of %d bytes", os.Getpagesize())
	}
	fd, err := unix.MemfdCreate("pages-image", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	last := runs[len(runs)-1]
	b := &memoryFile{file: os.NewFile(uintptr(fd), "image"), from: runs[0].at, to: last.at + uint32(len(last.b))}
	if err := b.file.Truncate(int64(size)); err != nil {
		return nil, err
	}
	for _, r := range runs {
		if _, err := b.file.WriteAt(r.b, int64(r.at)); err != nil {
			return nil, err
		}
	}
	if b.view, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, err
	}
	runtime.AddCleanup(b, func(view []byte) { _ = unix.Munmap(view) }, b.view) // mapped whole: it cannot fail
	for _, r := range runs {
		b.runs = append(b.runs, run{r.at, b.view[r.at : r.at+uint32(len(r.b))]})
	}
	if b.pagemap, err = os.Open("/proc/self/pagemap"); err != nil {
		b.pagemap = nil
	}
	return b, nil
}

// mapInto maps the file over memory, which is a whole linear memory.
func (b *memoryFile) mapInto(memory []byte) error {
	_, err := unix.MmapPtr(int(b.file.Fd()), int64(b.from), unsafe.Pointer(&memory[b.from]), uintptr(b.to-b.from),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}

// restore resets memory, from start on, to its contents after mapInto.
func (b *memoryFile) restore(memory []byte, start uint32) error {
	start &^= imagePage - 1
	dirty, err := b.dirty(memory[start:])
	if err != nil || len(dirty) > maxDirty {
		return unix.Madvise(memory[start:], unix.MADV_DONTNEED)
	}
	at := 0
	for _, page := range dirty {
		offset := start + page*imagePage
		for at < len(b.runs) && b.runs[at].at+uint32(len(b.runs[at].b)) <= offset {
			at++
		}
		target := memory[offset : offset+imagePage]
		if at == len(b.runs) || b.runs[at].at > offset {
			clear(target)
			continue
		}
		copy(target, b.runs[at].b[offset-b.runs[at].at:])
	}
	runtime.KeepAlive(b)
	return nil
}

// Bits of an entry of /proc/self/pagemap: Documentation/admin-guide/mm/pagemap.rst.
const (
	pagemapFile    = 1 << 61 // the page is the file's: it was not written
	pagemapSwapped = 1 << 62
	pagemapPresent = 1 << 63
)

// pageEntries are buffers for the entries of pagemap.
var pageEntries = sync.Pool{New: func() any { return new([]byte) }} //nolint:gochecknoglobals // a cache

// dirty lists the written pages of memory, by their number from its beginning.
func (b *memoryFile) dirty(memory []byte) ([]uint32, error) {
	if b.pagemap == nil {
		return nil, os.ErrNotExist
	}
	const entry = 8
	buffer := pageEntries.Get().(*[]byte) //nolint:errcheck,forcetypeassert // nothing else is put there
	defer pageEntries.Put(buffer)
	*buffer = slices.Grow((*buffer)[:0], len(memory)/imagePage*entry)
	entries := (*buffer)[:len(memory)/imagePage*entry]
	first := uintptr(unsafe.Pointer(unsafe.SliceData(memory))) / imagePage
	if _, err := b.pagemap.ReadAt(entries, int64(first*entry)); err != nil {
		return nil, err
	}
	var pages []uint32
	for at := 0; at < len(entries); at += entry {
		e := binary.NativeEndian.Uint64(entries[at:])
		if e&(pagemapPresent|pagemapSwapped) != 0 && e&pagemapFile == 0 {
			pages = append(pages, uint32(at/entry))
		}
	}
	return pages, nil
}

// discard returns the whole pages of b to the system. Their content is lost.
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
