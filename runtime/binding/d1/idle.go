package d1

import (
	"sync/atomic"
	"time"
)

// This file closes the connections of a database that nobody has used for a while: each is two open files, and SQLite gives
// those back only once the last is closed.

// idleAfter is how long a connection stays open that nobody uses.
const idleAfter = 10 * time.Second

// idle tells when a database is not used.
type idle struct {
	uses  atomic.Int64
	armed atomic.Bool // a timer looks once more
}

// noteUse notes a use. A reader's is its writer's.
func (d *Database) noteUse() {
	if d.writer != nil {
		d = d.writer
	}
	d.idle.uses.Add(1)
	if !d.idle.armed.Load() && d.idle.armed.CompareAndSwap(false, true) {
		d.scheduleIdleCheck()
	}
}

// scheduleIdleCheck closes the connections later, unless there is a use until then.
func (d *Database) scheduleIdleCheck() {
	uses := d.idle.uses.Load()
	time.AfterFunc(idleAfter, func() {
		if d.idle.uses.Load() != uses {
			d.scheduleIdleCheck()
			return
		}
		d.idle.armed.Store(false)
		d.disconnect()
	})
}

// disconnect closes the connections that nobody uses at the moment. The next use opens them again.
func (d *Database) disconnect() {
	d.readers.disconnect()
	select {
	case <-d.turn:
		d.closeHandle()
		d.turn <- struct{}{}
	default:
	}
}

func (r *readers) disconnect() {
	r.mu.Lock()
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	for _, one := range idle {
		one.closeHandle()
	}
}
