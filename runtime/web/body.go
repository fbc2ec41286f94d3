package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// bodyPiece is the most that one read of a stream gives, in bytes.
	bodyPiece = 64 << 10
	// maxBody is the most that text(), json() and the like take of a body: what
	// an isolate's memory could hold.
	maxBody = 128 << 20
)

var (
	errRequestOver = errors.New("the request that this belongs to is over")
	errForeignBody = &engine.Error{Name: "Error", Message: "Cannot perform I/O on behalf of a different request. " +
		"I/O objects (such as streams, request/response bodies, and others) created in the context of one request handler " +
		"cannot be accessed from a different request's handler."}
)

// body is a body that Go holds for JavaScript: the visitor's, or that of an
// answer to fetch.
type body struct {
	mu    sync.Mutex // one reader at a time
	r     io.Reader
	atEnd atomic.Bool
	// reads are those that JavaScript has asked for and that are not done.
	reads atomic.Int32
	// closer ends reads that are under way; safe to call at any time.
	closer func()
}

func (b *body) close() {
	if b.closer != nil {
		b.closer()
	}
}

// read returns the next piece; io.EOF at the end.
func (b *body) read() ([]byte, error) {
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

// counted has what is read of r counted.
type counted struct {
	r    io.Reader
	hold func(n int64) error
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if over := c.hold(int64(n)); over != nil {
		return 0, over
	}
	return n, err
}

var errLongBody = &engine.Error{Name: "RangeError", Message: fmt.Sprintf("the body is larger than %d MiB; read it as a stream", maxBody>>20)}

// readAll returns what is left, for an Async with that context. A body over maxBody is
// an error.
func (b *body) readAll(ctx context.Context) (*engine.Buffer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := engine.NewBuffer(ctx, maxBody, errLongBody)
	if _, err := all.ReadFrom(b.r); err != nil {
		all.Free()
		return nil, err
	}
	b.atEnd.Store(true)
	return all, nil
}

// hold makes a body known to JavaScript and returns its handle.
func (x *Exchange) hold(b *body) (int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.released {
		b.close()
		return 0, errRequestOver
	}
	if x.bodies == nil {
		x.bodies = map[int64]*body{}
	}
	id := x.host.nextID()
	x.bodies[id] = b
	return id, nil
}

// body returns the body of a handle; nil when it is another request's.
func (x *Exchange) body(handle int64) *body {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.bodies[handle]
}

// visitorBody holds the request's own body; -1 when it has none.
func (x *Exchange) visitorBody() (int64, error) {
	if x.r.Body == nil || x.r.ContentLength == 0 {
		return -1, nil
	}
	x.visitor = &body{r: x.r.Body}
	return x.hold(x.visitor)
}

// prepareVisitorBody is for before the answer's head is written. net/http reads
// what is left of the request first, unless it is told that the Worker still
// reads; then the connection cannot be used again, and the client is told so.
func (x *Exchange) prepareVisitorBody(streamed bool) {
	if x.visitor == nil || x.visitor.atEnd.Load() || !streamed && x.visitor.reads.Load() == 0 {
		return
	}
	// Unsupported by HTTP/2 and by recorders, which need no leave.
	if http.NewResponseController(x.w).EnableFullDuplex() == nil {
		x.w.Header().Set("Connection", "close")
		x.duplex = true
	}
}

// leaveVisitorBody ends what reads of the body are left, as net/http wants it of
// a handler that read while it wrote.
func (x *Exchange) leaveVisitorBody() {
	if !x.duplex {
		return
	}
	rc := http.NewResponseController(x.w)
	// What was written goes out before the rest of the body is waited for. An
	// error here is the connection's, which is over in any case.
	_ = rc.Flush()
	if x.visitor.reads.Load() > 0 {
		_ = rc.SetReadDeadline(time.Unix(1, 0)) // lets go of the one who waits
	}
	closeQuietly(x.r.Body)
}

func (h *Host) bodyFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// body_read(handle) -> a promise of bytes, or of null at the end
		"body_read": readBody(func(_ context.Context, b *body) (any, error) {
			piece, err := b.read()
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			return piece, err
		}),
		// body_bytes(handle) -> a promise of all that is left
		"body_bytes": readBody(func(ctx context.Context, b *body) (any, error) {
			all, err := b.readAll(ctx)
			return all, err
		}),
		// body_text(handle) -> a promise of all that is left, decoded as UTF-8
		"body_text": readBody(func(ctx context.Context, b *body) (any, error) {
			all, err := b.readAll(ctx)
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
			if x, err := current(c); err == nil {
				if b := x.body(c.Int(0)); b != nil {
					b.close()
				}
			}
			return engine.Undefined, nil
		},
	}
}

// byteOrderMark is that of UTF-8, which is no part of a text.
var byteOrderMark = []byte("\ufeff") //nolint:gochecknoglobals // a constant

func readBody(read func(context.Context, *body) (any, error)) engine.Func {
	return func(c *engine.Call) (any, error) {
		x, err := current(c)
		if err != nil {
			return nil, err
		}
		b := x.body(c.Int(0))
		if b == nil {
			return nil, errForeignBody
		}
		b.reads.Add(1)
		return engine.Async(func(ctx context.Context) (any, error) {
			defer b.reads.Add(-1)
			value, err := read(ctx, b)
			if err != nil {
				return nil, lostBody(err)
			}
			return value, nil
		}), nil
	}
}

// lostBody is the error of a body that cannot be read any further.
func lostBody(err error) error {
	if thrown, ok := errors.AsType[*engine.Error](err); ok {
		return thrown
	}
	return engine.TypeError("the body could not be read: %v", err)
}
