package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// overshoot is the promised limit of the time between the end of a budget and the end of the turn.
	overshoot = 5 * time.Millisecond
	// tries is the number of attempts in which a bomb must end in time once: a processor that is shared with another machine runs slower at
	// times, by its own clock.
	tries = 25
)

// TestWaitingIsFree: time in which a turn waits is not counted.
func TestWaitingIsFree(t *testing.T) {
	const budget = 50 * time.Millisecond
	wait := func(*engine.Call) (any, error) { <-time.After(2 * budget); return nil, nil }
	i := start(t, engine.IsolateOptions{Funcs: map[string]engine.Func{
		"wait":  wait,
		"apart": func(c *engine.Call) (any, error) { return c.Offload(func() (any, error) { return wait(c) }) },
	}})
	for _, code := range []string{"host.wait(); 1", "host.apart(); 1"} {
		s := scope(t, budget)
		if _, err := run(i, s, code); err != nil || s.CPU() >= budget {
			t.Errorf("%s: %v after %v", code, err, s.CPU())
		}
	}
}
