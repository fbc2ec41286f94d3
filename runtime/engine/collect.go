package engine

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// This file has Go collect its garbage sooner while Workers have it hold much, and give
// memory back to the system after that. By itself it lets the heap grow to twice what
// lives, which for buffers of a hundred megabytes is a hundred too many, and it collects
// only every two minutes where nothing is allocated.

const (
	// muchHeld is from how many bytes on garbage is collected sooner, and by how much more
	// or less the limit follows.
	muchHeld = 16 << 20
	// heapSlack is how much garbage there may be beside what is held.
	heapSlack = 40 << 20
	// quietTime is how long after the last large buffer memory is given back.
	quietTime = time.Second
)

// pressure is of the process, as Go's collector is.
type pressure struct {
	mapped atomic.Int64 // bytes of what is held that do not lie in Go's heap

	mu    sync.Mutex
	base  int64 // of the heap when it began; 0 while nothing is done
	limit int64
	quiet bool // little is held, since the turn of that number
	turn  int
}

var collector pressure //nolint:gochecknoglobals // there is one heap

// held hears how many bytes are held now.
func (p *pressure) held(used int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if used < muchHeld {
		if p.base != 0 && !p.quiet {
			p.quiet, p.turn = true, p.turn+1
			turn := p.turn
			time.AfterFunc(quietTime, func() { p.relax(turn) })
		}
		return
	}
	p.quiet = false
	if p.base == 0 {
		if debug.SetMemoryLimit(-1) != math.MaxInt64 {
			return // whoever started the process set one: it stays
		}
		p.base = heapNow()
	}
	limit := p.base + max(0, used-p.mapped.Load())/muchHeld*muchHeld + muchHeld + heapSlack
	if limit != p.limit {
		p.limit = limit
		debug.SetMemoryLimit(limit)
	}
}

// relax is for the time after, unless much was held again since that turn: Go collects as
// it likes, and what is free is the system's.
func (p *pressure) relax(turn int) {
	p.mu.Lock()
	if !p.quiet || p.turn != turn {
		p.mu.Unlock()
		return
	}
	p.quiet, p.base, p.limit = false, 0, 0
	debug.SetMemoryLimit(math.MaxInt64)
	p.mu.Unlock()
	debug.FreeOSMemory()
}

// heapNow is what Go has of the system's memory, but for what it has given back and what
// its last collection found to be garbage.
func heapNow() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(samples)
	at := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	return at(0) - at(1) - at(3) - max(0, at(2)-at(4))
}
