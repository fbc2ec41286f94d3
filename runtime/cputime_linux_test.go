package runtime_test

import "time"

const (
	// overshoot is how long after its budget a turn may end at most: the promise.
	overshoot = 5 * time.Millisecond
	// tries is how often a bomb may be thrown until it ends in time: a processor
	// that is shared with another machine runs slower at times, by its own clock.
	tries = 25
)
