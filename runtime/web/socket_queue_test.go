package web

import (
	"context"
	"errors"
	"testing"
)

// Messages without a byte take memory too.
func TestSocketQueueOfEmptyMessages(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &socket{x: &Exchange{host: &Host{}}, wake: make(chan struct{}, 1), ctx: ctx, cancel: cancel}
	for range maxUnsent/frameCost + 1 {
		s.send(frame{kind: socketText})
	}
	if err := context.Cause(ctx); !errors.Is(err, errSlowPeer) || len(s.queue) > 0 || s.x.host.unsent.Load() != 0 {
		t.Errorf("%d messages wait, %d bytes for all; cause %v", len(s.queue), s.x.host.unsent.Load(), err)
	}
}
