// Package hostcall has the shared parts of the host functions of bindings: bodies and uploads that JavaScript holds by number,
// options that cross as JSON, the order of calls, and errors as a Worker catches them.
//
// [Handles] belong to one isolate and are safe for concurrent use; each value is closed with the request that opened it.
// The package knows no binding: a refusal with its own words implements WorkerError.
package hostcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// DecodeOptions reads the JSON of argument i, if there is any, into v.
func DecodeOptions(c *engine.Call, i int, v any) error {
	if c.IsNullish(i) {
		return nil
	}
	if err := json.Unmarshal([]byte(c.String(i)), v); err != nil {
		return engine.TypeError("the options are not valid: %v", err)
	}
	return nil
}

// WorkerError converts err for a Worker: the result of the WorkerError method of a binding's refusal, or the *engine.Error that err
// wraps.
func WorkerError(err error) error {
	if refusal, ok := errors.AsType[interface {
		error
		WorkerError() *engine.Error
	}](err); ok {
		return refusal.WorkerError()
	}
	if named, ok := errors.AsType[*engine.Error](err); ok {
		return named
	}
	return err
}

// NotBound refuses a call for a binding that the Worker does not have.
func NotBound(kind, id string) error {
	return &engine.Error{Name: "Error", Message: "there is no " + kind + " binding " + id}
}

// AppendComma appends the comma before element i of a list.
func AppendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// AppendJSONString writes s as a JSON string; invalid UTF-8 becomes U+FFFD, like in engine.DecodeUTF8.
func AppendJSONString[T string | []byte](b []byte, s T) []byte {
	return append(AppendJSONChars(append(b, '"'), s), '"')
}

// AppendJSONChars is AppendJSONString without the quotes.
func AppendJSONChars[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			sequence := []byte(s[i:min(i+utf8.UTFMax, len(s))])
			n, ok := engine.UTF8Sequence(sequence)
			if ok {
				b = append(b, sequence[:n]...)
			} else {
				b = utf8.AppendRune(b, utf8.RuneError)
			}
			i += n
			continue
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return b
}

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
