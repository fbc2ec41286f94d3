package filewatch

import (
	"slices"
	"time"
)

const (
	// settleQuiet is the quiet time after which a save counts as complete, and settleStorm the one after a burst of more than stormSize
	// events: checkouts and generators pause longer between two files than editors do.
	settleQuiet = 15 * time.Millisecond
	settleStorm = 120 * time.Millisecond
	stormSize   = 16
	// settleMost is the longest delay of a build by a disk that never gets quiet.
	settleMost = 3 * time.Second
)

// batch collects changes until they settle. It has no clock: the caller passes the time of each change.
type batch struct {
	quiet, storm, most time.Duration

	paths       map[string]bool // the value: the path first appeared within this batch
	events      int
	all         bool
	first, last time.Time
}

// add adds a change of one path.
func (b *batch) add(path string, created bool, now time.Time) {
	if b.paths == nil {
		b.paths = map[string]bool{}
	}
	if _, known := b.paths[path]; !known {
		b.paths[path] = created
	}
	b.touch(now)
}

// addAll records that any file may have changed.
func (b *batch) addAll(now time.Time) {
	b.all = true
	b.touch(now)
}

func (b *batch) touch(now time.Time) {
	if b.events == 0 {
		b.first = now
	}
	b.events++
	b.last = now
}

func (b *batch) empty() bool { return b.events == 0 }

// due returns the time at which the batch settles if no further change comes.
func (b *batch) due() time.Time {
	wait := b.quiet
	if b.events > stormSize {
		wait = b.storm
	}
	settled, latest := b.last.Add(wait), b.first.Add(b.most)
	if latest.Before(settled) {
		return latest
	}
	return settled
}

// take empties the batch and returns its paths, sorted, without files that appeared and disappeared within it, such as editors' temporary
// files. all means that any file may have changed.
func (b *batch) take(exists func(path string) bool) (changed []string, all bool) {
	for path, created := range b.paths {
		if !created || exists(path) {
			changed = append(changed, path)
		}
	}
	all = b.all
	b.paths, b.events, b.all = nil, 0, false
	slices.Sort(changed)
	return changed, all
}
