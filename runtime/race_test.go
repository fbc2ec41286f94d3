//go:build race

package runtime_test

const (
	// slowdown is the cost of the race detector in Go's own loops, as a factor.
	slowdown = 10
	// late is how long after its budget a call of the host may end, in overshoots.
	late = 50
	// patience is the time of a call, in multiples of the budget.
	patience = 3
	// traces is how often a kill may come without a trace.
	traces = 4
)
