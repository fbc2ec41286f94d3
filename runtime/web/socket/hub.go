// Package socket is the WebSocket connections of a Worker: with its clients, and those it opens
// itself.
//
// A [Hub] holds the connections of the isolates of one Worker, within one reservation of memory.
// In: the calls of JavaScript, as host functions, and a response that is a WebSocket
// ([Hub.Upgrade]). Out: messages and ends, as calls of the isolate's entry point "socket". Errors:
// exceptions for a handshake that failed; an event for a connection that ended.
//
// A Hub is safe for concurrent use. The package never listens, and reads nothing of a connection
// before the Worker accepts it.
package socket

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

const restarted = "the site was updated" // the reason of the close code 1012

// Hub is the connections of one Worker.
type Hub struct {
	messages   *engine.Reservation // that the Worker's WebSockets send and read
	logger     *slog.Logger
	restarting atomic.Bool // the Worker is replaced
	work       sync.WaitGroup

	mu   sync.Mutex
	open map[*Socket]struct{}
}

// NewHub returns a Hub whose messages take their memory of messages, which Close closes.
func NewHub(messages *engine.Reservation, logger *slog.Logger) *Hub {
	return &Hub{messages: messages, logger: logger, open: map[*Socket]struct{}{}}
}

// Close waits until the connections have ended, which their requests end.
func (h *Hub) Close() {
	h.work.Wait()
	h.messages.Close()
}

func (h *Hub) add(s *Socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[s] = struct{}{}
}

func (h *Hub) remove(s *Socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, s)
}

func (h *Hub) all() []*Socket {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.open))
}

// shed disconnects peers, first those whose connection holds most memory, until the rest fits.
func (h *Hub) shed() {
	for !h.messages.Fits() {
		var largest *Socket
		most := 0
		for _, s := range h.all() {
			s.mu.Lock()
			if n := s.queuedBytes() + s.arriving; n > most {
				largest, most = s, n
			}
			s.mu.Unlock()
		}
		if largest == nil {
			return
		}
		largest.mu.Lock()
		if largest.arriving > largest.queuedBytes() {
			h.messages.Add(-int64(largest.arriving))
			largest.arriving, largest.refused = 0, true
			largest.cancel(errTooMuch)
		} else {
			largest.cutLocked()
		}
		largest.mu.Unlock()
	}
}

// Restart ends the connections because the Worker is replaced; new ones end at once.
func (h *Hub) Restart() {
	h.restarting.Store(true)
	for _, s := range h.all() {
		s.send(frame{kind: socketClosed, code: websocket.StatusServiceRestart, reason: restarted})
	}
}

// RestartOf is Restart for the connections of one request.
func (h *Hub) RestartOf(io *iocontext.Context) { h.End(io, websocket.StatusServiceRestart, restarted) }

// End ends the connections of a request with a code.
func (h *Hub) End(io *iocontext.Context, code websocket.StatusCode, reason string) {
	for _, s := range h.all() {
		if s.io == io {
			s.send(frame{kind: socketClosed, code: code, reason: reason})
		}
	}
}

// Funcs returns the host functions of WebSockets. session returns the session of the request that a
// call belongs to; an error means that no request is being served.
func (h *Hub) Funcs(client *fetch.Client, session func(*engine.Call) (*fetch.Session, error)) map[string]engine.Func {
	return map[string]engine.Func{
		// socket_dial(token or null, url, headers, protocols, redirect) -> a promise of fetch_start's result, and the handle of the
		// connection or -1
		"socket_dial": func(c *engine.Call) (any, error) {
			s, err := session(c)
			if err != nil {
				return nil, err
			}
			d := &dialer{hub: h, client: client, session: s, protocols: c.Strings(3)}
			f := s.Start(c, c.String(1), c.Strings(2), c.String(4))
			return engine.Async(func(context.Context) (any, error) {
				value, err := d.run(f)
				if err != nil {
					f.Stop(err)
					return nil, f.Error(err)
				}
				return value, nil
			}), nil
		},
		// socket_send(handle, text or bytes) -> how many bytes that is
		"socket_send": withSocket(func(c *engine.Call, s *Socket) int {
			f := frame{kind: socketBinary, data: c.Bytes(1)}
			if f.data == nil {
				f = frame{kind: socketText, data: c.TextBytes(1)}
			}
			s.send(f)
			s.hub.shed()
			return len(f.data)
		}),
		// socket_accept(handle): messages are taken
		"socket_accept": withSocket(func(_ *engine.Call, s *Socket) int {
			s.accept()
			return 0
		}),
		// socket_join(handle, handle): the messages of each go to the other
		"socket_join": withSocket(func(c *engine.Call, s *Socket) int {
			if other, ok := s.io.Value(c.Int(1)).(*Socket); ok {
				s.join(other)
				other.join(s)
			}
			return 0
		}),
		// socket_unsent(handle) -> how many bytes wait to be sent
		"socket_unsent": withSocket(func(_ *engine.Call, s *Socket) int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.unsent
		}),
		// socket_close(handle, code, reason)
		"socket_close": withSocket(func(c *engine.Call, s *Socket) int {
			code := websocket.StatusCode(c.Int(1))
			if code == websocket.StatusAbnormalClosure {
				s.cancel(errWorkerFailed) // without a word to the peer
				return 0
			}
			s.send(frame{kind: socketClosed, code: code, reason: c.String(2)})
			return 0
		}),
	}
}

// withSocket calls f with the connection of the handle in the first argument; for a connection that
// has ended it returns 0.
func withSocket(f func(c *engine.Call, s *Socket) int) engine.Func {
	return func(c *engine.Call) (any, error) {
		x, err := iocontext.Current(c)
		if err != nil {
			return nil, err
		}
		if s, ok := x.Value(c.Int(0)).(*Socket); ok {
			return f(c, s), nil
		}
		return 0, nil
	}
}
