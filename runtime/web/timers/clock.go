package timers

import (
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// clockStep is the resolution of performance.now: fine enough to measure with,
// too coarse to tell one cache line from another.
const clockStep = 5 * time.Microsecond

// ClockFuncs returns the host functions of performance, whose origin is when it is called.
func ClockFuncs(now func() time.Time) map[string]engine.Func {
	origin := now()
	return map[string]engine.Func{
		// clock_now() -> milliseconds since the origin, 0 while the clock stands
		"clock_now": func(c *engine.Call) (any, error) {
			if c.Scope().ClockStopped() {
				return 0.0, nil
			}
			return milliseconds(now().Sub(origin).Truncate(clockStep)), nil
		},
		// clock_origin() -> milliseconds since 1970
		"clock_origin": func(*engine.Call) (any, error) {
			return float64(origin.UnixMicro()) / 1e3, nil
		},
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
