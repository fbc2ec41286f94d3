package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func TestGuest(t *testing.T) {
	g := engine.NewGuest(engine.NewHostMemory(64 << 20))
	for range 2 { // a call's reserved memory is free afterwards
		err := g.Do(t.Context(), func(ctx context.Context) error { return engine.Reserve(ctx, 60<<20) })
		if err != nil {
			t.Errorf("60 MB: %v", err)
		}
	}
	err := g.Do(t.Context(), func(ctx context.Context) error { return engine.Reserve(ctx, 200<<20) })
	if err == nil || !strings.Contains(err.Error(), "128 MB") {
		t.Errorf("200 MB: %v", err)
	}
	err = g.Do(t.Context(), func(context.Context) error { panic("of the work") })
	if err == nil || !strings.Contains(err.Error(), "of the work") {
		t.Errorf("a panic: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = g.Do(ctx, func(ctx context.Context) error {
		longer, done := engine.Outlasting(ctx)
		defer done()
		cancel()
		<-ctx.Done()
		return longer.Err()
	})
	if err != nil {
		t.Errorf("work that outlasts its request: %v", err)
	}
	ended := make(chan error)
	begun := make(chan struct{})
	go func() {
		ended <- g.Do(t.Context(), func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-begun
	go g.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a call at Close: %v", err)
	}
	g.Close()
	if err := g.Do(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
