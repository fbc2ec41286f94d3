//go:build race

package runtime_test

const (
	// slowdown is the cost of the race detector in Go's own loops, as a factor.
	slowdown = 10
	// late is the limit of the time between a budget and the end of a host call, in overshoots.
	late = 50
	// patience is the time of a call, in multiples of the budget.
	patience = 3
	// traces is the number of kills that may lack a trace.
	traces = 4
	// killMS is a CPU limit in milliseconds that only an endless loop reaches: the first touch of memory is slow under the detector.
	killMS = 400
)
