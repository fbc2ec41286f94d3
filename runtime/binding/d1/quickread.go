package d1

import (
	"context"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file answers short reads on the isolate's own goroutine: for a row by its
// key, two goroutines that wait for each other take longer than SQLite.

// maxQuick is how many reads an isolate does before its event loop goes on.
const maxQuick = 128

// quickReads are those of one isolate.
type quickReads struct {
	count   int // since something was not quick
	readers map[*Database]*turnReader
}

// turnReader is a reader that an isolate keeps for a turn of its event loop. What
// it reads from the second time on is of one transaction, as long as nothing of
// this process was written meanwhile: nobody can tell the turn what others wrote.
type turnReader struct {
	of, reader *Database
	reads      int
	begun      bool
}

// try runs q if that takes no more than a moment: a read whose statement is
// compiled, on a connection that nobody uses. done is whether it ran; if not,
// nothing came of it.
func (k *quickReads) try(c *engine.Call, d *Database, q query, shape resultShape, column string) (out *jsonText, done bool, err error) {
	// Not before what the request asked for earlier, and not for ever in one turn.
	if d == nil || k.count >= maxQuick || !c.Scope().Idle() {
		return nil, false, nil
	}
	k.count++
	t := k.readers[d]
	if t == nil {
		if t = d.keepReader(); t == nil {
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

// keepReader is a reader that was used before; nil when none is free.
func (d *Database) keepReader() *turnReader {
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

func (t *turnReader) query(ctx context.Context, q query, w *rowWriter) (out *jsonText, done bool, err error) {
	r := t.reader
	if r.handle.stale || r.schema != t.of.schemas.Load() {
		return nil, false, nil
	}
	known := r.handle.cache[cacheKey{text: q.SQL}]
	if known == nil || !known.use(r.handle).reads() {
		return nil, false, nil
	}
	if known.slow > 0 {
		known.slow--
		return nil, false, nil
	}
	t.reads++
	over, err := r.handle.runBriefly(moment, func() error {
		if err := t.begin(); err != nil {
			return err
		}
		return r.run(ctx, q, w)
	})
	if over {
		known.slow = slowUses
	}
	out, err = w.done(err)
	return out, !over || err == nil, err
}

// begin has the reader know what was written, and keep what it sees if it reads on.
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
	return t.reader.handle.trusted("BEGIN")
}

func (t *turnReader) commit() error {
	t.begun = false
	h := t.reader.handle
	if sqlite3.Xsqlite3_get_autocommit(h.tls, h.db) != 0 {
		return nil
	}
	return h.trusted("COMMIT")
}

// end gives the reader back.
func (t *turnReader) end() {
	if t.begun && t.reader.handle.conn.Raw(func(any) error { return t.commit() }) != nil {
		t.reader.closeHandle()
	}
	t.of.readers.release(t.reader)
}
