package devserver

import (
	"container/list"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// This file bounds what strangers can hold open: how many connections there
// are, and how long one may refuse to read what it asked for.

const (
	maxConns = 256 // reliability.md 5.6
	// stalledWrite is how long a client may leave a write unread.
	stalledWrite = 30 * time.Second
	// sendChunk is how much of a file is sent under one write deadline.
	sendChunk = 1 << 20

	busyReply = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n\r\ntoo many connections\n"
)

// connPool counts the connections of all listeners. When it is full, a new
// connection takes the place of the longest-standing one that no request runs
// on, so idle or half-open sockets never keep the author out.
type connPool struct {
	max  int
	now  func() time.Time
	mu   sync.Mutex
	open list.List // of *conn, oldest first
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
		if evicted = p.oldestFree(); evicted == nil {
			p.mu.Unlock()
			p.refuse(c)
			return nil
		}
		p.drop(evicted)
	}
	member := &conn{Conn: c, pool: p}
	member.place = p.open.PushBack(member)
	p.mu.Unlock()
	if evicted != nil {
		_ = evicted.Conn.Close() // it is being thrown out: nobody is left to hear of an error
	}
	return member
}

func (p *connPool) oldestFree() *conn {
	for e := p.open.Front(); e != nil; e = e.Next() {
		if c, ok := e.Value.(*conn); ok && c.running.Load() == 0 {
			return c
		}
	}
	return nil
}

// drop forgets c. The caller holds the lock.
func (p *connPool) drop(c *conn) {
	if c.place != nil {
		p.open.Remove(c.place)
		c.place = nil
	}
}

func (p *connPool) refuse(c net.Conn) {
	if c.SetWriteDeadline(p.now().Add(time.Second)) == nil {
		_, _ = io.WriteString(c, busyReply) // a courtesy: the connection ends either way
	}
	_ = c.Close()
}

type pooledListener struct {
	net.Listener
	pool *connPool
}

// Accept waits for the next connection that the pool has room for.
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

// conn is one connection of the pool. Every write has its own deadline, which
// ends clients that stopped reading without ending long streams.
type conn struct {
	net.Conn
	pool    *connPool
	place   *list.Element // under pool.mu; nil once dropped
	running atomic.Int32  // requests in a handler
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(c.pool.now().Add(stalledWrite)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// ReadFrom keeps the kernel's way of sending a file open, in pieces that each
// have a deadline of their own.
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
		if err := c.SetWriteDeadline(c.pool.now().Add(stalledWrite)); err != nil {
			return sent, err
		}
		n, err := to.ReadFrom(&io.LimitedReader{R: file, N: min(part.N, sendChunk)})
		sent, part.N = sent+n, part.N-n
		if err != nil || n == 0 {
			return sent, err
		}
	}
	return sent, nil
}

// CloseWrite lets net/http end a refused request so that the client still
// reads the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close closes the connection and makes room in the pool.
func (c *conn) Close() error {
	c.pool.mu.Lock()
	c.pool.drop(c)
	c.pool.mu.Unlock()
	return c.Conn.Close()
}

// writeOnly hides ReadFrom, which io.Copy would otherwise call again.
type writeOnly struct{ io.Writer }

type connKey struct{}

// withConn is the server's ConnContext: it lets [markRunning] find the connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// markRunning keeps the connection of a running request from being evicted.
func markRunning(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.running.Add(1)
			defer c.running.Add(-1)
		}
		next.ServeHTTP(w, r)
	})
}
