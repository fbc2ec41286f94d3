package language

import "github.com/pages-toolchain/pages/runtime/engine"

func objectFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// is_ordinary(value) -> whether it is an array or an object of no built-in kind
		"is_ordinary": func(c *engine.Call) (any, error) { return c.IsOrdinary(0), nil },
		// is_proxy(value)
		"is_proxy": func(c *engine.Call) (any, error) { return c.IsProxy(0), nil },
		// proxy_target(value) -> what a Proxy stands for, undefined if it was revoked; null of what is none
		"proxy_target": func(c *engine.Call) (any, error) {
			if !c.IsProxy(0) {
				return nil, nil
			}
			if target, err := c.ProxyTarget(0); err == nil {
				return target, nil
			}
			return engine.Undefined, nil
		},
		// json_text(value, gap) -> JSON, or undefined when the value is not plain
		"json_text": func(c *engine.Call) (any, error) {
			text, ok, err := c.JSON(0, c.String(1))
			if !ok || err != nil {
				return engine.Undefined, err
			}
			return text, nil
		},
		// keep_alive(): this job keeps something alive until it ends
		"keep_alive": func(c *engine.Call) (any, error) {
			c.KeepAlive()
			return nil, nil
		},
	}
}
