package hostcall

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// ReadChunk bounds the bytes that one read passes to JavaScript.
	ReadChunk = 256 << 10
	// readWhole bounds a body that is read at once: the memory of an isolate.
	readWhole = 128 << 20
	// InlineBytes bounds a body that is passed together with its head.
	InlineBytes = 256 << 10
)

var errTooLong = &engine.Error{Name: "RangeError", Message: "The body is over 128 MiB; read it as a stream"}

// Body is a stream of bytes of known or unknown length.
type Body interface {
	io.ReadCloser
	// Len is the number of bytes left, or -1.
	Len() int64
}

// SendBody passes a body to JavaScript: its bytes up to InlineBytes, otherwise a handle for Funcs.
func (h *Handles) SendBody(ctx context.Context, b Body) (any, error) {
	if n := b.Len(); n < 0 || n > InlineBytes {
		return h.Add(ctx, b)
	}
	all, err := io.ReadAll(b)
	return all, errors.Join(err, b.Close())
}

// Funcs read bodies by their handles.
func Funcs(open *Handles) map[string]engine.Func {
	return map[string]engine.Func{
		// binding_read(handle) is the next bytes, null at the end.
		"binding_read": func(c *engine.Call) (any, error) {
			id := c.Int(0)
			b, err := Lookup[Body](open, id)
			if err != nil {
				return nil, err
			}
			return engine.Async(func(context.Context) (any, error) {
				size := int64(ReadChunk)
				if left := b.Len(); left >= 0 {
					size = min(size, max(left, 1))
				}
				chunk := newBuffer(size)
				n, err := io.ReadAtLeast(b, chunk.Bytes, 1)
				if err == nil {
					chunk.Bytes = chunk.Bytes[:n]
					return chunk, nil
				}
				open.Close(id)
				if errors.Is(err, io.EOF) {
					return nil, nil
				}
				return nil, WorkerError(err)
			}), nil
		},
		// binding_read_all(handle) is all bytes left.
		"binding_read_all": func(c *engine.Call) (any, error) {
			id := c.Int(0)
			b, err := Lookup[Body](open, id)
			if err != nil {
				return nil, err
			}
			return engine.Async(func(ctx context.Context) (any, error) {
				defer open.Close(id)
				all, err := readAll(ctx, b)
				if err != nil {
					return nil, WorkerError(err)
				}
				return all, nil
			}), nil
		},
		"binding_close": func(c *engine.Call) (any, error) {
			open.Close(c.Int(0))
			return engine.Undefined, nil
		},
	}
}

// readAll returns all bytes left of a body. A known length is reserved or refused before any of it is read; otherwise each
// step is reserved before it is read.
func readAll(ctx context.Context, b Body) (any, error) {
	if length := b.Len(); length >= 0 && length <= readWhole {
		if err := engine.ReserveInTurn(ctx, length); err != nil {
			return nil, err
		}
		all := newBuffer(length)
		_, err := io.ReadFull(b, all.Bytes)
		return all, err
	} else if length > readWhole {
		return nil, errTooLong
	}
	all := engine.NewBuffer(ctx, readWhole, errTooLong)
	if _, err := all.ReadFrom(b); err != nil {
		all.Free()
		return nil, err
	}
	return all, nil
}

// buffers reuses the buffers of bodies: a new megabyte for each costs the collector more than the read.
var buffers sync.Pool

const maxBuffer = 4 << 20

// newBuffer returns n bytes with arbitrary contents.
func newBuffer(n int64) engine.BorrowedBytes {
	b, _ := buffers.Get().(*[]byte)
	if b == nil || int64(cap(*b)) < n {
		b = new(make([]byte, n))
	}
	release := func() {}
	if n <= maxBuffer {
		release = func() { buffers.Put(b) }
	}
	return engine.BorrowedBytes{Bytes: (*b)[:n], Release: release}
}
