package main

import (
	"fmt"
	"iter"
	"time"
)

// part is what can be measured by itself.
type part struct {
	name     string
	measure  func(b *bench) measurer
	promises []promise
	// weight is its part of the time for rounds, and after the time that it needs
	// beside them.
	weight int
	after  time.Duration
}

// plan says until when each of the parts may begin another round, when the first
// begins now: what one does not need is left to those after it.
func (b *bench) plan(left []part, end time.Time) time.Time {
	if end.IsZero() {
		return end
	}
	weights, spare := 0, end.Sub(b.now())
	for _, p := range left {
		weights += p.weight
		spare -= p.after
	}
	return b.now().Add(max(0, spare) * time.Duration(left[0].weight) / time.Duration(weights))
}

// turns are the rounds of a part: the first one always, and another as long as
// there is time for one like those before.
func (b *bench) turns() iter.Seq[int] {
	return func(yield func(int) bool) {
		var longest time.Duration
		for round := range b.rounds {
			began := b.now()
			if round > 0 && !b.until.IsZero() && began.Add(longest).After(b.until) {
				b.say("there was time for %d of %d rounds", round, b.rounds)
				return
			}
			if !yield(round) {
				return
			}
			longest = max(longest, b.now().Sub(began))
		}
	}
}

// rotate measures all sides in each round, another one first each time.
func (b *bench) rotate(sides []*side, what string, measure func(*side) error) error {
	for round := range b.turns() {
		for turn := range sides {
			s := sides[(round+turn)%len(sides)]
			b.say("round %d of %d: %s%s", round+1, b.rounds, what, s.name)
			if err := measure(s); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return nil
}
