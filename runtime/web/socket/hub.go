// Package socket is the WebSocket connections of a Worker: with its clients, and those
// it opens itself.
//
// A [Hub] holds the connections of the isolates of one Worker, within one reservation of
// memory. In: the calls of JavaScript, as host functions, and a response that is a
// WebSocket ([Hub.Upgrade]). Out: messages and ends, as calls of the isolate's entry point
// "socket". Errors: exceptions for a handshake that failed; a connection that ends tells
// JavaScript so.
//
// A Hub is safe for concurrent use. The package never listens, and reads nothing of a
// connection before the Worker accepts it.
package socket

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// restarted is the reason of the close code 1012.
const restarted = "the site was updated"

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

// all returns the connections that are open.
func (h *Hub) all() []*Socket {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.open))
}

// shed cuts peers off, those first whose connection holds most, until there is memory for
// the messages of all that are left.
func (h *Hub) shed() {
	for !h.messages.Fits() {
		var largest *Socket
		most := 0
		for _, s := range h.all() {
			s.mu.Lock()
			if n := s.waiting() + s.arriving; n > most {
				largest, most = s, n
			}
			s.mu.Unlock()
		}
		if largest == nil {
			return
		}
		largest.mu.Lock()
		if largest.arriving > largest.waiting() {
			largest.refuseLocked()
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

// End ends the connections of a request with a code.
func (h *Hub) End(io *iocontext.Context, code websocket.StatusCode, reason string) {
	for _, s := range h.all() {
		if s.io == io {
			s.send(frame{kind: socketClosed, code: code, reason: reason})
		}
	}
}
