package web

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// maxConsole is the most text, in bytes, that one line of the console keeps.
const maxConsole = 64 << 10

func (h *Host) consoleFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// console_log(level, text, stack, JSON of the arguments or nothing)
		"console_log": func(c *engine.Call) (any, error) {
			e := ConsoleEntry{Level: c.String(0), Text: cut(c.String(1)), Stack: cut(c.String(2))}
			if !c.IsNullish(3) {
				e.Called, e.Args = true, c.String(3)
			}
			h.log(c.Scope(), e)
			return engine.Undefined, nil
		},
		// promise_state(promise) -> [0 pending, 1 fulfilled or 2 rejected, with what]
		"promise_state": func(c *engine.Call) (any, error) {
			state, result := c.Promise(0)
			return []any{state, result}, nil
		},
	}
}

func (h *Host) log(s *engine.Scope, e ConsoleEntry) {
	if h.o.Console != nil {
		h.o.Console(s, e)
	}
}

func cut(text string) string {
	if len(text) <= maxConsole {
		return text
	}
	return fmt.Sprintf("%s… %d more bytes", strings.ToValidUTF8(text[:maxConsole], ""), len(text)-maxConsole)
}
