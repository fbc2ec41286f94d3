package hostcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func TestHandlesEndWithTheirRequest(t *testing.T) {
	open := NewHandles()
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan struct{})
	id, err := open.Add(ctx, closing(func() { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lookup[closing](open, id); err != nil {
		t.Error(err)
	}
	if _, err := Lookup[Body](open, id); !errors.Is(err, error(ErrGone)) {
		t.Errorf("another kind of handle: %v", err)
	}
	cancel()
	<-closed
	if _, err := Lookup[closing](open, id); !errors.Is(err, error(ErrGone)) {
		t.Errorf("after the request: %v", err)
	}
}

func TestHandlesAreFew(t *testing.T) {
	open := NewHandles()
	closed := 0
	for range maxOpen {
		if _, err := open.Add(t.Context(), closing(func() { closed++ })); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open.Add(t.Context(), closing(func() { closed++ })); !errors.Is(err, error(errTooMany)) || closed != 1 {
		t.Errorf("error = %v, %d closed", err, closed)
	}
	for id := range int64(maxOpen) {
		open.Close(id + 1)
	}
	if len(open.open) != 0 || closed != 1+maxOpen {
		t.Errorf("%d open, %d closed", len(open.open), closed)
	}
}

type closing func()

// Close calls the func.
func (c closing) Close() error {
	c()
	return nil
}

// endless is a body of zeros.
type endless struct {
	left, read int64 // left is -1 when the length is unknown
}

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	n := int64(len(p))
	if e.left >= 0 {
		n = min(n, e.left-e.read)
	}
	if n == 0 {
		return 0, io.EOF
	}
	e.read += n
	return int(n), nil
}

// Len implements body.
func (e *endless) Len() int64 { return e.left }

// Close implements body.
func (e *endless) Close() error { return nil }

func TestReadAll(t *testing.T) {
	for _, c := range []struct {
		length, read int64
		want         error
	}{
		{0, 0, nil}, {1 << 20, 1 << 20, nil}, {readWhole + 1, 0, errTooLong}, {-1, readWhole + 1, errTooLong},
	} {
		t.Run(fmt.Sprint(c.length, c.read), func(t *testing.T) {
			b := &endless{left: c.length}
			all, err := readAll(t.Context(), b)
			lent, _ := all.(engine.BorrowedBytes)
			if !errors.Is(err, c.want) || b.read != c.read || err == nil && int64(len(lent.Bytes)) != c.length {
				t.Errorf("%d: %d bytes, %d read, %v", c.length, len(lent.Bytes), b.read, err)
			}
		})
	}
}
