package web

import (
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/expression"
)

// wordingFuncs answer wording.js and json.js.
func (h *Host) wordingFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// called_at(file, line, column) -> the callees of the calls that this may be of
		"called_at": func(c *engine.Call) (any, error) {
			return expression.Called(h.source(c), int(c.Int(1)), int(c.Int(2))), nil
		},
		// iterated_at(file, line, column) -> what is gone through there, "" for unknown
		"iterated_at": func(c *engine.Call) (any, error) {
			return expression.Iterated(h.source(c), int(c.Int(1)), int(c.Int(2))), nil
		},
		// json_problem(text) -> what V8 says of a text that is no JSON, "" of one that is
		"json_problem": func(c *engine.Call) (any, error) {
			text := c.String(0)
			return apartText(c, text, func() (any, error) { return jsonProblem(text), nil })
		},
	}
}

// source is the code of the module that argument 0 names.
func (h *Host) source(c *engine.Call) []byte {
	if h.o.Source == nil {
		return nil
	}
	return h.o.Source(c.String(0))
}
