package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pages-toolchain/pages/runtime/engine"
)

func TestHostMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.NewHostMemory(100 << 20)
		first, err := m.Reserve(t.Context(), 60<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.TryReserve(41 << 20); ok {
			t.Error("more was taken than is free")
		}
		taken := make(chan error, 1)
		go func() {
			release, err := m.Reserve(t.Context(), 41<<20)
			if err == nil {
				release()
			}
			taken <- err
		}()
		synctest.Wait()
		if len(taken) > 0 {
			t.Error("the second did not wait")
		}
		first()
		first()
		if err := <-taken; err != nil {
			t.Error(err)
		}
		all, ok := m.TryReserve(100 << 20)
		if !ok {
			t.Fatal("memory that was released twice counts twice, or not at all")
		}
		if _, ok := m.TryReserve(1); ok {
			t.Error("memory that was released twice counts twice")
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Reserve(ended, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the end of the context", err)
		}
		all()
		var refused *engine.Error
		if _, err := m.Reserve(t.Context(), 101<<20); !errors.As(err, &refused) || !strings.Contains(refused.Message, "100 MB") {
			t.Errorf("got %v, want the limit by name", err)
		}
	})
}

// TestHostMemoryLarge: who takes little goes past those who wait for much.
func TestHostMemoryLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := engine.NewHostMemory(100)
		first, err := m.Reserve(t.Context(), 60)
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		for range 3 {
			go func() {
				if _, err := m.Reserve(ctx, 60); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want the end of the context", err)
				}
			}()
		}
		synctest.Wait()
		little, err := m.Reserve(t.Context(), 25)
		if err != nil {
			t.Fatal(err)
		}
		end()
		synctest.Wait()
		little()
		first()
		if _, ok := m.TryReserve(m.Total()); !ok {
			t.Error("what waited in vain holds bytes")
		}
		if release, err := engine.NewHostMemory(100).Reserve(t.Context(), 100); err != nil {
			t.Error(err)
		} else {
			release()
		}
	})
}
