// Package console takes the console output of a Worker.
//
// In: the calls of console's methods, and uncaught exceptions. Out: an [Entry] each, to the function given to [Funcs]; it is called on the
// isolate's goroutine. It has no errors: a line that is too long is cut. The package keeps nothing and never prints.
package console

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const maxText = 64 << 10 // bytes of one line

// Entry is one line that the Worker wrote to its console.
type Entry struct {
	// Level is log, info, debug, warn, error or trace.
	Level string
	// Text is the formatted text; it may have several lines.
	Text string
	// Stack is the stack of the call of console, or of an uncaught exception, in positions of the
	// bundle.
	Stack string
	// Called is true for calls of console, false for messages of the runtime.
	Called bool
	// Args is the JSON array of its arguments, as far as JSON can express them; empty without
	// arguments, and for more than 16 KiB.
	Args string
}

// Funcs returns the host functions of console, which give each line to log.
func Funcs(log func(*engine.Scope, Entry)) map[string]engine.Func {
	return map[string]engine.Func{
		// console_log(level, text, stack, JSON of the arguments or nothing)
		"console_log": func(c *engine.Call) (any, error) {
			e := Entry{Level: c.String(0), Text: Truncate(c.String(1)), Stack: Truncate(c.String(2))}
			if !c.IsNullish(3) {
				e.Called, e.Args = true, c.String(3)
			}
			log(c.Scope(), e)
			return engine.Undefined, nil
		},
		// promise_state(promise) -> [0 pending, 1 fulfilled or 2 rejected, with what]
		"promise_state": func(c *engine.Call) (any, error) {
			state, result := c.Promise(0)
			return []any{state, result}, nil
		},
	}
}

// Truncate cuts a text that is too long for a line.
func Truncate(text string) string {
	if len(text) <= maxText {
		return text
	}
	return fmt.Sprintf("%s… %d more bytes", strings.ToValidUTF8(text[:maxText], ""), len(text)-maxText)
}
