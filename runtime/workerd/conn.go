package workerd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// This file is the HTTP/1.1 client for workerd: a connection has one request at a time, and nothing is buffered.

const (
	// maxHead is the limit of a response's head, in bytes.
	maxHead = 1 << 20
	// idleTime is how long a connection may wait for its next request: workerd closes it after 5 s.
	idleTime = 2 * time.Second
	ioSize   = 32 << 10
)

// conn is a connection to workerd.
type conn struct {
	net.Conn

	p     *process
	r     *bufio.Reader
	head  []byte    // the last one; its memory is reused
	left  int64     // bytes of a head that may still be read; negative for no bound
	idle  time.Time // when it became free for the last time; zero for a new one
	after *ping     // the ping that was sent on a new connection before this one was dialled; nil for none
}

// errHead ends a response whose head exceeds maxHead.
var errHead = errors.New("the head of the response is larger than 1 MiB")

// Read implements io.Reader, for r.
func (c *conn) Read(b []byte) (int, error) {
	if c.left == 0 {
		return 0, errHead
	}
	if c.left > 0 && int64(len(b)) > c.left {
		b = b[:c.left]
	}
	n, err := c.Conn.Read(b)
	if c.left > 0 {
		c.left -= int64(n)
	}
	if n > 0 {
		c.p.meter.alive()
	}
	return n, err
}

// conn returns a free connection or a new one, whichever does not overtake a ping.
func (p *process) conn(ctx context.Context) (*conn, error) {
	if after := p.meter.dialling(); after != nil {
		c, err := p.dial(ctx)
		if err == nil {
			c.after = after
		}
		return c, err
	}
	if c := p.free(); c != nil {
		return c, nil
	}
	return p.dial(ctx)
}

// free returns a connection that is free; nil for none. It closes those that workerd will close soon.
func (p *process) free() *conn {
	now := time.Now() //nolint:forbidigo // durations are made of it
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	if now.Sub(c.idle) > idleTime {
		for _, c := range p.idle { // the others are older
			_ = c.Close()
		}
		p.idle = nil
		return nil
	}
	p.idle = p.idle[:n-1]
	return c
}

// dial returns a new connection.
func (p *process) dial(ctx context.Context) (*conn, error) {
	stream, err := p.front.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: stream, p: p, left: -1}
	c.r = bufio.NewReaderSize(c, ioSize)
	return c, nil
}

// release returns a connection to the free ones if nothing is left to read on it.
func (c *conn) release(reusable bool) {
	p := c.p
	p.mu.Lock()
	if reusable && p.why == nil && len(p.idle) < maxIdle && c.r.Buffered() == 0 {
		c.idle, c.after = time.Now(), nil //nolint:forbidigo // a duration is made of it
		p.idle = append(p.idle, c)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	_ = c.Close()
}

// notSent are headers of a request that are not passed on, or that writeHead writes.
func notSent(name string) bool {
	switch name {
	case "content-length", "transfer-encoding", "expect", "host", "sec-websocket-extensions", "connection", "upgrade",
		"pages-cf", "pages-answer":
		return true
	}
	return false
}

// writeHead writes the head of a request for a URL. length is the length of the body: 0 for none, negative if unknown.
func (c *conn) writeHead(r *http.Request, url, id, cf string, length int64) error {
	b := append(c.head[:0], r.Method...)
	b = append(b, ' ')
	b = appendTarget(b, url)
	b = append(b, " HTTP/1.1\r\n"...)
	b = appendHeader(b, "host", r.Host)
	list := fetch.HeaderList(r)
	for i := 0; i+1 < len(list); i += 2 {
		if !notSent(list[i]) {
			b = appendHeader(b, list[i], list[i+1])
		}
	}
	if fetch.IsUpgrade(r) {
		b = append(b, "connection: Upgrade\r\nupgrade: websocket\r\n"...)
	}
	switch {
	case length < 0:
		b = append(b, "transfer-encoding: chunked\r\n"...)
	case length > 0 || r.Header.Get("Content-Length") != "":
		b = append(strconv.AppendInt(append(b, "content-length: "...), length, 10), "\r\n"...)
	}
	b = append(b, cfHeader...)
	b = append(b, `: {"tlsClientRandom":"`...)
	b = append(b, id...)
	b = append(b, '"')
	if len(cf) > len("{}") {
		b = append(b, ',')
	}
	b = append(b, cf[1:]...)
	b = append(b, "\r\n\r\n"...)
	c.head = b
	_, err := c.Write(b)
	return err
}

// appendTarget appends a URL, without anything that could end the request line.
func appendTarget(b []byte, url string) []byte {
	url, _, _ = strings.Cut(url, "#")
	for i := range len(url) {
		if ch := url[i]; ch <= ' ' || ch == 0x7f {
			b = fmt.Appendf(b, "%%%02X", ch)
		} else {
			b = append(b, ch)
		}
	}
	return b
}

// appendHeader appends a header, without anything that could end it.
func appendHeader(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	if strings.ContainsAny(value, "\r\n\x00") {
		value = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ").Replace(value)
	}
	return append(append(b, value...), "\r\n"...)
}

// readHead reads the head of the response.
func (c *conn) readHead(r *http.Request) (*http.Response, error) {
	for {
		c.left = maxHead
		resp, err := http.ReadResponse(c.r, r)
		c.left = -1
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
}

// closeWrite closes the sending side, and leaves the reading side open.
func (c *conn) closeWrite() {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// writeBody sends the body of a request. It reports whether all of it was sent.
func (c *conn) writeBody(body io.Reader, length int64) error {
	buffer := make([]byte, ioSize)
	if length >= 0 {
		n, err := io.CopyBuffer(struct{ io.Writer }{c.Conn}, io.LimitReader(body, length), buffer)
		if err == nil && n < length {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			chunk := append(fmt.Appendf(nil, "%x\r\n", n), buffer[:n]...)
			if _, err := c.Write(append(chunk, "\r\n"...)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			_, err = io.WriteString(c, "0\r\n\r\n")
			return err
		}
		if err != nil {
			return err
		}
	}
}
