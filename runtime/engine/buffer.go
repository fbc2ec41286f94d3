package engine

import (
	"context"
	"io"
	"runtime"
)

const (
	// bufferInHeap bounds a buffer in Go's heap, in bytes.
	bufferInHeap = 1 << 20
	// bufferStep is the step of growth of a longer one, in bytes.
	bufferStep = 1 << 20
)

// Buffer collects bytes of unknown number, of a body or a decompressor: VM.New makes a Uint8Array of them and frees them.
// Each step of growth is counted before it is taken. Doubling in Go's heap would take three times the memory and leave
// garbage. So a long buffer grows in place, in a reserved range of addresses, and returns its memory to the system as
// soon as JavaScript has a copy. It belongs to one goroutine at a time. Free it unless JavaScript gets it.
type Buffer struct {
	ctx    context.Context //nolint:containedctx // of the scope that the bytes count for
	limit  int64
	over   error
	b      []byte
	memory *bufferMemory
}

// bufferMemory is the memory of a Buffer, freed at the latest when the Buffer is garbage.
type bufferMemory struct {
	account *account
	charged int64
	mapped  allocation // nil while the bytes lie in Go's heap
	size    int64      // of mapped
	cleanup bool       // it is freed with the Buffer
}

// DecodedBuffer is a Buffer that becomes a string, as UTF-8 from the byte From on; ill-formed bytes become U+FFFD.
type DecodedBuffer struct {
	*Buffer
	From int
}

// JSONBuffer is a Buffer that becomes the value of its JSON.
type JSONBuffer struct{ *Buffer }

// Buffer returns a buffer of up to limit bytes for the call or its Async. over is the error for more bytes; if the
// isolate has less memory than limit, or over is nil, the error names the isolate's limit.
func (c *Call) Buffer(limit int64, over error) *Buffer {
	vm := c.vm
	b := &Buffer{ctx: vm.scope.ctx, limit: limit, over: over, memory: &bufferMemory{account: vm.account}}
	free := max(0, DefaultMemoryLimit-vm.charged-vm.HeapUsed())
	if free < limit || over == nil {
		b.limit = min(limit, free)
		b.over = quotaError("this takes the Worker over its %d MB of memory; stream the data, or take less of it at a time",
			DefaultMemoryLimit>>20)
	}
	return b
}

// NewBuffer returns a buffer of up to limit bytes for the Async of the context ctx. over is the error for more bytes.
func NewBuffer(ctx context.Context, limit int64, over error) *Buffer {
	b := &Buffer{ctx: ctx, limit: limit, over: over, memory: &bufferMemory{}}
	if c, ok := ctx.Value(reservationKey{}).(*asyncReservation); ok {
		b.memory.account = c.account
		c.buffers = append(c.buffers, b)
	}
	return b
}

// Len is the number of bytes.
func (b *Buffer) Len() int { return len(b.b) }

// Bytes are valid until the buffer grows, is freed or is passed to JavaScript.
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
		space := min(least, int(b.limit)-len(b.b))
		if space <= 0 {
			return read, b.checkEnd(r)
		}
		if err := b.grow(space); err != nil {
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

// checkEnd returns the error of bytes beyond the limit.
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

// grow makes space for n more bytes.
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
	if b.memory.mapped == nil && need <= bufferInHeap {
		return b.reallocate(min(max(2*cap(b.b), need, first), bufferInHeap))
	}
	size := (need + bufferStep - 1) / bufferStep * bufferStep
	if b.memory.mapped == nil {
		return b.moveOut(size)
	}
	if err := b.memory.count(b.ctx, int64(size)); err != nil {
		return err
	}
	grown := b.memory.mapped.Reallocate(uint64(size))
	if grown == nil {
		return quotaError("the system has no memory left")
	}
	collector.mapped.Add(int64(size) - b.memory.size)
	b.memory.size = int64(size)
	b.b = grown[:len(b.b):size]
	return nil
}

// reallocate moves to another piece of Go's heap. Both count until then.
func (b *Buffer) reallocate(size int) error {
	if err := b.count(b.memory.charged + int64(size)); err != nil {
		return err
	}
	b.b = append(make([]byte, 0, size), b.b...)
	b.memory.uncount(int64(size))
	return nil
}

// moveOut moves from Go's heap to a range of addresses; or without one to a larger piece of the heap.
func (b *Buffer) moveOut(size int) error {
	if err := b.count(b.memory.charged + int64(size)); err != nil {
		return err
	}
	reach := uint64(min(b.limit, MaxOutside)+bufferStep) &^ (pageSize - 1)
	memory, mapped := reserveMemory(uint64(size), max(reach, uint64(size)))
	if mapped == nil {
		b.memory.uncount(int64(cap(b.b)))
		return b.reallocate(size + size/2)
	}
	b.memory.mapped, b.memory.size = mapped, int64(size)
	collector.mapped.Add(int64(size))
	b.b = append(memory[:0:size], b.b...)
	b.memory.uncount(int64(size))
	return nil
}

// count counts n bytes in all, unless they are few.
func (b *Buffer) count(n int64) error {
	if n < leastCharge {
		return nil
	}
	if !b.memory.cleanup {
		b.memory.cleanup = true
		runtime.AddCleanup(b, (*bufferMemory).free, b.memory)
	}
	return b.memory.count(b.ctx, n)
}

// reserveMemory is newMemory, but returns nil if the system has no addresses left.
func reserveMemory(first, limit uint64) (memory []byte, m allocation) {
	m, err := newMemory(first, limit)
	if err != nil {
		return nil, nil
	}
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

// uncount counts n bytes in all, if more are counted.
func (h *bufferMemory) uncount(n int64) {
	if n < h.charged {
		h.account.discharge(h.charged - n)
		h.charged = n
	}
}

func (h *bufferMemory) free() {
	if h.mapped != nil {
		collector.mapped.Add(-h.size)
		h.mapped.Free()
		h.mapped = nil
	}
	h.uncount(0)
}

// Free frees the bytes. It may be called again.
func (b *Buffer) Free() {
	b.b, b.limit = nil, 0
	b.memory.free()
}

// bufferOf returns the buffer of a value for VM.New, or nil.
func bufferOf(value any) *Buffer {
	switch v := value.(type) {
	case *Buffer:
		return v
	case DecodedBuffer:
		return v.Buffer
	case JSONBuffer:
		return v.Buffer
	}
	return nil
}
