//go:build race

package runtime_test

const (
	// slowdown is what the race detector makes of Go's own loops.
	slowdown = 10
	// late is how long after its budget a call of the host may end, in overshoots.
	late = 50
	// patience is how many times the budget is what a call is given.
	patience = 3
	// traces is how often a kill may come without a trace.
	traces = 4
)
