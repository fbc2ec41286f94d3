package devserver

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// This file bounds the number of connections that clients hold open, and the time for which one may refuse to read its response. framing.go
// has the rules for their requests.

const (
	maxConns = 256 // of all listeners together
	// A client may keep the writer waiting for stalledWrite. It regains time by reading: a second for every writeRate bytes, up to
	// stalledWrite.
	stalledWrite = 30 * time.Second
	writeRate    = 1 << 10
	// halfClosed is the time that a request may continue for a client that has closed its sending side. Until the server writes, a remote
	// client that waits for its response looks like one that left.
	halfClosed = 2 * time.Second
	// writeChunk is the number of bytes that are written, or sent from a file, under one deadline. A client that reads less than leastRead
	// in stalledWrite is disconnected.
	writeChunk = 256 << 10
	leastRead  = 64 << 10
	// A refused client gets lingerTime to read the response; the server discards up to lingerBytes of further input. Closing
	// at once would reset the connection, and the client could lose the response.
	lingerTime  = 250 * time.Millisecond
	lingerBytes = 256 << 10
	// spoil breaks any unfinished request: it is not a valid end of a request line, header, chunk or trailer, and the rest of it is too
	// short for another request.
	spoil = "\x00\r\n\r\n"

	busyReply = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n\r\ntoo many connections\n"
)

// connPool counts the connections of all listeners. When it is full, a new connection evicts the oldest one without a running request, so
// that idle or half-open sockets never keep the author out. If all have one, it evicts one whose request waits for the rest of its body:
// see slowest.
type connPool struct {
	max   int
	now   func() time.Time
	named bool // of the framing
	mu    sync.Mutex
	open  list.List // of *conn, oldest first
}

// listener returns l with the pool's bound on it.
func (p *connPool) listener(l net.Listener) net.Listener {
	return &pooledListener{Listener: l, pool: p}
}

// admit returns c as a member of the pool, or nil after refusing it.
func (p *connPool) admit(c net.Conn) *conn {
	p.mu.Lock()
	var evicted *conn
	if p.open.Len() >= p.max {
		for e := p.open.Front(); e != nil && evicted == nil; e = e.Next() {
			if idle, ok := e.Value.(*conn); ok && !idle.busy.Load() {
				evicted = idle
			}
		}
		if evicted == nil {
			evicted = p.slowest()
		}
		if evicted == nil {
			p.mu.Unlock()
			if c.SetWriteDeadline(p.now().Add(time.Second)) == nil {
				_, _ = io.WriteString(c, busyReply) // best effort: the connection ends either way
			}
			_ = c.Close()
			return nil
		}
		p.forget(evicted)
	}
	member := &conn{Conn: c, pool: p, woken: make(chan struct{}, 1), framing: framing{named: p.named}}
	member.place = p.open.PushBack(member)
	p.mu.Unlock()
	if evicted != nil {
		_ = evicted.Conn.Close() // its client has gone
	}
	return member
}

// slowest returns the connection to evict among those whose requests wait for the rest of their bodies: of the address with the most of
// them, the one that has been silent for longest. A client that sends steadily waits only for moments. The caller holds the lock.
func (p *connPool) slowest() (slowest *conn) {
	of, most := map[netip.Addr]int{}, 0
	for e := p.open.Front(); e != nil; e = e.Next() {
		if c, ok := e.Value.(*conn); ok && c.silent.Load() != 0 {
			of[c.peer()]++
			most = max(most, of[c.peer()])
		}
	}
	for e := p.open.Front(); e != nil; e = e.Next() {
		c, ok := e.Value.(*conn)
		since := int64(0)
		if ok {
			since = c.silent.Load()
		}
		if since != 0 && of[c.peer()] == most && (slowest == nil || since < slowest.silent.Load()) {
			slowest = c
		}
	}
	return slowest
}

// forget removes c from the pool. The caller holds the lock.
func (p *connPool) forget(c *conn) {
	if c.place != nil {
		p.open.Remove(c.place)
		c.place = nil
	}
}

type pooledListener struct {
	net.Listener
	pool *connPool
}

// Accept waits for the next connection for which the pool has room.
func (l *pooledListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if member := l.pool.admit(c); member != nil {
			return member, nil
		}
	}
}

// conn is one connection of the pool. Only the time that a client keeps a writer waiting counts against it, so that long
// streams do not end.
type conn struct {
	net.Conn
	pool    *connPool
	place   *list.Element // under pool.mu; nil once dropped
	busy    atomic.Bool   // a request is running
	framing framing       // of the one goroutine that reads
	taken   atomic.Bool   // a handler has hijacked it
	came    atomic.Int64  // the number of bytes read
	silent  atomic.Int64  // when a reader began to wait for more of a body, in Unix nanoseconds; 0 while none waits
	refused atomic.Bool   // the framing was broken
	spoil   string        // the unread rest of the const spoil, once refused
	waited  atomic.Int64  // the part of stalledWrite that the client has used
	text    statusText
	woken   chan struct{} // the read deadline has changed, or the connection was closed
	closed  atomic.Bool
	overdue atomic.Bool // the read deadline has passed
}

// Read reads for net/http. If a program could read the input as two requests instead of one, it returns spoil and then EOF. With an error,
// an earlier request that still runs would end as if its client had left.
func (c *conn) Read(p []byte) (int, error) {
	if c.refused.Load() {
		if c.spoil == "" {
			return 0, io.EOF
		}
		n := copy(p, c.spoil)
		c.spoil = c.spoil[n:]
		return n, nil
	}
	n, err := c.read(p)
	if n == 0 && errors.Is(err, io.EOF) {
		return 0, c.awaitResponse()
	}
	n, broken := c.framing.advance(p[:n])
	if broken == nil {
		return n, err
	}
	c.spoil = spoil
	c.refused.Store(true)
	if n == 0 {
		return c.Read(p)
	}
	return n, nil
}

// read reads from the client, and records the times at which it waits for more of a body.
func (c *conn) read(p []byte) (int, error) {
	if c.framing.inBody() {
		c.silent.Store(c.pool.now().UnixNano())
		defer c.silent.Store(0)
	}
	n, err := c.Conn.Read(p)
	c.came.Add(int64(n))
	return n, err
}

// peer returns the address of the client without its port; the zero Addr if it has none.
func (c *conn) peer() netip.Addr {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// awaitResponse delays the error of a reader after the client has closed its sending side: a client may wait for the response of a running
// request, and net/http would end the request at once.
func (c *conn) awaitResponse() error {
	if c.framing.part != startLine || len(c.framing.line) > 0 {
		return io.EOF // in the middle of a request
	}
	deadline := time.NewTimer(halfClosed)
	defer deadline.Stop()
	poll := time.NewTicker(peerPoll)
	defer poll.Stop()
	for c.busy.Load() && !c.closed.Load() {
		if c.overdue.Load() {
			return os.ErrDeadlineExceeded // net/http wants the reader back
		}
		select {
		case <-c.woken:
		case <-poll.C:
			if isOrphaned(c.Conn) {
				return io.EOF
			}
		case <-deadline.C:
			return io.EOF
		}
	}
	return io.EOF
}

// wake makes awaitResponse check again.
func (c *conn) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	err := c.Conn.SetReadDeadline(t)
	c.overdue.Store(!t.IsZero() && !t.After(c.pool.now()))
	c.wake()
	return err
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) Write(b []byte) (written int, err error) {
	if head := c.text.put(b); head != nil {
		n, err := c.write(head)
		return max(0, n-len(head)+len(b)), err
	}
	return c.write(b)
}

func (c *conn) write(b []byte) (written int, err error) {
	for first := true; err == nil && (first || written < len(b)); first = false {
		part := b[written:min(written+writeChunk, len(b))]
		err = c.writePaced(func() (int64, error) {
			n, err := c.Conn.Write(part)
			written += n
			return int64(n), err
		})
	}
	return written, err
}

// writePaced runs a write within the client's remaining time, and updates the time used.
func (c *conn) writePaced(write func() (int64, error)) error {
	start := c.pool.now()
	if err := c.SetWriteDeadline(start.Add(stalledWrite - time.Duration(c.waited.Load()))); err != nil {
		return err
	}
	n, err := write()
	used := c.pool.now().Sub(start) - time.Duration(n)*(time.Second/writeRate)
	c.waited.Store(max(c.waited.Load()+int64(used), 0))
	if n >= leastRead && errors.Is(err, os.ErrDeadlineExceeded) {
		return nil // slow, but not too slow: the caller continues with the rest
	}
	return err
}

// ReadFrom lets the kernel send a file, in pieces that each have a deadline of their own.
func (c *conn) ReadFrom(src io.Reader) (sent int64, err error) {
	part, bounded := src.(*io.LimitedReader)
	to, canSend := c.Conn.(io.ReaderFrom)
	if !bounded || !canSend {
		return io.Copy(writeOnly{c}, src)
	}
	file, isFile := part.R.(*os.File)
	if !isFile {
		return io.Copy(writeOnly{c}, src)
	}
	for part.N > 0 {
		var n int64
		err := c.writePaced(func() (int64, error) {
			var err error
			n, err = to.ReadFrom(&io.LimitedReader{R: file, N: min(part.N, writeChunk)})
			return n, err
		})
		sent, part.N = sent+n, part.N-n
		if err != nil || n == 0 {
			return sent, err
		}
	}
	return sent, nil
}

// CloseWrite lets net/http end a refused request so that the client still reads the response.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close closes the connection and leaves the pool. A refused client still reads the response.
func (c *conn) Close() error {
	c.pool.mu.Lock()
	c.pool.forget(c)
	c.pool.mu.Unlock()
	c.closed.Store(true)
	c.wake()
	if c.refused.Load() && c.CloseWrite() == nil && c.SetReadDeadline(c.pool.now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes) // its errors have no reader
	}
	return c.Conn.Close()
}

// trackState is the server's ConnState. It marks a request as running before net/http watches its client: a handler would do so too late. A
// hijacked connection has no framing any more; net/http has stopped reading it by then.
func trackState(c net.Conn, state http.ConnState) {
	member, ok := c.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		member.busy.Store(true)
	case http.StateIdle:
		member.busy.Store(false)
	case http.StateHijacked:
		member.framing.part = unframed
		member.taken.Store(true)
	case http.StateNew, http.StateClosed:
	}
}

// writeOnly hides ReadFrom, which io.Copy would otherwise call again.
type writeOnly struct{ io.Writer }

type connKey struct{}

// endWithHandler ends the request of a connection with its handler: the pool may then evict a connection whose client does not read the
// rest of the response. Until then it ends the context of a request whose client has left.
func endWithHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			defer c.busy.Store(false)
			ctx, gone := context.WithCancel(r.Context())
			defer gone()
			defer c.watchClient(ctx, gone)()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// watchClient calls gone once the client of a request has left, until stop is called. net/http watches only after the end of a body, and
// until the client sends its next request: without this, a Worker that never reads its body, or with a pipelined request after it, would
// continue for a client that has left. A client that ends only its sending may still wait for the response: it gets halfClosed for that,
// counted from its last byte.
func (c *conn) watchClient(ctx context.Context, gone func()) (stop func()) {
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
