package web

import "github.com/pages-toolchain/pages/runtime/engine"

func keepFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// keep_alive(): this job keeps something alive until it ends
		"keep_alive": func(c *engine.Call) (any, error) {
			c.KeepAlive()
			return nil, nil
		},
	}
}
