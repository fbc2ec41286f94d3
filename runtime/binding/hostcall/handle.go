package hostcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const maxOpen = 256

var errTooMany = &engine.Error{Name: "Error", Message: fmt.Sprintf(
	"There are %d open bodies and uploads; read or cancel those you have before you open more", maxOpen)}

// ErrGone refuses the use of a handle after its end.
var ErrGone = &engine.Error{Name: "Error", Message: "The body or upload has ended, or belongs to another request"}

// Handles are the values of one isolate that JavaScript holds by a number. Each is closed with the request that opened it.
type Handles struct {
	mu   sync.Mutex
	last int64
	open map[int64]*handle
}

type handle struct {
	value io.Closer
	stop  func() bool
}

// NewHandles returns the handles of one isolate.
func NewHandles() *Handles { return &Handles{open: map[int64]*handle{}} }

// Add keeps value until Close or the end of ctx, and returns its number. If there are too many it closes value and fails.
func (h *Handles) Add(ctx context.Context, value io.Closer) (int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= maxOpen {
		return 0, errors.Join(errTooMany, value.Close())
	}
	h.last++
	id := h.last
	h.open[id] = &handle{value: value, stop: context.AfterFunc(ctx, func() { h.Close(id) })}
	return id, nil
}

// Close closes the value of id, if it is still open.
func (h *Handles) Close(id int64) {
	h.mu.Lock()
	held := h.open[id]
	delete(h.open, id)
	h.mu.Unlock()
	if held != nil {
		held.stop()
		_ = held.value.Close()
	}
}

// Lookup returns the value of id, as a T.
func Lookup[T io.Closer](h *Handles, id int64) (T, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.open[id]; found != nil {
		if value, ok := found.value.(T); ok {
			return value, nil
		}
	}
	var none T
	return none, ErrGone
}
