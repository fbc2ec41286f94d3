//go:build !race

package runtime_test

// See race_test.go: without the detector nothing is allowed for.
const (
	slowdown = 1
	late     = 1
	patience = 1
	traces   = 1
	killMS   = 50
)
