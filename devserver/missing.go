package devserver

import (
	"context"
	"time"
)

// This file misses the clients of requests whose body is not read to its end: net/http looks for them only behind that,
// and a Worker that never reads would go on for somebody who has left.

// missClient has gone called once the client of a request with a body has left. It looks until the body was read, after
// which net/http does, or stop is called. A client that said that it sends no more gets the time of halfClosed.
func missClient(ctx context.Context, body *pacedBody, gone func()) (stop func()) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return func() {}
	}
	since := time.Duration(0)
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		if ctx.Err() != nil || body.ended.Load() {
			return
		}
		half, whole := hungUp(c.Conn)
		if half {
			since += peerPoll
		}
		if whole || half && (since >= halfClosed || orphaned(c.Conn)) {
			gone()
			return
		}
		timer.Reset(peerPoll)
	})
	timer.Reset(peerPoll)
	return func() { timer.Stop() }
}
