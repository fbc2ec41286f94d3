//go:build race

package engine_test

// slowdown is what the race detector makes of Go's own loops, at the worst: it is
// there for races, and the tests without it for time.
const slowdown = 100
