package web

import "github.com/pages-toolchain/pages/runtime/engine"

func objectFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// is_ordinary(value) -> whether it is an array or an object of no built-in kind
		"is_ordinary": func(c *engine.Call) (any, error) { return c.IsOrdinary(0), nil },
		// is_proxy(value)
		"is_proxy": func(c *engine.Call) (any, error) { return c.IsProxy(0), nil },
		// keep_alive(): this job keeps something alive until it ends
		"keep_alive": func(c *engine.Call) (any, error) {
			c.KeepAlive()
			return nil, nil
		},
	}
}
