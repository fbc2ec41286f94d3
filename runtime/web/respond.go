package web

import (
	"context"
	"slices"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// Flags of respond, as in js/worker.js.
const (
	respondStreamed = 1 // chunks follow
	respondHandle   = 2 // the body is a handle of this package
	respondManual   = 4 // the body is encoded as content-encoding says
	respondSocket   = 8 // a WebSocket
)

func (h *Host) respondFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// respond(id, status, status text, headers, body, flags) -> the handle of the
		// connection, if the answer is a WebSocket
		"respond": h.respond,
		// respond_chunk(id, bytes) -> a promise, settled when the bytes are written
		"respond_chunk": func(c *engine.Call) (any, error) {
			x := h.exchange(c.Int(0))
			if x == nil {
				return nil, iocontext.ErrRequestOver
			}
			b := c.Bytes(1)
			return engine.Async(func(ctx context.Context) (any, error) {
				return engine.Undefined, x.give(ctx, b)
			}), nil
		},
		// respond_end(id)
		"respond_end": func(c *engine.Call) (any, error) {
			if x := h.exchange(c.Int(0)); x != nil {
				x.endStream()
			}
			return engine.Undefined, nil
		},
		// respond_fail(id, kind, name, message, stack, role, name, message and stack of
		// each cause)
		"respond_fail": func(c *engine.Call) (any, error) {
			if x := h.exchange(c.Int(0)); x != nil {
				x.failWorker(c.String(1), thrown(c))
			}
			return engine.Undefined, nil
		},
		// pass_through(id)
		"pass_through": func(c *engine.Call) (any, error) {
			if x := h.exchange(c.Int(0)); x != nil {
				x.mu.Lock()
				defer x.mu.Unlock()
				x.passThrough = true
			}
			return engine.Undefined, nil
		},
		// wait_for(id, n): waitUntil was told of n more promises, or of fewer
		"wait_for": func(c *engine.Call) (any, error) {
			if x := h.exchange(c.Int(0)); x != nil {
				x.waitFor(int32(c.Int(1))) //nolint:gosec // 1 or -1
			}
			return engine.Undefined, nil
		},
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
	}
}

// thrown is the error that respond_fail tells of.
func thrown(c *engine.Call) *engine.Error {
	e := &engine.Error{Name: c.String(2), Message: c.String(3), Stack: c.String(4)}
	if e.Name == "" && e.Message == "null" && c.HeapFull() {
		return engine.OutOfMemory()
	}
	return withCauses(e, c.Strings(5))
}

// withCauses gives an error what it was told of besides: "errors" are the parts
// of an AggregateError, and each "cause" is a property of what it caused.
func withCauses(e *engine.Error, told []string) *engine.Error {
	const fields = 4
	var parts []any
	last := e
	for c := range slices.Chunk(told, fields) {
		if len(c) < fields {
			break
		}
		further := &engine.Error{Name: c[1], Message: c[2], Stack: c[3]}
		if c[0] == "errors" {
			parts = append(parts, further)
			continue
		}
		last.Props = append(last.Props, engine.Field{Name: "cause", Value: further})
		last = further
	}
	if parts != nil {
		e.Props = append(e.Props, engine.Field{Name: "errors", Value: parts})
	}
	return e
}

func (h *Host) respond(c *engine.Call) (any, error) {
	x := h.exchange(c.Int(0))
	if x == nil {
		return engine.Undefined, nil
	}
	flags := c.Int(5)
	a := &answer{
		status: int(c.Int(1)), header: c.Strings(3),
		streamed: flags&respondStreamed != 0, manual: flags&respondManual != 0,
	}
	if flags&respondSocket != 0 {
		return x.answerSocket(a)
	}
	if flags&respondHandle != 0 {
		if a.source = x.io.Body(c.Int(4)); a.source == nil {
			x.failWorker(KindException, iocontext.ErrForeign)
			return engine.Undefined, nil
		}
	} else if !c.IsNullish(4) {
		if a.bytes = c.Bytes(4); a.bytes == nil {
			a.text = c.String(4)
		}
		var err error
		if a.release, err = c.Keep(); err != nil {
			return nil, err
		}
	}
	if !x.settle(a) && a.release != nil {
		a.release()
	}
	return engine.Undefined, nil
}

// answerSocket takes a WebSocket for an answer.
func (x *Exchange) answerSocket(a *answer) (any, error) {
	var err error
	if a.socket, err = x.host.sockets.Respond(&x.io, x.r); err != nil {
		return nil, err
	}
	x.settle(a)
	return a.socket.ID(), nil
}

// settle takes the answer, unless the exchange has one or has already failed. The head of one
// that is streamed goes out with its first piece, and at the latest after the jobs
// that are there now: what fails in them has the page of a failure.
func (x *Exchange) settle(a *answer) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.answer != nil || x.failure != nil {
		return false
	}
	x.answer, x.release = a, a.release
	if a.streamed {
		x.host.work.Go(func() {
			_ = x.io.Isolate.Do(x.io.Scope, func(*engine.VM) error { return nil }) // only its turn matters
			x.goOut()
		})
		return true
	}
	close(x.answered)
	close(x.ended)
	return true
}

// goOut lets the head of the answer go out.
func (x *Exchange) goOut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !isClosed(x.answered) {
		close(x.answered)
	}
}

// endStream says that the streamed body is complete.
func (x *Exchange) endStream() {
	x.goOut()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !isClosed(x.ended) {
		close(x.ended)
	}
}

// give hands a piece of the body to Serve and waits until it is written.
func (x *Exchange) give(ctx context.Context, b []byte) error {
	x.goOut()
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
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
