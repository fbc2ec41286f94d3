// Package hostcall is what the host functions of all bindings share: bodies and uploads that JavaScript holds by number,
// options that cross as JSON, and errors as a Worker catches them.
//
// [Handles] belong to one isolate and are safe for concurrent use; each value is closed with the request that opened it.
// The package knows no binding: a refusal that has words of its own implements WorkerError.
package hostcall

import (
	"encoding/json"
	"errors"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// DecodeOptions reads the JSON of argument i into v; there may be none.
func DecodeOptions(c *engine.Call, i int, v any) error {
	if c.IsNullish(i) {
		return nil
	}
	if err := json.Unmarshal([]byte(c.String(i)), v); err != nil {
		return engine.TypeError("the options are not valid: %v", err)
	}
	return nil
}

// WorkerError is err as JavaScript is to see it. A refusal of a binding words itself; what wraps an
// *engine.Error gives way to it.
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

// NotBound is a call for a binding that the Worker does not have.
func NotBound(kind, id string) error {
	return &engine.Error{Name: "Error", Message: "there is no " + kind + " binding " + id}
}
