// Package htmlrewriter is HTMLRewriter: it edits a document while the document passes through.
//
// In: the bytes of a document, in any encoding that has ASCII in it, and the selectors of the
// handlers. Out: events for JavaScript, and the bytes to pass on, in the document's encoding.
// Errors: TypeErrors for selectors and encodings, in the platform's words; no document is
// malformed.
//
// A rewriter belongs to its request and is used by one goroutine at a time. The package builds no
// tree, and keeps no more of a document than its current token.
package htmlrewriter

import (
	"context"
	"errors"
	"io"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// Funcs returns the host functions of HTMLRewriter.
func Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// html_selector(text): throws if it is none
		"html_selector": func(c *engine.Call) (any, error) {
			_, err := parseSelector(c.String(0))
			return engine.Undefined, err
		},
		// html_open([selector or null for the document, flags, …], content type or "") -> handle
		"html_open": openRewriter,
		// html_write(handle, text or bytes)
		"html_write": withRewriter(func(c *engine.Call, r *rewriter) (any, error) {
			b := c.View(1)
			if b == nil {
				b = []byte(c.String(1))
			}
			return engine.Undefined, r.writeEncoded(b)
		}),
		// html_end(handle): no more input comes
		"html_end": withRewriter(func(_ *engine.Call, r *rewriter) (any, error) {
			var err error
			if r.coding != nil {
				err = r.decode(nil, 0)
			}
			r.final, r.incomplete = true, false
			return engine.Undefined, err
		}),
		// html_read(handle, handle of a body) -> a promise: there was more input
		"html_read": withRewriter(readBody),
		// html_step(handle, edit or null) -> bytes to pass on, an event, null for more input, false
		// at the end
		"html_step": withRewriter(func(c *engine.Call, r *rewriter) (any, error) {
			edit, _ := c.Value(1).([]any)
			if len(r.in) <= offload.Inline { // a token may be as long as the document
				return r.encodedAs(r.step(edit))
			}
			return c.Offload(func() (any, error) { return r.encodedAs(r.step(edit)) })
		}),
		// html_flush(handle) -> bytes to pass on from before the last event, or null
		"html_flush": withRewriter(func(_ *engine.Call, r *rewriter) (any, error) {
			piece := r.piece(true)
			if piece == nil {
				return nil, nil
			}
			return r.encodedAs(piece, nil)
		}),
		// html_encode(handle, bytes of UTF-8) -> bytes to pass on
		"html_encode": withRewriter(func(c *engine.Call, r *rewriter) (any, error) { return r.encodedAs(c.Bytes(1), nil) }),
		// html_close(handle)
		"html_close": func(c *engine.Call) (any, error) {
			if x, err := iocontext.Current(c); err == nil {
				x.Drop(c.Int(0))
			}
			return engine.Undefined, nil
		},
		// html_escape(text) -> text
		"html_escape": func(c *engine.Call) (any, error) { return escapeHTML(c.String(0)), nil },
	}
}

func openRewriter(c *engine.Call) (any, error) {
	x, err := iocontext.Current(c)
	if err != nil {
		return nil, err
	}
	r := newRewriter()
	if r.coding, err = codingOf(c.String(1)); err != nil {
		return nil, err
	}
	list, _ := c.Value(0).([]any)
	for i := 0; i+1 < len(list); i += 2 {
		flags, _ := list[i+1].(float64)
		handler := contentHandler{flags: int(flags), document: true}
		if text, ok := list[i].(string); ok {
			selector, err := parseSelector(text)
			if err != nil {
				return nil, err
			}
			r.selectors.add(selector, len(r.handlers))
			handler.document = false
		}
		r.handlers = append(r.handlers, handler)
	}
	return x.Keep(r)
}

func withRewriter(f func(c *engine.Call, r *rewriter) (any, error)) engine.Func {
	return func(c *engine.Call) (any, error) {
		x, err := iocontext.Current(c)
		if err != nil {
			return nil, err
		}
		r, ok := x.Value(c.Int(0)).(*rewriter)
		if !ok {
			return nil, iocontext.ErrForeign
		}
		return f(c, r)
	}
}

// readBody reads the next chunk of a body in Go. JavaScript does not use the rewriter until it has arrived.
func readBody(c *engine.Call, r *rewriter) (any, error) {
	x, err := iocontext.Current(c)
	if err != nil {
		return nil, err
	}
	b := x.Body(c.Int(1))
	if b == nil {
		return nil, iocontext.ErrForeign
	}
	return b.Async(func(context.Context) (any, error) {
		piece, err := b.Next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return nil, iocontext.LostBody(err)
		}
		return true, r.writeEncoded(piece)
	}), nil
}
