package userfile

import (
	"context"
	"fmt"
	"io"
)

// interruptible is a reader of a terminal or pipe: a signal ends the wait for
// whoever writes.
type interruptible struct {
	ctx   context.Context // io.Reader takes none
	reads chan read
	rest  []byte
	err   error
}

type read struct {
	text []byte
	err  error
}

// Interruptible returns a reader whose wait for r ends with ctx.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	i := &interruptible{ctx: ctx, reads: make(chan read)}
	go func() {
		for {
			buf := make([]byte, 64<<10)
			n, err := r.Read(buf)
			select {
			case i.reads <- read{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return i
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	for len(i.rest) == 0 {
		if i.err != nil {
			return 0, i.err
		}
		select {
		case r := <-i.reads:
			i.rest, i.err = r.text, r.err
		case <-i.ctx.Done():
			return 0, fmt.Errorf("read: %w", context.Cause(i.ctx))
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}
