//go:build race

package engine_test

// slowdown is what the race detector makes of Go's own loops.
const slowdown = 5
