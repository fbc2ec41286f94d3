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

// backing keeps an image as a file without a name, laid out as linear memory is.
// The memory of an isolate is a private mapping of it: a page that no isolate
// writes is there once, and a page that one wrote can be told from the others,
// so that only these are put back when the isolate starts over.
type backing struct {
	file    *os.File
	pagemap *os.File // nil where the system does not tell which pages were written
	view    []byte   // the whole file, to read
	runs    []run    // in view
	from    uint32   // of the first run
	to      uint32   // end of the last
}

// headroom is the free heap, in bytes, that an image has for what its isolates
// allocate. Linear memory that grew cannot shrink: an isolate that takes more is
// started anew instead of being put back.
const headroom = 4 << 20

// maxDirty is how many written pages are copied one by one. More than that are
// better given back to the system, to be mapped again when they are touched.
const maxDirty = 1024

// newBacking stores runs, whose places are multiples of imagePage. An error is no
// fault: the image is then copied into each isolate.
func newBacking(size uint32, runs []run) (*backing, error) {
	if len(runs) == 0 || os.Getpagesize() != imagePage {
		return nil, fmt.Errorf("pages of %d bytes", os.Getpagesize())
	}
	fd, err := unix.MemfdCreate("pages-image", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	last := runs[len(runs)-1]
	b := &backing{file: os.NewFile(uintptr(fd), "image"), from: runs[0].at, to: last.at + uint32(len(last.b))}
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

// lay puts the file under memory, which is a whole linear memory.
func (b *backing) lay(memory []byte) error {
	_, err := unix.MmapPtr(int(b.file.Fd()), int64(b.from), unsafe.Pointer(&memory[b.from]), uintptr(b.to-b.from),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return err
}

// rewind makes memory, from start on, what it was after lay.
func (b *backing) rewind(memory []byte, start uint32) error {
	start &^= imagePage - 1
	dirty, err := b.dirty(memory[start:])
	if err != nil || len(dirty) > maxDirty {
		return unix.Madvise(memory[start:], unix.MADV_DONTNEED)
	}
	at := 0
	for _, page := range dirty {
		place := start + page*imagePage
		for at < len(b.runs) && b.runs[at].at+uint32(len(b.runs[at].b)) <= place {
			at++
		}
		target := memory[place : place+imagePage]
		if at == len(b.runs) || b.runs[at].at > place {
			clear(target)
			continue
		}
		copy(target, b.runs[at].b[place-b.runs[at].at:])
	}
	runtime.KeepAlive(b)
	return nil
}

// Bits of an entry of /proc/self/pagemap: Documentation/admin-guide/mm/pagemap.rst.
const (
	pagemapFile    = 1 << 61 // the page is a file's: nobody wrote it
	pagemapSwapped = 1 << 62
	pagemapPresent = 1 << 63
)

// pageEntries are buffers for what pagemap tells of a memory.
var pageEntries = sync.Pool{New: func() any { return new([]byte) }} //nolint:gochecknoglobals // a cache

// dirty lists the pages of memory that were written, by their number from its
// beginning.
func (b *backing) dirty(memory []byte) ([]uint32, error) {
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
