package engine

import (
	"context"
	"encoding/json"
	"fmt"
)

// This file bounds what Go holds on behalf of a scope while work is under way.
// JavaScript can start work faster than it is done: without a bound, a loop that
// waits for nothing fills the memory of the process long before its budget ends. The
// platform's own figures are not shown.

const (
	// MaxPending is how many Asyncs a scope may have under way.
	MaxPending = 10_000
	// MaxOutside is how many bytes Go may hold for a scope's Asyncs: what they
	// were given, and results that JavaScript has not got yet. As much as the heap.
	MaxOutside = DefaultMemoryLimit
)

// take counts n bytes. The error is for JavaScript.
func (s *Scope) take(n int64) error {
	if s.outside.Add(n) <= MaxOutside {
		return nil
	}
	s.outside.Add(-n)
	return &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("the operations that this request has under way hold more than %d MB; "+
		"await some before starting more", MaxOutside>>20)}
}

func (s *Scope) give(n int64) { s.outside.Add(-n) }

// held is work that holds n bytes while it is under way. The error is for
// JavaScript.
func (vm *VM) held(work Async, n int64) (Async, error) {
	scope := vm.scope
	if scope.pending.Load() >= MaxPending {
		return nil, &Error{Name: "QuotaExceededError", Message: fmt.Sprintf("this request has %d operations under way; "+
			"await some before starting more", MaxPending)}
	}
	if err := scope.take(n); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		defer scope.give(n)
		return work(ctx)
	}, nil
}

// sizeOf is how many bytes of text and data a value for VM.New holds.
func sizeOf(value any) (n int64) {
	switch v := value.(type) {
	case string:
		return int64(len(v))
	case []byte:
		return int64(len(v))
	case Lent:
		return int64(len(v.Bytes))
	case json.RawMessage:
		return int64(len(v))
	case []string:
		for _, s := range v {
			n += int64(len(s))
		}
	case []any:
		for _, item := range v {
			n += sizeOf(item)
		}
	case []Object:
		for _, item := range v {
			n += sizeOf(item)
		}
	case Object:
		for _, f := range v {
			n += sizeOf(f.Value)
		}
	}
	return n
}
