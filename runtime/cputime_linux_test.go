package runtime_test

import "time"

const (
	// overshoot is the promised limit of the time between the end of a budget and the end of the turn.
	overshoot = 5 * time.Millisecond
	// tries is the number of attempts in which a bomb must end in time once: a processor that is shared with another machine runs slower at
	// times, by its own clock.
	tries = 25
)
