package web

import (
	"context"
	"slices"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/socket"
)

// response has at most one of text, bytes, source and streamed for its body.
type response struct {
	status   int
	reason   string   // the status text, "" for the usual one
	header   []string // name, value, name, value, …
	text     string
	bytes    []byte
	source   *iocontext.Body
	streamed bool
	manual   bool           // the body is encoded as content-encoding says
	socket   *socket.Socket // nil unless the response is a WebSocket
	release  func()         // of the memory of text and bytes; nil without
}

func (r *response) isWhole() bool { return r.source == nil && !r.streamed }

func (r *response) size() int { return len(r.text) + len(r.bytes) }

// chunk is a piece of a streamed body; ack gets the result of writing it.
type chunk struct {
	b   []byte
	ack chan error
}

// Flags of respond, as in js/worker.js.
const (
	respondStreamed = 1 // chunks follow
	respondHandle   = 2 // the body is a handle of this package
	respondManual   = 4 // the body is encoded as content-encoding says
	respondSocket   = 8 // a WebSocket
)

func (h *Host) requestFuncs() map[string]engine.Func {
	// with calls f with the exchange whose id is the first argument, if it is not over.
	with := func(f func(c *engine.Call, x *Exchange)) engine.Func {
		return func(c *engine.Call) (any, error) {
			if x := h.exchange(c.Int(0)); x != nil {
				f(c, x)
			}
			return engine.Undefined, nil
		}
	}
	return map[string]engine.Func{
		// respond(id, status, status text, headers, body, flags) -> the handle of the connection,
		// if the response is a WebSocket
		"respond": h.respond,
		// respond_chunk(id, bytes) -> a promise, settled when the bytes are written
		"respond_chunk": func(c *engine.Call) (any, error) {
			x := h.exchange(c.Int(0))
			if x == nil {
				return nil, iocontext.ErrRequestOver
			}
			b := c.Bytes(1)
			return engine.Async(func(ctx context.Context) (any, error) {
				return engine.Undefined, x.writeChunk(ctx, b)
			}), nil
		},
		// respond_end(id): the streamed body is complete
		"respond_end": with(func(_ *engine.Call, x *Exchange) {
			x.sendHead()
			x.mu.Lock()
			defer x.mu.Unlock()
			closeOnce(x.ended)
		}),
		// respond_fail(id, kind, name, message, stack, role, name, message and stack of each cause)
		"respond_fail": with(func(c *engine.Call, x *Exchange) { x.failWorker(c.String(1), thrownError(c)) }),
		// pass_through(id)
		"pass_through": with(func(_ *engine.Call, x *Exchange) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.passThrough = true
		}),
		// wait_for(id, n): waitUntil has n more promises, or fewer
		"wait_for": with(func(c *engine.Call, x *Exchange) {
			// A request whose client has left ends with the last of them.
			if x.waitUntil.Add(int32(c.Int(1))) == 0 && x.clientLeft.Load() { //nolint:gosec // 1 or -1
				h.work.Go(func() { h.GiveUp(x) })
			}
		}),
		// finished(id) -> the ids of the timers that are dropped with the request
		"finished": func(c *engine.Call) (any, error) {
			x := h.exchange(c.Int(0))
			if x == nil {
				return []any{}, nil
			}
			ids := x.timers.Drop()
			x.finish()
			return ids, nil
		},
		// current() -> the id of the request on whose behalf the code runs
		"current": func(c *engine.Call) (any, error) {
			x, err := current(c)
			if err != nil {
				return nil, err
			}
			return x.id, nil
		},
		// current_request() -> the same; 0 while none is served
		"current_request": func(c *engine.Call) (any, error) {
			if x, err := current(c); err == nil {
				return x.id, nil
			}
			return int64(0), nil
		},
		// compatibility_flags() -> name, whether it is set, name, …
		"compatibility_flags": func(*engine.Call) (any, error) {
			return h.compatibilityFlags(), nil
		},
	}
}

// thrownError reads the error of respond_fail. Of its further errors, "errors" are the parts of an
// AggregateError, and each "cause" is a property of the one before it.
func thrownError(c *engine.Call) *engine.Error {
	e := &engine.Error{Name: c.String(2), Message: c.String(3), Stack: c.String(4)}
	if e.Name == "" && e.Message == "null" && c.HeapFull() {
		return engine.OutOfMemory()
	}
	AddCauses(e, c.Strings(5))
	return e
}

// AddCauses adds further errors to an error, each as four texts: its role (errors or cause), name, message and stack.
func AddCauses(e *engine.Error, texts []string) {
	const fields = 4
	var parts []any
	last := e
	for f := range slices.Chunk(texts, fields) {
		if len(f) < fields {
			break
		}
		further := &engine.Error{Name: f[1], Message: f[2], Stack: f[3]}
		if f[0] == "errors" {
			parts = append(parts, further)
			continue
		}
		last.Props = append(last.Props, engine.Field{Name: "cause", Value: further})
		last = further
	}
	if parts != nil {
		e.Props = append(e.Props, engine.Field{Name: "errors", Value: parts})
	}
}

func (h *Host) respond(c *engine.Call) (any, error) {
	x := h.exchange(c.Int(0))
	if x == nil {
		return engine.Undefined, nil
	}
	flags := c.Int(5)
	r := &response{
		status: int(c.Int(1)), reason: c.String(2), header: c.Strings(3),
		streamed: flags&respondStreamed != 0, manual: flags&respondManual != 0,
	}
	var err error
	switch {
	case flags&respondSocket != 0:
		if r.socket, err = h.sockets.Respond(&x.io, x.r); err != nil {
			return nil, err
		}
		x.setResponse(r)
		return r.socket.ID(), nil
	case flags&respondHandle != 0:
		if r.source = x.io.Body(c.Int(4)); r.source == nil {
			x.failWorker(KindException, iocontext.ErrForeign)
			return engine.Undefined, nil
		}
	case !c.IsNullish(4):
		if r.bytes = c.Bytes(4); r.bytes == nil {
			r.text = c.String(4)
		}
		if r.release, err = c.Keep(); err != nil {
			return nil, err
		}
	}
	if !x.setResponse(r) && r.release != nil {
		r.release()
	}
	return engine.Undefined, nil
}

// setResponse takes the response, unless the exchange has one or has already failed. The head of
// one that is streamed goes out with its first piece, and at the latest after the jobs that are
// there now: a failure in them has the page of a failure.
func (x *Exchange) setResponse(r *response) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.response != nil || x.failure != nil {
		return false
	}
	x.response, x.release = r, r.release
	if r.streamed {
		x.host.work.Go(func() {
			_ = x.io.Isolate.Do(x.io.Scope, func(*engine.VM) error { return nil }) // only its turn matters
			x.sendHead()
		})
		return true
	}
	close(x.headReady)
	close(x.ended)
	return true
}

func (x *Exchange) sendHead() {
	x.mu.Lock()
	defer x.mu.Unlock()
	closeOnce(x.headReady)
}

func (x *Exchange) writeChunk(ctx context.Context, b []byte) error {
	x.sendHead()
	c := chunk{b: b, ack: make(chan error, 1)}
	select {
	case x.chunks <- c:
	case <-x.over:
		return ErrClientGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-c.ack:
		return err
	case <-x.over:
		select {
		case err := <-c.ack:
			return err // the body's own failure ended it
		default:
			return ErrClientGone
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
