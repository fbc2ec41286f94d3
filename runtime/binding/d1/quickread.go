package d1

import (
	"context"
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file runs short reads on the isolate's own goroutine: for a row by its key, switching between two goroutines takes
// longer than SQLite. A timer would cost as much again, so SQLite's progress handler checks the deadline.

const (
	// maxQuickReads bounds the quick reads of an isolate in one turn of its event loop.
	maxQuickReads = 128
	// quickReadTime bounds the time for which a query may block its isolate.
	quickReadTime = 500 * time.Microsecond
	// slowUses is the number of uses for which a slow statement is not tried as a quick read. It may only have waited
	// for a processor.
	slowUses = 100
	// progressSteps is the number of SQLite instructions between two checks, a few microseconds.
	progressSteps = 1000
)

type quickReads struct {
	count   int // since the last slow one
	readers map[*Database]*turnReader
}

// turnReader is a reader that an isolate keeps for a turn of its event loop. From the second read on, all are of one
// transaction, unless this process writes in between. Writes of other processes show in the next turn.
type turnReader struct {
	of, reader *Database
	reads      int
	begun      bool
}

// run runs q if that takes no longer than quickReadTime: a read whose statement is compiled, on a connection that is free.
// done is false if it did not run; then it has no effect.
func (k *quickReads) run(
	c *engine.Call, d *Database, q Query, shape resultShape, column string,
) (out *jsonText, done bool, err error) {
	// Earlier calls come first, and a turn is bounded.
	if d == nil || k.count >= maxQuickReads || !c.Scope().Idle() || d.queue.Writes() {
		return nil, false, nil
	}
	k.count++
	t := k.readers[d]
	if t == nil {
		if t = d.acquireReader(); t == nil {
			return nil, false, nil
		}
		if k.readers == nil {
			k.readers = map[*Database]*turnReader{}
		}
		k.readers[d] = t
		c.AfterTurn(func() {
			delete(k.readers, d)
			t.end()
		})
	}
	w := newRowWriter(shape, column, func() *engine.Buffer { return c.Buffer(maxResultBytes, errResultSize) })
	return t.query(c.Context(), q, w)
}

// acquireReader returns a reader that was used before; nil when none is free.
func (d *Database) acquireReader() *turnReader {
	select {
	case <-d.readers.free:
	default:
		return nil
	}
	r := d.reader()
	if r == nil || r.handle == nil {
		d.readers.release(r)
		return nil
	}
	return &turnReader{of: d, reader: r}
}

func (t *turnReader) query(ctx context.Context, q Query, w *rowWriter) (out *jsonText, done bool, err error) {
	r := t.reader
	if r.handle.stale || r.schema != t.of.schemas.Load() {
		return nil, false, nil
	}
	known := r.handle.cache[cacheKey{text: q.SQL}]
	if known == nil || !known.use(r.handle).onlyReads() {
		return nil, false, nil
	}
	if known.slow > 0 {
		known.slow--
		return nil, false, nil
	}
	t.reads++
	over, err := r.handle.runBriefly(quickReadTime, func() error {
		if err := t.begin(); err != nil {
			return err
		}
		return r.run(ctx, q, w)
	})
	if over {
		known.slow = slowUses
		if err != nil { // it was stopped, and runs again elsewhere
			w.span.Drop()
		}
	}
	out, err = w.finish(err)
	return out, !over || err == nil, err
}

// begin makes the reader see the latest writes, and from its second read on keep that view in a transaction.
func (t *turnReader) begin() error {
	if t.begun && t.of.uses.Load() != t.reader.seen {
		if err := t.commit(); err != nil {
			return err
		}
	}
	if err := t.reader.catchUp(); err != nil || t.begun || t.reads == 1 {
		return err
	}
	t.begun = true
	return t.reader.handle.runTrusted("BEGIN")
}

func (t *turnReader) commit() error {
	t.begun = false
	h := t.reader.handle
	if sqlite3.Xsqlite3_get_autocommit(h.tls, h.db) != 0 {
		return nil
	}
	return h.runTrusted("COMMIT")
}

func (t *turnReader) end() {
	if t.begun && t.reader.handle.conn.Raw(func(any) error { return t.commit() }) != nil {
		t.reader.closeHandle()
	}
	t.of.readers.release(t.reader)
}

// deadlines has the deadline of each connection, in nanoseconds since clockStart, 0 for none. SQLite passes only a
// number to its callback.
var (
	deadlines  sync.Map     // uintptr of the sqlite3 to *int64, which one goroutine uses
	clockStart = time.Now() //nolint:forbidigo // it only measures durations
)

func spentTime() int64 { return int64(time.Since(clockStart)) }

// checkDeadlineC is checkDeadline as the translated C calls it: a pointer to a pointer to the code, which is constant for a
// function that is not a closure.
var checkDeadlineC = *(*uintptr)(unsafe.Pointer(&struct {
	f func(*libc.TLS, uintptr) int32
}{checkDeadline}))

// checkDeadline is SQLite's progress handler; 1 interrupts the statement of db.
func checkDeadline(_ *libc.TLS, db uintptr) int32 {
	found, _ := deadlines.Load(db)
	if end, ok := found.(*int64); ok && *end != 0 && spentTime() > *end {
		return 1
	}
	return 0
}

// runBriefly runs fn on the connection, and interrupts its statement after limit. over reports that limit has passed.
func (h *sqlHandle) runBriefly(limit time.Duration, fn func() error) (over bool, err error) {
	end := spentTime() + int64(limit)
	*h.deadline = end
	err = h.conn.Raw(func(any) error { return fn() })
	*h.deadline = 0
	return spentTime() > end, err
}
