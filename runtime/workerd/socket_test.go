package workerd_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestSockets: frames pass both ways, and a connection ends as the Worker, the client or a new Worker ends it.
func TestSockets(t *testing.T) {
	t.Parallel()
	var c console
	o := options(&c)
	o.Limits.CPU = 50 * time.Millisecond
	w := start(t, o)
	s := serve(t, w)
	dial := func(t *testing.T) *websocket.Conn {
		t.Helper()
		conn, _, err := websocket.Dial(t.Context(), s.URL+"/socket", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		conn.SetReadLimit(1 << 22)
		return conn
	}
	say := func(t *testing.T, conn *websocket.Conn, text string) (string, error) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			return "", err
		}
		_, answer, err := conn.Read(t.Context())
		return string(answer), err
	}
	closedWith := func(t *testing.T, err error, code websocket.StatusCode, reason string) {
		t.Helper()
		if closed, ok := errors.AsType[websocket.CloseError](err); !ok || closed.Code != code || closed.Reason != reason {
			t.Errorf("got %v, want %d %q", err, code, reason)
		}
	}
	t.Run("messages", func(t *testing.T) {
		conn := dial(t)
		for _, text := range []string{"a", strings.Repeat("b", 300), strings.Repeat("c", 100_000), ""} {
			if got, err := say(t, conn, text); err != nil || got != "echo "+text {
				t.Errorf("%d bytes: %.20q %v", len(text), got, err)
			}
		}
		_, err := say(t, conn, "close")
		closedWith(t, err, 4001, "as asked")
	})
	t.Run("the client closes", func(t *testing.T) {
		conn := dial(t)
		if err := conn.Close(4002, "done"); err != nil {
			t.Error(err)
		}
		c.await(t, "closed 4002")
	})
	t.Run("a loop in a message", func(t *testing.T) {
		_, err := say(t, dial(t), "loop")
		closedWith(t, err, websocket.StatusInternalError, "the Worker was stopped")
	})
	t.Run("a loop in a timer", func(t *testing.T) {
		conn := dial(t)
		if _, err := say(t, conn, "later"); err != nil {
			t.Error(err)
		}
		_, _, err := conn.Read(t.Context())
		closedWith(t, err, websocket.StatusInternalError, "the Worker was stopped")
	})
	t.Run("the Worker is replaced", func(t *testing.T) {
		conn := dial(t)
		if got, err := say(t, conn, "a"); err != nil || got != "echo a" {
			t.Error(got, err)
		}
		w.Retire()
		_, _, err := conn.Read(t.Context())
		closedWith(t, err, websocket.StatusServiceRestart, "the site was updated")
		_, _, err = dial(t).Read(t.Context()) // it ends at once
		closedWith(t, err, websocket.StatusServiceRestart, "the site was updated")
	})
}

// TestClose: current requests and their waitUntil continue until they end, or the time is over.
func TestClose(t *testing.T) {
	t.Parallel()
	var c console
	w := start(t, options(&c))
	if _, _, err := ask(t, w, "/wait"); err != nil {
		t.Fatal(err)
	}
	slow := make(chan error, 1)
	go func() {
		_, _, err := ask(t, w, "/slow?ms=100")
		slow <- err
	}()
	c.await(t, "begun: slow")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w.Close(ctx)
	c.await(t, "waitUntil: Error: late")
	if err := <-slow; err != nil {
		t.Error(err)
	}
	_, _, err := ask(t, w, "/url")
	if f, ok := errors.AsType[*pagesruntime.Error](err); !ok || f.Kind != pagesruntime.KindReset {
		t.Errorf("a closed Worker: %v", err)
	}

	w = start(t, options(&c))
	go func() {
		_, _, err := ask(t, w, "/slow?ms=60000")
		slow <- err
	}()
	c.awaitNth(t, "begun: slow", 2)
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	w.Close(ctx)
	f, ok := errors.AsType[*pagesruntime.Error](<-slow)
	if !ok || f.Kind != pagesruntime.KindReset || !strings.Contains(f.Message, "was replaced or stopped") {
		t.Errorf("what did not end in time: %v", f)
	}
}
