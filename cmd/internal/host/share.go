package host

import "runtime"

// This file keeps sites from holding the processors against each other. A Worker's turn that goes on and on is a
// goroutine that Go takes from its processor every 10 ms, for one that waits: with as many such turns as processors,
// each step of a request, and it takes several, waits for that long. The system's own scheduler is fairer to who
// works little. It gets more threads to choose from.

const (
	// fewestTurns is how many turns of a site run at a time on a machine with one processor.
	fewestTurns = 2
	// greedySites is how many sites may use all turns that they have before others wait for Go's scheduler.
	greedySites = 2
	// mostSpare bounds that where there are many processors: their threads cost the collector.
	mostSpare = 16
)

// ShareProcessors makes room for the turns of greedy sites, and returns how many turns of one site run at a time.
func shareProcessors() (turns int) {
	processors := runtime.GOMAXPROCS(0)
	turns = max(fewestTurns, processors)
	runtime.GOMAXPROCS(processors + min(greedySites*turns, mostSpare))
	return turns
}
