package web

import "github.com/pages-toolchain/pages/runtime/engine"

func (h *Host) consoleFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// console_log(level, text, stack)
		"console_log": func(c *engine.Call) (any, error) {
			h.log(c.Scope(), ConsoleEntry{Level: c.String(0), Text: c.String(1), Stack: c.String(2)})
			return engine.Undefined, nil
		},
	}
}

func (h *Host) log(s *engine.Scope, e ConsoleEntry) {
	if h.o.Console != nil {
		h.o.Console(s, e)
	}
}
