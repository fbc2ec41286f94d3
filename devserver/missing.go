package devserver

import (
	"context"
	"time"
)

// This file misses the clients that have left. net/http does so only behind the end of a
// body, and until the client has sent anything of its next request: a Worker that never
// reads, or is asked in advance, would go on for somebody who has left.

// missClient has gone called once the client of a request has left, until stop is called.
// A client that sends no more may still wait for its answer: it gets halfClosed for that,
// from when the last of what it sent was read.
func (c *conn) missClient(ctx context.Context, gone func()) (stop func()) {
	since, came := time.Duration(0), c.came.Load()
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		if ctx.Err() != nil || c.taken.Load() {
			return
		}
		half, whole := hungUp(c.Conn)
		switch now := c.came.Load(); {
		case now != came:
			since, came = 0, now
		case half:
			since += peerPoll
		}
		if whole || half && (since >= halfClosed || isOrphaned(c.Conn)) {
			gone()
			return
		}
		timer.Reset(peerPoll)
	})
	timer.Reset(peerPoll)
	return func() { timer.Stop() }
}
