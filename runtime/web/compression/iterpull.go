package compression

import (
	"iter"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// pull is iter.Pull2 on a goroutine of its own: a coroutine must stay on the
// thread it was made on when that is locked, and each turn locks its own. A
// panic of seq comes out of next. stop waits until seq has returned. spent hears of
// the CPU time of seq, before what it made is given.
func pull(seq iter.Seq2[[]byte, error], spent func(time.Duration)) (next func() ([]byte, error, bool), stop func()) {
	type piece struct {
		bytes []byte
		err   error
	}
	var panicked any
	wanted, given, over := make(chan struct{}), make(chan piece), false
	go func() {
		defer close(given)
		defer func() { panicked = recover() }()
		if _, ok := <-wanted; !ok {
			return
		}
		took := engine.Busy()
		for b, err := range seq {
			spent(took())
			given <- piece{b, err}
			if _, ok := <-wanted; !ok {
				return
			}
			took = engine.Busy()
		}
		spent(took())
	}()
	next = func() ([]byte, error, bool) {
		if over {
			return nil, nil, false
		}
		wanted <- struct{}{}
		if p, ok := <-given; ok {
			return p.bytes, p.err, true
		}
		over = true
		if panicked != nil {
			panic(panicked)
		}
		return nil, nil, false
	}
	stop = func() {
		if !over {
			over = true
			close(wanted)
			<-given
		}
	}
	return next, stop
}
