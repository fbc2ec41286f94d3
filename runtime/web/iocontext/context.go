// Package iocontext holds the open operations of one request of a Worker: bodies that Go reads for
// JavaScript, and other values that JavaScript knows by number.
//
// In: a [Body] or any value, for a handle that JavaScript passes in later calls. Out: the value of
// a handle, only to the request that it belongs to. Errors: the platform's own texts for I/O
// outside of a request, for I/O of another request, and for a request that is over.
//
// A Context is safe for concurrent use. The package never decides when a request is over: its user
// calls [Context.Close].
package iocontext

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/runtime/engine"
)

var (
	// ErrRequestOver refuses an object of a request that has ended.
	ErrRequestOver = errors.New("the request that this belongs to is over")
	// ErrForeign refuses a handle that is not of this request. The text is the platform's own.
	ErrForeign = &engine.Error{Name: "Error", Message: "Cannot perform I/O on behalf of a different request. " +
		"I/O objects (such as streams, request/response bodies, and others) created in the context of one request handler " +
		"cannot be accessed from a different request's handler."}
	// ErrGlobalScope refuses I/O while no request is served. The text is the platform's own.
	ErrGlobalScope = &engine.Error{Name: "Error", Message: "Disallowed operation called within global scope. " +
		"Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values " +
		"are not allowed within global scope. To fix this error, perform this operation within a handler."}
)

// Context holds the open handles of one request. The zero value works once NextID is set.
type Context struct {
	// NextID gives handles; no two contexts of an isolate get the same one.
	NextID func() int64
	// Isolate and Scope are those that the request is served in, set before its first turn.
	Isolate *engine.Isolate
	Scope   *engine.Scope
	// Connections counts the open connections, whose messages may arrive at any time, so that a
	// request with one is never idle.
	Connections atomic.Int32

	mu      sync.Mutex
	closed  bool // nothing more may be opened
	handles map[int64]any
}

// Request is the Value of a scope that belongs to a request.
type Request interface{ IO() *Context }

// Current returns the context of the request that called a host function. An error means that no
// request is being served: the module is being evaluated.
func Current(c *engine.Call) (*Context, error) {
	r, ok := c.Scope().Value.(Request)
	if !ok {
		return nil, ErrGlobalScope
	}
	return r.IO(), nil
}

// Keep stores a value for JavaScript and returns its handle. A value that is an io.Closer is closed
// with the request.
func (x *Context) Keep(value any) (int64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return 0, ErrRequestOver
	}
	if x.handles == nil {
		x.handles = map[int64]any{}
	}
	id := x.NextID()
	x.handles[id] = value
	return id, nil
}

// Value returns the value of a handle; nil when it is another request's.
func (x *Context) Value(handle int64) any {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.handles[handle]
}

// Drop forgets a handle.
func (x *Context) Drop(handle int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.handles, handle)
}

// KeepBody stores a body for JavaScript and returns its handle.
func (x *Context) KeepBody(b *Body) (int64, error) {
	handle, err := x.Keep(b)
	if err != nil {
		b.Close()
	}
	return handle, err
}

// Body returns the body of a handle; nil when it is another request's.
func (x *Context) Body(handle int64) *Body {
	b, _ := x.Value(handle).(*Body)
	return b
}

// Close closes all that is open. Nothing can be opened any more.
func (x *Context) Close() {
	x.mu.Lock()
	handles := x.handles
	x.handles, x.closed = nil, true
	x.mu.Unlock()
	for _, value := range handles {
		switch v := value.(type) {
		case *Body:
			v.Close()
		case io.Closer:
			_ = v.Close()
		}
	}
}
