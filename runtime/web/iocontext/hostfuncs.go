package iocontext

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/pages-toolchain/pages/runtime/engine"
)

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

// byteOrderMark is that of UTF-8, which is no part of a text.
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
