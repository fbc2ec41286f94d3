package node

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// newError returns an error of a class with a code, as Node.js gives it.
func newError(class, code, format string, args ...any) error {
	return &engine.Error{
		Name: class, Message: fmt.Sprintf(format, args...),
		Props: []engine.Field{{Name: "code", Value: code}},
	}
}

// errGlobalScope is the platform's own text.
var errGlobalScope = &engine.Error{Name: "Error", Message: "Disallowed operation called within global scope. " +
	"Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values " +
	"are not allowed within global scope. To fix this error, perform this operation within a handler."}

// needRequest refuses what may not be done while the module is evaluated.
func needRequest(c *engine.Call) error {
	if c.Scope().Value == nil {
		return errGlobalScope
	}
	return nil
}
