package images

import (
	"context"
	"runtime"
	"slices"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Queue holds the images that a process works on to its memory and its processors. All
// sites of a process share one, and each takes part in it with a few images at a time: so a
// site with many does not keep out the others. It is safe for concurrent use.
type Queue struct {
	memory *engine.HostMemory
	lanes  lanes
}

// lanes are places for images: slots for all of them, and one for those that are
// large.
type lanes struct{ slots, large chan struct{} }

func newLanes(slots int) lanes {
	return lanes{slots: make(chan struct{}, slots), large: make(chan struct{}, 1)}
}

// NewQueue returns a queue of images whose pixels take what memory has; nil means one
// of its own. As many images are worked on at once as there are processors, and at least
// two: one that is large leaves a place for small ones.
func NewQueue(memory *engine.HostMemory) *Queue {
	if memory == nil {
		memory = engine.NewHostMemory(0)
	}
	return &Queue{memory: memory, lanes: newLanes(max(runtime.GOMAXPROCS(0), 2))}
}

// maxBytes is the most bytes that one image may take: an eighth of all stays for small ones.
func (q *Queue) maxBytes() int64 { return q.memory.Total() / 8 * 7 }

// enter waits for the turn of an image of a site and for room for so many bytes; leave
// gives back what it took. More than one image may take is refused at once. An image that
// waits for others that are large has no slot yet.
func (q *Queue) enter(ctx context.Context, site lanes, bytes int64) (leave func(), err error) {
	if most := q.maxBytes(); bytes > most {
		return nil, refuse(codeArea, "The image takes %d MB of memory to work on, over the limit of %d MB; "+
			"make it smaller before, ask for a smaller one, or store it neither interlaced nor progressive", bytes>>20+1, most>>20)
	}
	var taken []func()
	leave = func() {
		for _, back := range slices.Backward(taken) {
			back()
		}
	}
	lanes := []chan struct{}{site.slots, q.lanes.slots}
	if bytes > largeImage {
		lanes = []chan struct{}{site.large, q.lanes.large, site.slots, q.lanes.slots}
	}
	for _, lane := range lanes {
		select {
		case lane <- struct{}{}:
			taken = append(taken, func() { <-lane })
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	release, err := q.memory.Reserve(ctx, bytes)
	if err != nil {
		leave()
		return nil, err
	}
	taken = append(taken, release)
	return leave, nil
}
