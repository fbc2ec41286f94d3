package workerd

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// This file passes the frames of a WebSocket between a client and workerd.

// tunnel is a WebSocket that is open.
type tunnel struct {
	x      *exchange
	worker *conn
	client net.Conn
	from   io.Reader // client, with the bytes that were read before

	mu     sync.Mutex // held while a frame is written to the client
	closed bool       // a frame that closes the connection was written
	ended  chan struct{}
}

// The codes and reasons of a close, as in the built-in engine.
const (
	codeRestart  uint16 = 1012
	codeInternal uint16 = 1011

	reasonRestart = "the site was updated"
	reasonStopped = "the Worker was stopped"
)

const (
	// closeWait is how long a client may take to answer a close frame.
	closeWait = 2 * time.Second
	// writeWait is how long a client may leave sent bytes unread.
	writeWait = 2 * time.Minute
)

// upgrade responds with a WebSocket.
func (x *exchange) upgrade(c *conn, resp *http.Response) error {
	header := x.rw.Header()
	maps.Copy(header, answerHeaders(resp))
	header.Del("Content-Type")
	for name := range header {
		if fetch.IsHopByHop(name) || name == "Content-Length" || name == "Sec-Websocket-Extensions" {
			delete(header, name)
		}
	}
	header.Set("Connection", "Upgrade")
	header.Set("Upgrade", "websocket")
	control := http.NewResponseController(x.rw)
	x.addTiming()
	x.wrote = true
	x.rw.WriteHeader(http.StatusSwitchingProtocols)
	client, buffered, err := control.Hijack()
	if err != nil {
		_ = c.Close()
		return &brokeError{&pagesruntime.Error{Kind: pagesruntime.KindInternal, Message: "respond with a WebSocket: " + err.Error()}}
	}
	_ = client.SetDeadline(time.Time{})
	t := &tunnel{x: x, worker: c, client: client, from: buffered, ended: make(chan struct{})}
	x.mu.Lock()
	x.tunnel = t
	x.mu.Unlock()
	x.w.mu.Lock()
	retired := x.w.retired
	x.w.mu.Unlock()
	if retired {
		x.restart()
	}
	return nil
}

// restart ends the WebSocket of an exchange, if it has one, since the Worker is replaced.
func (x *exchange) restart() {
	x.mu.Lock()
	t := x.tunnel
	x.mu.Unlock()
	if t != nil {
		go t.close(codeRestart, reasonRestart)
	}
}

// run passes frames on until both sides have closed.
func (t *tunnel) run() {
	go func() {
		defer close(t.ended)
		t.toWorker()
	}()
	t.toClient()
	code, reason := codeInternal, reasonStopped
	if why := t.x.p.ended(); why != nil && why.cause == byClose {
		code, reason = codeRestart, reasonRestart
	}
	t.close(code, reason)
	_ = t.worker.Close()
	_ = t.client.Close()
	<-t.ended
}

// toWorker passes on the client's messages.
func (t *tunnel) toWorker() {
	var messages atomic.Int64
	quiet := time.AfterFunc(quietSocket, func() {
		if n := messages.Load(); t.x.p.ping(t.x.ctx) == nil && n == messages.Load() {
			t.x.p.meter.quiet(t.x)
		}
	})
	defer quiet.Stop()
	buffer := make([]byte, ioSize)
	for {
		n, err := t.from.Read(buffer)
		if n > 0 {
			messages.Add(1)
			t.x.p.meter.message(t.x)
			quiet.Reset(quietSocket)
			if _, err := t.worker.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			// The Worker notices the end of its connection.
			t.worker.closeWrite()
			return
		}
	}
}

// toClient passes on the Worker's messages, a frame at a time.
func (t *tunnel) toClient() {
	buffer := make([]byte, ioSize)
	for {
		head, size, err := frameHead(t.worker.r)
		if err != nil {
			return
		}
		if !t.passFrame(head, size, buffer) {
			return
		}
	}
}

const opClose = 8

// passFrame passes one frame on. It reports whether more may follow.
func (t *tunnel) passFrame(head []byte, size uint64, buffer []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	if head[0]&0xf == opClose {
		t.closed = true
	}
	if !t.write(head) {
		return false
	}
	for size > 0 {
		piece := buffer[:min(uint64(len(buffer)), size)]
		n, err := t.worker.r.Read(piece)
		if n > 0 && !t.write(piece[:n]) {
			return false
		}
		size -= uint64(n) //nolint:gosec // not negative
		if err != nil {
			t.closed = true // no close frame can follow an incomplete frame
			return false
		}
	}
	return true
}

func (t *tunnel) write(b []byte) bool {
	_ = t.client.SetWriteDeadline(time.Now().Add(writeWait)) //nolint:forbidigo // a deadline
	_, err := t.client.Write(b)
	if err != nil {
		t.closed = true
	}
	return err == nil
}

// close sends a close frame to the client after the current frame, and ends the connection when the client has answered it.
func (t *tunnel) close(code uint16, reason string) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		t.awaitEnd()
		return
	}
	t.closed = true
	b := []byte{0x80 | opClose, byte(2 + len(reason))}
	b = append(binary.BigEndian.AppendUint16(b, code), reason...)
	t.write(b)
	t.mu.Unlock()
	t.awaitEnd()
}

// awaitEnd waits until the client has closed, for a bounded time.
func (t *tunnel) awaitEnd() {
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-t.ended:
	case <-timer.C:
	}
	_ = t.client.Close()
	_ = t.worker.Close()
}

// frameHead reads the head of a frame, and returns its bytes with the size of the payload (RFC 6455, 5.2).
func frameHead(r *bufio.Reader) (head []byte, size uint64, err error) {
	const (
		short  = 2
		masked = 0x80
		two    = 126
		eight  = 127
	)
	head = make([]byte, short, short+8+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, 0, err
	}
	size = uint64(head[1] &^ masked)
	more := 0
	switch size {
	case two:
		more = 2
	case eight:
		more = 8
	}
	if head[1]&masked != 0 {
		more += 4
	}
	head = head[:short+more]
	if _, err := io.ReadFull(r, head[short:]); err != nil {
		return nil, 0, err
	}
	switch size {
	case two:
		size = uint64(binary.BigEndian.Uint16(head[short:]))
	case eight:
		size = binary.BigEndian.Uint64(head[short:])
	}
	return head, size, nil
}
