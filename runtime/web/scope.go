package web

import "github.com/pages-toolchain/pages/runtime/engine"

func (h *Host) scopeFuncs() map[string]engine.Func {
	return map[string]engine.Func{
		// compatibility_flags() -> name, whether it is set, name, …
		"compatibility_flags": func(*engine.Call) (any, error) {
			return []any{"global_fetch_strictly_public", h.o.StrictlyPublic, "nodejs_compat", h.o.NodeJS}, nil
		},
	}
}
