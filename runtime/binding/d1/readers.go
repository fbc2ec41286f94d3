package d1

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// This file runs reads concurrently with the one writer, each on its own connection: a long query delays neither writes nor
// other reads. Idle connections are closed.

const (
	// maxReaders is the number of concurrent reads of a Worker.
	maxReaders = 4
	// MaxConns is the number of connections of a Database in use.
	MaxConns = maxReaders + 1
)

// readers are the connections of a database that only read. Each is a Database without readers of its own.
type readers struct {
	free   chan struct{} // a token for each that is not in use
	mu     sync.Mutex
	idle   []*Database // the one used last, with the most compiled statements, is at the end
	closed bool
}

func newReaders() *readers {
	r := &readers{free: make(chan struct{}, maxReaders)}
	for range maxReaders {
		r.free <- struct{}{}
	}
	return r
}

// reader returns a reader, which the caller releases; nil once the database is closed.
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

// close waits for running reads.
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

var errWriter = errors.New("this is not a read")

// read runs q on a connection that only reads; errWriter if q is not a read. begun is as in queryInTurn.
func (d *Database) read(ctx context.Context, q Query, w *rowWriter, begun func()) error {
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
			return errWriter // the writer reports the reason
		}
		alone := s.onlyReads() && s.rest == ""
		s.close()
		if !alone {
			return errWriter
		}
		if err := r.beginView(); err != nil {
			return err
		}
		begun()
		return r.run(ctx, q, w)
	})
}

// beginView makes later statements see the database as it is now. The connection's reset ends it.
func (d *Database) beginView() error {
	if err := d.handle.runTrusted("BEGIN"); err != nil {
		return err
	}
	return d.handle.runTrusted("SELECT 1 FROM sqlite_schema LIMIT 1") // a view begins with the first read
}

// onlyReads reports whether a text, which may be invalid, certainly changes nothing.
func onlyReads(text string) bool {
	if !beginsLikeQuery(text) {
		return false
	}
	if end := strings.IndexByte(text, ';'); end >= 0 && !blankSQL(text[end:]) {
		return false
	}
	if first := strings.TrimLeft(text, " \t\n\r\f"); first[0] != 'W' && first[0] != 'w' {
		return true
	}
	upper := strings.ToUpper(text)
	mentions := func(word string) bool { return strings.Contains(upper, word) }
	return !slices.ContainsFunc([]string{"INSERT", "UPDATE", "DELETE", "REPLACE"}, mentions)
}

func beginsLikeQuery(text string) bool {
	text = strings.TrimLeft(text, " \t\n\r\f")
	for _, word := range [...]string{"SELECT", "WITH", "VALUES"} {
		if len(text) >= len(word) && strings.EqualFold(text[:len(word)], word) {
			return true
		}
	}
	return false
}

// onlyReads reports whether the statement only reads, and nothing that depends on its connection.
func (s sqlStatement) onlyReads() bool { return s.cost.selects && s.readOnly() }

// catchUp makes a reader see the writer's changes.
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

// idleAfter is the time without a use after which the connections of a database are closed: each has two open files,
// which SQLite closes only with the last connection.
const idleAfter = 10 * time.Second

// idle detects an unused database.
type idle struct {
	uses  atomic.Int64
	armed atomic.Bool // a timer is set
}

// noteUse records a use; the use of a reader counts for its writer.
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

// disconnect closes the connections that are not in use. The next use opens them again.
func (d *Database) disconnect() {
	r := d.readers
	r.mu.Lock()
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	for _, one := range idle {
		one.closeHandle()
	}
	select {
	case <-d.turn:
		d.closeHandle()
		d.turn <- struct{}{}
	default:
	}
}
