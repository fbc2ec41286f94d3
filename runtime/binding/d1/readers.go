package d1

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// This file lets reads go on beside the one writer, each on a connection of its
// own: a query that takes long keeps neither writes nor other reads waiting.

const (
	// maxReaders is how many reads of a Worker run at once.
	maxReaders = 4
	// MaxConns is how many connections a Database keeps while it is in use.
	MaxConns = maxReaders + 1
)

// readers are the connections of a database that only read. Each is a Database
// without readers of its own.
type readers struct {
	free chan struct{} // a token for each that is not in use
	mu   sync.Mutex
	// idle ends with the one that was used last, which has the most compiled.
	idle   []*Database
	closed bool
}

func newReaders() *readers {
	r := &readers{free: make(chan struct{}, maxReaders)}
	for range maxReaders {
		r.free <- struct{}{}
	}
	return r
}

// reader is one that the caller gives back; nil once the database is closed.
func (d *Database) reader() *Database {
	r := d.readers
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if last := len(r.idle) - 1; last >= 0 {
		found := r.idle[last]
		r.idle = r.idle[:last]
		return found
	}
	fresh := New(d.pool, d.o)
	fresh.readers, fresh.writer = nil, d
	return fresh
}

func (r *readers) release(one *Database) {
	if one != nil {
		r.mu.Lock()
		r.idle = append(r.idle, one)
		r.mu.Unlock()
		one.writer.noteUse()
	}
	r.free <- struct{}{}
}

// close waits for the reads under way.
func (r *readers) close() {
	for range maxReaders {
		<-r.free
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.idle {
		one.closeHandle()
	}
	r.idle, r.closed = nil, true
	for range maxReaders {
		r.free <- struct{}{}
	}
}

// errWriter is a query that is the writer's.
var errWriter = errors.New("this is no read")

// read runs q on a connection that only reads; errNotRead if q is for the writer.
func (d *Database) read(ctx context.Context, q query, w *rowWriter) error {
	if !beginsLikeQuery(q.SQL) {
		return errWriter
	}
	select {
	case <-d.readers.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	r := d.reader()
	defer d.readers.release(r)
	if r == nil {
		return errWriter
	}
	return r.withConnection(ctx, func(ctx context.Context) error {
		if err := r.catchUp(); err != nil {
			return err
		}
		s, err := r.prepare(q.SQL)
		if err != nil {
			return errWriter // the writer says why
		}
		alone := s.reads() && s.rest == ""
		s.close()
		if !alone {
			return errWriter
		}
		return r.run(ctx, q, w)
	})
}

// beginsLikeQuery reports whether the text begins like a query.
func beginsLikeQuery(text string) bool {
	text = strings.TrimLeft(text, " \t\n\r\f")
	for _, word := range [...]string{"SELECT", "WITH", "VALUES"} {
		if len(text) >= len(word) && strings.EqualFold(text[:len(word)], word) {
			return true
		}
	}
	return false
}

// reads reports whether the statement does nothing but read, and what does not
// depend on its connection.
func (s sqlStatement) reads() bool { return s.cost.selects && s.readOnly() }

// catchUp makes a reader know what the writer did.
func (d *Database) catchUp() error {
	if schema := d.writer.schemas.Load(); schema != d.schema {
		d.schema, d.handle.stale = schema, true
	}
	if uses := d.writer.uses.Load(); uses != d.seen {
		d.seen, d.grown = uses, true
	}
	d.rowID = d.writer.lastRow.Load()
	return d.measure()
}
