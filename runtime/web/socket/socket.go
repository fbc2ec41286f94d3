package socket

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// This file is one connection. JavaScript knows it by its handle. Its messages are queued within a bound, so that a slow peer holds no
// memory. The queues of all connections, and messages that are not delivered yet, count as memory of the Worker: when none is left, the
// connection that holds most is cut off. Nothing is read before the Worker accepts the connection, and then one message at a time. The
// platform's own bounds are not shown, nor the CPU time of a message: each has that of a request.

const (
	// maxMessage is the maximum number of bytes of one message.
	maxMessage = 32 << 20
	// maxUnsent is the maximum number of bytes that wait to be sent; a peer that reads more slowly is cut off.
	maxUnsent = 64 << 20
	// maxAhead is the maximum number of bytes that may wait for a peer before reading stops on the connection
	// that the Worker joined to it.
	maxAhead = 1 << 20
	// frameCost is the approximate memory of a message beside its bytes.
	frameCost = 64
	// socketWrite is the time limit for sending one message.
	socketWrite = 30 * time.Second
	// socketPing is the interval of pings, and the time that a peer has for its pong.
	socketPing = 30 * time.Second
)

// The events of a connection, as in js/websocket.js.
const (
	socketText = iota
	socketBinary
	socketClosed
)

type frame struct {
	kind   int
	data   []byte
	code   websocket.StatusCode
	reason string
}

// Socket is one connection. It is made before the handshake is done.
type Socket struct {
	hub *Hub
	io  *iocontext.Context
	id  int64

	ready     chan struct{} // closed when JavaScript takes messages
	readyOnce sync.Once
	shut      chan struct{} // closed when the end was sent, and answered or not
	drained   chan struct{} // gets a value when less than maxAhead waits
	reads     atomic.Int64  // begun and ended: odd while a message is waited for

	mu       sync.Mutex
	queue    []frame
	unsent   int     // bytes of the messages in the queue
	arriving int     // memory of the message that is read
	refused  bool    // further frames are refused
	over     bool    // nothing more is sent
	end      frame   // that was sent
	to       *Socket // that messages are passed on to, or nil
	wake     chan struct{}

	cancel context.CancelCauseFunc
	ctx    context.Context //nolint:containedctx // owned: Close ends it
}

func (h *Hub) newSocket(io *iocontext.Context) (*Socket, error) {
	s := &Socket{
		hub: h, io: io, ready: make(chan struct{}), shut: make(chan struct{}),
		drained: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancelCause(io.Scope.Context())
	id, err := io.Keep(s)
	s.id = id
	if err != nil {
		s.cancel(err)
		return nil, err
	}
	h.add(s)
	io.Connections.Add(1)
	return s, nil
}

func (s *Socket) forget() {
	s.io.Drop(s.id)
	s.hub.remove(s)
}

var (
	errSlowPeer     = errors.New("the peer does not read its messages")
	errTooMuch      = errors.New("too much has arrived of messages that are not whole")
	errWorkerFailed = errors.New("the Worker's listener threw")
)

// send queues a frame; frames after the end are dropped.
func (s *Socket) send(f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if f.kind == socketClosed {
		s.over, s.end = true, f
	}
	s.queue = append(s.queue, f)
	s.unsent += len(f.data)
	s.hub.messages.Add(f.cost())
	if s.queuedBytes() > maxUnsent {
		s.cutLocked()
		return
	}
	signal(s.wake)
}

func (f frame) cost() int64 { return int64(len(f.data)) + frameCost }

// queuedBytes is the memory of the queue, in bytes. The caller holds s.mu.
func (s *Socket) queuedBytes() int { return s.unsent + len(s.queue)*frameCost }

// cutLocked ends the connection of a peer that does not read. The caller holds s.mu.
func (s *Socket) cutLocked() {
	s.dropLocked()
	s.cancel(errSlowPeer)
}

// dropLocked drops waiting messages, and takes no more. The caller holds s.mu.
func (s *Socket) dropLocked() {
	s.hub.messages.Add(-int64(s.queuedBytes()))
	s.over, s.queue, s.unsent = true, nil, 0
}

// hold counts the memory of the message that is read, 0 once JavaScript has it.
func (s *Socket) hold(bytes int) {
	s.mu.Lock()
	if !s.refused {
		s.hub.messages.Add(int64(bytes - s.arriving))
		s.arriving = bytes
	}
	s.mu.Unlock()
	s.hub.shed()
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *Socket) next() (f frame, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return frame{}, false
	}
	f = s.queue[0]
	s.queue[0] = frame{}
	s.queue = s.queue[1:]
	s.unsent -= len(f.data)
	s.hub.messages.Add(-f.cost())
	if s.queuedBytes() < maxAhead {
		signal(s.drained)
	}
	return f, true
}

// accept starts the reading of messages.
func (s *Socket) accept() { s.readyOnce.Do(func() { close(s.ready) }) }

// join starts the reading of messages for another connection.
func (s *Socket) join(to *Socket) {
	s.mu.Lock()
	s.to = to
	s.mu.Unlock()
	s.accept()
}

// waitForPeer waits until the joined peer has read most of its messages.
func (s *Socket) waitForPeer() {
	s.mu.Lock()
	to := s.to
	s.mu.Unlock()
	if to == nil {
		return
	}
	for {
		to.mu.Lock()
		full := to.queuedBytes() >= maxAhead
		to.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-to.drained:
		case <-to.ctx.Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// Close ends the connection without a word; for the end of its request.
func (s *Socket) Close() error {
	s.mu.Lock()
	s.dropLocked()
	s.mu.Unlock()
	s.hub.remove(s)
	s.cancel(iocontext.ErrRequestOver)
	return nil
}

// run carries messages both ways until the connection ends, and delivers each to JavaScript.
func (s *Socket) run(conn *websocket.Conn) {
	conn.SetReadLimit(maxMessage)
	stop := context.AfterFunc(s.ctx, func() { _ = conn.CloseNow() })
	defer stop()
	var work sync.WaitGroup
	closed := make(chan error, 1) // result of sending the end
	gone, leave := context.WithCancel(s.ctx)
	work.Go(func() { s.write(gone, conn, closed) })
	work.Go(func() { s.ping(gone, conn) })
	last := s.read(conn)
	leave()
	work.Wait()
	select {
	case err := <-closed:
		if last.code == websocket.StatusAbnormalClosure { // Close has read the peer's end
			if own, ok := errors.AsType[websocket.CloseError](err); ok {
				last = frame{kind: socketClosed, code: own.Code, reason: own.Reason}
			} else if err == nil { // which is an echo
				s.mu.Lock()
				last = s.end
				s.mu.Unlock()
			}
		}
	default:
	}
	_ = conn.CloseNow()
	s.deliverEnd(last)
}

var disconnected = frame{
	kind: socketClosed, code: websocket.StatusAbnormalClosure, reason: "WebSocket disconnected without sending Close frame.",
}

// read delivers messages until the connection ends, and returns how it did.
func (s *Socket) read(conn *websocket.Conn) frame {
	select {
	case <-s.ready:
	case <-s.shut:
		return disconnected
	case <-s.ctx.Done():
		return disconnected
	}
	defer s.hold(0)
	for {
		s.reads.Add(1)
		kind, data, err := s.message(conn)
		s.reads.Add(1)
		if err != nil {
			if end, ok := errors.AsType[websocket.CloseError](err); ok {
				return frame{kind: socketClosed, code: end.Code, reason: end.Reason}
			}
			return disconnected
		}
		switch {
		case kind == websocket.MessageBinary:
			err = s.deliver(socketBinary, data)
		case utf8.Valid(data):
			err = s.deliver(socketText, string(data))
		default: // RFC 6455, 8.1
			_ = conn.Close(websocket.StatusInvalidFramePayloadData, "a text message is not UTF-8")
			return disconnected
		}
		if err != nil {
			s.hub.logger.Debug("deliver a message", "error", err)
		}
		s.hold(0)
		s.waitForPeer()
	}
}

// message reads the next message, whose memory counts from its first byte on.
func (s *Socket) message(conn *websocket.Conn) (websocket.MessageType, []byte, error) {
	kind, r, err := conn.Reader(s.ctx)
	if err != nil {
		return 0, nil, err
	}
	data := make([]byte, 0, 512)
	s.hold(cap(data))
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return kind, data, nil
		}
		if err != nil {
			return 0, nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
			s.hold(cap(data))
		}
	}
}

// deliver passes an event to JavaScript. Each has the CPU time of a request.
func (s *Socket) deliver(kind int, args ...any) error {
	s.io.Scope.Refill()
	return s.io.Isolate.Do(s.io.Scope, func(vm *engine.VM) error {
		v, err := vm.Call("socket", append([]any{s.id, kind}, args...)...)
		if err == nil {
			vm.Free(v)
		}
		return err
	})
}

func (s *Socket) write(ctx context.Context, conn *websocket.Conn, closed chan<- error) {
	for {
		f, ok := s.next()
		if !ok {
			select {
			case <-s.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		if f.kind == socketClosed {
			closed <- conn.Close(f.code, f.reason) // waits for the peer's, within bounds
			close(s.shut)
			return
		}
		kind := websocket.MessageText
		if f.kind == socketBinary {
			kind = websocket.MessageBinary
		}
		limited, done := context.WithTimeout(ctx, socketWrite)
		err := conn.Write(limited, kind, f.data)
		done()
		if err != nil {
			s.cancel(err)
			return
		}
	}
}

func (s *Socket) ping(ctx context.Context, conn *websocket.Conn) {
	ticker := time.NewTicker(socketPing)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		reads := s.reads.Load()
		limited, done := context.WithTimeout(ctx, socketPing)
		err := conn.Ping(limited)
		done()
		if errors.Is(err, context.DeadlineExceeded) && (reads&1 == 0 || reads != s.reads.Load()) {
			continue // no read could see the pong, so only a failed ping shows a broken connection
		}
		if err != nil && ctx.Err() == nil {
			s.cancel(err)
			return
		}
	}
}

// deliverEnd delivers the end of the connection to JavaScript, its last event.
func (s *Socket) deliverEnd(last frame) {
	s.io.Connections.Add(-1)
	s.mu.Lock()
	s.dropLocked()
	s.mu.Unlock()
	clean := last.code != websocket.StatusAbnormalClosure
	if err := s.deliver(socketClosed, int(last.code), last.reason, clean); err != nil {
		s.hub.logger.Debug("deliver the end of a connection", "error", err)
	}
	s.forget()
	s.cancel(nil)
}

// Respond creates the client's connection for a response to r; Upgrade responds with it.
func (h *Hub) Respond(io *iocontext.Context, r *http.Request) (*Socket, error) {
	if !fetch.IsUpgrade(r) {
		return nil, engine.TypeError(
			`Worker tried to return WebSocket in a response to a request which did not contain the header "Upgrade: websocket".`,
		)
	}
	s, err := h.newSocket(io)
	if err != nil {
		return nil, err
	}
	if h.restarting.Load() || io.Isolate.Retired() {
		s.send(frame{kind: socketClosed, code: websocket.StatusServiceRestart, reason: restarted})
	}
	return s, nil
}

// ID is the handle by which JavaScript knows the connection.
func (s *Socket) ID() int64 { return s.id }

// Upgrade answers with the connection and returns when it has ended. The header is names and values
// in turn.
func (s *Socket) Upgrade(w http.ResponseWriter, r *http.Request, list []string) {
	header := w.Header()
	var protocols []string
	for i := 0; i+1 < len(list); i += 2 {
		switch name := http.CanonicalHeaderKey(list[i]); {
		case name == "Sec-Websocket-Protocol":
			protocols = append(protocols, list[i+1])
		case fetch.IsHopByHop(name), strings.HasPrefix(name, "Sec-Websocket-"), name == "Content-Type", name == "Content-Length":
		default:
			header[name] = append(header[name], list[i+1])
		}
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       protocols,
		InsecureSkipVerify: true, // whose pages may connect is the Worker's to say, as on the platform
	})
	if err != nil {
		s.deliverEnd(frame{code: websocket.StatusAbnormalClosure, reason: "the handshake failed"})
		s.hub.logger.Debug("respond with a WebSocket", "error", err)
		return
	}
	s.run(conn)
}
