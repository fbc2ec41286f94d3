//go:build race

package engine_test

// slowdown is the cost of the race detector in Go's own loops, as a factor.
const slowdown = 5
