package engine

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/tetratelabs/wazero/experimental"
)

// This file is bytes whose number nobody knows beforehand: what a body or a decompressor
// gives. Each step of growth is counted before it is taken. Doubling in Go's heap would
// take three times as much and leave it as garbage: what is long grows in place, in a
// range of addresses of which only what was written is memory, and is the system's
// again as soon as JavaScript has a copy.

const (
	// bufferInHeap is up to how many bytes a buffer lies in Go's heap.
	bufferInHeap = 1 << 20
	// bufferStep is how many bytes at a time a longer one takes.
	bufferStep = 1 << 20
)

// Buffer is such bytes: VM.New makes a Uint8Array of them, and then they are gone. It
// belongs to one goroutine at a time. Free it where it is not given to JavaScript.
type Buffer struct {
	ctx   context.Context //nolint:containedctx // of the scope whose bytes they are
	limit int64
	over  error
	b     []byte
	held  *bufferMemory
}

// bufferMemory is what a Buffer holds. It is given back at the latest when nobody has the
// Buffer any more.
type bufferMemory struct {
	account *account
	charged int64
	mapped  experimental.LinearMemory // nil while the bytes lie in Go's heap
	size    int64                     // of mapped
	known   bool                      // that it is to be freed: see Buffer.count
}

// DecodedBuffer is a Buffer that becomes a string, as UTF-8 from the byte From on; what is
// ill-formed becomes U+FFFD.
type DecodedBuffer struct {
	*Buffer
	From int
}

// JSONBuffer is a Buffer that becomes what JSON.parse makes of it.
type JSONBuffer struct{ *Buffer }

// Buffer returns a buffer for what the call makes of up to limit bytes, or that its Async
// does. over is the error of a limit that is the author's own; where the isolate has less
// room than that the error names its.
func (c *Call) Buffer(limit int64, over error) *Buffer {
	b := &Buffer{ctx: c.vm.scope.ctx, limit: limit, over: over, held: &bufferMemory{account: c.vm.account}}
	if room := c.vm.room(); room < limit || over == nil {
		b.limit, b.over = min(limit, room), memoryError()
	}
	return b
}

func memoryError() error {
	return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("this takes the Worker over its %d MB of memory; stream the data, or take less of it at a time", DefaultMemoryLimit>>20)}
}

// room is about how many bytes the heap can take of what is made outside of it. To count
// what it holds is to walk all of it, which is done where its memory does not show that
// there is enough.
func (vm *VM) room() int64 {
	const little = 32 << 20
	left := DefaultMemoryLimit - vm.charged
	if size := vm.heapSize(); size <= little {
		return left - size
	}
	return max(0, left-vm.HeapUsed())
}

// NewBuffer returns a buffer of up to limit bytes for an Async whose context ctx is, or
// descends from. over is the error of more.
func NewBuffer(ctx context.Context, limit int64, over error) *Buffer {
	b := &Buffer{ctx: ctx, limit: limit, over: over, held: &bufferMemory{}}
	if c, ok := ctx.Value(reservationKey{}).(*asyncReservation); ok {
		b.held.account = c.account
		c.buffers = append(c.buffers, b)
	}
	return b
}

// Len is how many bytes there are.
func (b *Buffer) Len() int { return len(b.b) }

// Bytes are the buffer's, until it grows, is freed or is given to JavaScript.
func (b *Buffer) Bytes() []byte { return b.b }

// Write implements io.Writer. Its error is for JavaScript.
func (b *Buffer) Write(p []byte) (int, error) {
	if err := b.grow(len(p)); err != nil {
		return 0, err
	}
	b.b = append(b.b, p...)
	return len(p), nil
}

// ReadFrom implements io.ReaderFrom.
func (b *Buffer) ReadFrom(r io.Reader) (read int64, err error) {
	const least = 4 << 10
	for {
		room := min(least, int(b.limit)-len(b.b))
		if room <= 0 {
			return read, b.checkEnd(r)
		}
		if err := b.grow(room); err != nil {
			return read, err
		}
		n, err := r.Read(b.b[len(b.b):min(int64(cap(b.b)), b.limit)])
		b.b, read = b.b[:len(b.b)+n], read+int64(n)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return read, err
		}
	}
}

// checkEnd reports whether anything follows what the limit allows.
func (b *Buffer) checkEnd(r io.Reader) error {
	var next [1]byte
	n, err := io.ReadFull(r, next[:])
	if n > 0 {
		return b.over
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// grow makes room for n more bytes.
func (b *Buffer) grow(n int) error {
	need := len(b.b) + n
	if need <= cap(b.b) {
		return nil
	}
	if int64(need) > b.limit {
		return b.over
	}
	if err := b.ctx.Err(); err != nil {
		return err
	}
	const first = 4 << 10
	if b.held.mapped == nil && need <= bufferInHeap {
		return b.reallocate(min(max(2*cap(b.b), need, first), bufferInHeap))
	}
	size := (need + bufferStep - 1) / bufferStep * bufferStep
	if b.held.mapped == nil {
		return b.move(size)
	}
	if err := b.held.count(b.ctx, int64(size)); err != nil {
		return err
	}
	grown := b.held.resize(size)
	if grown == nil {
		return errNoMemory
	}
	b.b = grown[:len(b.b):size]
	return nil
}

var errNoMemory = &Error{Name: "QuotaExceededError", Message: "the system has no memory left"}

// reallocate takes another piece of Go's heap. The old one counts until it is left.
func (b *Buffer) reallocate(size int) error {
	if err := b.count(b.held.charged + int64(size)); err != nil {
		return err
	}
	b.b = append(make([]byte, 0, size), b.b...)
	b.held.uncount(int64(size))
	return nil
}

// move goes to a range of addresses of its own; where the system has none, Go's heap is
// left to be enough.
func (b *Buffer) move(size int) error {
	if err := b.count(b.held.charged + int64(size)); err != nil {
		return err
	}
	reach := uint64(min(b.limit, MaxOutside)+bufferStep) &^ (pageSize - 1)
	memory, mapped := reserveMemory(uint64(size), max(reach, uint64(size)))
	if mapped == nil {
		b.held.uncount(int64(cap(b.b)))
		return b.reallocate(size + size/2)
	}
	b.held.mapped, b.held.size = mapped, int64(size)
	collector.mapped.Add(int64(size))
	b.b = append(memory[:0:size], b.b...)
	b.held.uncount(int64(size))
	return nil
}

// count has n bytes counted, in all, once they are worth it.
func (b *Buffer) count(n int64) error {
	if n < leastCharge {
		return nil
	}
	if !b.held.known {
		b.held.known = true
		runtime.AddCleanup(b, (*bufferMemory).free, b.held)
	}
	return b.held.count(b.ctx, n)
}

// reserveMemory is newMemory without its panic.
func reserveMemory(first, limit uint64) (memory []byte, m experimental.LinearMemory) {
	defer func() {
		if p := recover(); p != nil {
			if _, full := p.(*AddressSpaceError); !full {
				panic(p)
			}
			memory, m = nil, nil
		}
	}()
	m = newMemory(first, limit)
	return m.Reallocate(first), m
}

func (h *bufferMemory) count(ctx context.Context, n int64) error {
	if n <= h.charged {
		return nil
	}
	if err := h.account.charge(ctx, n-h.charged); err != nil {
		return err
	}
	h.charged = n
	return nil
}

// uncount gives back what is counted over n.
func (h *bufferMemory) uncount(n int64) {
	if n < h.charged {
		h.account.discharge(h.charged - n)
		h.charged = n
	}
}

func (h *bufferMemory) resize(size int) []byte {
	grown := h.mapped.Reallocate(uint64(size))
	if grown != nil {
		collector.mapped.Add(int64(size) - h.size)
		h.size = int64(size)
	}
	return grown
}

func (h *bufferMemory) free() {
	if h.mapped != nil {
		collector.mapped.Add(-h.size)
		h.mapped.Free()
		h.mapped = nil
	}
	h.uncount(0)
}

// Free gives the bytes back. What was freed may be freed again.
func (b *Buffer) Free() {
	b.b, b.limit = nil, 0
	b.held.free()
}

// freeBuffer frees what a value that JavaScript does not get holds.
func freeBuffer(value any) {
	switch v := value.(type) {
	case *Buffer:
		v.Free()
	case DecodedBuffer:
		v.Free()
	case JSONBuffer:
		v.Free()
	}
}
