package binding

import (
	"encoding/json"
	"errors"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// options reads the JSON of argument i into v; there may be none.
func options(c *engine.Call, i int, v any) error {
	if c.IsNullish(i) {
		return nil
	}
	if err := json.Unmarshal([]byte(c.String(i)), v); err != nil {
		return engine.TypeError("the options are not valid: %v", err)
	}
	return nil
}

// jsError is err as JavaScript is to see it. A refusal of a binding words itself; what wraps an
// *engine.Error gives way to it.
func jsError(err error) error {
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

// notBound is a call for a binding that the Worker does not have.
func notBound(kind, id string) error {
	return &engine.Error{Name: "Error", Message: "there is no " + kind + " binding " + id}
}
