package iocontext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// bodyPiece is the limit of one read of a stream, in bytes.
	bodyPiece = 64 << 10
	// MaxBody bounds the body for text(), json() and the like: the size that an isolate's memory could hold.
	MaxBody = 128 << 20
)

// ErrLongBody refuses a body over MaxBody that is asked for in one piece.
var ErrLongBody = &engine.Error{
	Name: "RangeError", Message: fmt.Sprintf("the body is larger than %d MiB; read it as a stream", MaxBody>>20),
}

// Body is a body that Go holds for JavaScript: that of the request, or that of a response to fetch.
type Body struct {
	mu    sync.Mutex // one reader at a time
	r     io.Reader
	atEnd atomic.Bool
	// reads are those that JavaScript has asked for and that are not done.
	reads atomic.Int32
	// closer ends running reads; safe to call at any time.
	closer func()
}

// NewBody returns a body that is read from r. closer ends running reads at any time; nil for a reader that never waits.
func NewBody(r io.Reader, closer func()) *Body { return &Body{r: r, closer: closer} }

// Close ends running reads.
func (b *Body) Close() {
	if b.closer != nil {
		b.closer()
	}
}

// AtEnd reports whether all of it was read.
func (b *Body) AtEnd() bool { return b.atEnd.Load() }

// IsRead reports whether a read for JavaScript is running.
func (b *Body) IsRead() bool { return b.reads.Load() > 0 }

// Next returns the next piece; io.EOF at the end.
func (b *Body) Next() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	piece := make([]byte, bodyPiece)
	for {
		n, err := b.r.Read(piece)
		if n > 0 {
			return piece[:n], nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				b.atEnd.Store(true)
			}
			return nil, err
		}
	}
}

// all returns the unread rest, for an Async with that context. A body over MaxBody is an error.
func (b *Body) all(ctx context.Context) (*engine.Buffer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := engine.NewBuffer(ctx, MaxBody, ErrLongBody)
	if _, err := all.ReadFrom(b.r); err != nil {
		all.Free()
		return nil, err
	}
	b.atEnd.Store(true)
	return all, nil
}

// ReadMost returns the unread rest, for an Async with that context. If a body exceeds limit, it returns one byte more than that, and closes
// the body.
func (b *Body) ReadMost(ctx context.Context, limit int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, err := io.ReadAll(io.LimitReader(Reserved(ctx, b.r), limit+1))
	if err == nil && int64(len(all)) > limit {
		b.Close()
	} else {
		b.atEnd.Store(true)
	}
	return all, err
}

// Async returns a host function's promise of the result of read on the body.
func (b *Body) Async(read func(context.Context) (any, error)) engine.Async {
	b.reads.Add(1)
	return func(ctx context.Context) (any, error) {
		defer b.reads.Add(-1)
		return read(ctx)
	}
}

// Reader returns the body as an io.Reader.
func (b *Body) Reader() io.Reader { return &pieceReader{b: b} }

type pieceReader struct {
	b    *Body
	left []byte
}

// Read implements io.Reader.
func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		var err error
		if r.left, err = r.b.Next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Counted calls Reserve with the number of bytes of each read of R. Its error ends the reading.
type Counted struct {
	R       io.Reader
	Reserve func(n int64) error
}

// Read implements io.Reader.
func (c Counted) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	if over := c.Reserve(int64(n)); over != nil {
		return 0, over
	}
	return n, err
}

// Reserved counts the bytes read from r as memory of the Async whose context ctx is.
func Reserved(ctx context.Context, r io.Reader) io.Reader {
	return Counted{r, func(n int64) error { return engine.Reserve(ctx, n) }}
}

// LostBody returns the exception for a body that cannot be read any further.
func LostBody(err error) error {
	if thrown, ok := errors.AsType[*engine.Error](err); ok {
		return thrown
	}
	return engine.ConnectionLost("The body could not be read: %v", err)
}

// Funcs returns the host functions that read bodies.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// body_read(handle) -> a promise of bytes, or of null at the end
		"body_read": readBody(func(_ context.Context, b *Body) (any, error) {
			piece, err := b.Next()
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return piece, err
		}),
		// body_bytes(handle) -> a promise of all that is left
		"body_bytes": readBody(func(ctx context.Context, b *Body) (any, error) {
			all, err := b.all(ctx)
			return all, err
		}),
		// body_text(handle) -> a promise of all that is left, decoded as UTF-8
		"body_text": readBody(func(ctx context.Context, b *Body) (any, error) {
			all, err := b.all(ctx)
			if err != nil {
				return nil, err
			}
			mark := 0
			if bytes.HasPrefix(all.Bytes(), byteOrderMark) {
				mark = len(byteOrderMark)
			}
			return engine.DecodedBuffer{Buffer: all, From: mark}, nil
		}),
		// body_cancel(handle)
		"body_cancel": func(c *engine.Call) (any, error) {
			if x, err := Current(c); err == nil {
				if b := x.Body(c.Int(0)); b != nil {
					b.Close()
				}
			}
			return engine.Undefined, nil
		},
	}
}

var byteOrderMark = []byte("\ufeff") //nolint:gochecknoglobals // a constant

func readBody(read func(context.Context, *Body) (any, error)) engine.Func {
	return func(c *engine.Call) (any, error) {
		x, err := Current(c)
		if err != nil {
			return nil, err
		}
		b := x.Body(c.Int(0))
		if b == nil {
			return nil, ErrForeign
		}
		return b.Async(func(ctx context.Context) (any, error) {
			value, err := read(ctx, b)
			if err != nil {
				return nil, LostBody(err)
			}
			return value, nil
		}), nil
	}
}
