package language

import (
	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/offload"
)

// stackFuncs answer stack.js. authored is Options.Stack.
func stackFuncs(authored func(stack string) string) map[string]engine.Func {
	return map[string]engine.Func{
		// authored_stack(stack) -> the stack with positions in the author's files; null where they are not asked for
		"authored_stack": func(c *engine.Call) (any, error) {
			if authored == nil {
				return nil, nil
			}
			stack := c.String(0)
			return offload.Text(c, stack, func() (any, error) { return authored(stack), nil })
		},
	}
}
