package socket

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func newTestHub(memory *engine.HostMemory) *Hub {
	return NewHub(memory.Share().Reservation(), slog.New(slog.DiscardHandler))
}

// Messages without a byte take memory too.
func TestSocketQueueOfEmptyMessages(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newTestHub(engine.NewHostMemory(0))
	s := &Socket{hub: h, wake: make(chan struct{}, 1), ctx: ctx, cancel: cancel}
	for range maxUnsent/frameCost + 1 {
		s.send(frame{kind: socketText})
	}
	if err := context.Cause(ctx); !errors.Is(err, errSlowPeer) || len(s.queue) > 0 || h.messages.Bytes() != 0 {
		t.Errorf("%d messages wait, %d bytes for all; cause %v", len(s.queue), h.messages.Bytes(), err)
	}
}

// Unfinished messages are bounded over all connections: the peer that sent most is cut off, and the others continue.
func TestSocketsOfHalfMessages(t *testing.T) {
	const (
		total = 8 << 20
		own   = 4 << 20 // of one Worker, independent of others
		spare = 1 << 20
	)
	memory := engine.NewHostMemory(total)
	hub := newTestHub(memory)
	others, ok := memory.TryReserve(total)
	if !ok {
		t.Fatal("the memory is not free")
	}
	defer others()
	hub.messages.Add(own - spare) // of connections that are not here
	ended := make(chan error, 2)
	// half opens a connection that sends so much of a message.
	half := func(bytes int) *Socket {
		s := &Socket{hub: hub, ready: make(chan struct{}), shut: make(chan struct{})}
		s.ctx, s.cancel = context.WithCancelCause(t.Context())
		s.accept()
		hub.add(s)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			conn.SetReadLimit(maxMessage)
			s.read(conn)
			_ = conn.CloseNow()
			ended <- context.Cause(s.ctx)
		}))
		t.Cleanup(server.Close)
		conn, _, err := websocket.Dial(t.Context(), server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		w, err := conn.Writer(t.Context(), websocket.MessageBinary)
		if err == nil {
			_, err = w.Write(make([]byte, bytes))
		}
		if err != nil && bytes < spare { // the other one may be cut off meanwhile
			t.Fatal(err)
		}
		return s
	}
	small := half(spare / 16)
	half(2 * spare)
	select {
	case err := <-ended:
		if !errors.Is(err, errTooMuch) {
			t.Errorf("the large message ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("the large message is waited for; %d bytes are there", hub.messages.Bytes())
	}
	if err := small.ctx.Err(); err != nil {
		t.Errorf("the small one too: %v", err)
	}
	small.cancel(nil)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the small message ended with %v", err)
	}
	if left := hub.messages.Bytes(); left != own-spare {
		t.Errorf("%d bytes are counted that are not there", left-(own-spare))
	}
}
