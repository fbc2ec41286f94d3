package devsession

import (
	"context"
	"fmt"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// startGCPercent lets the heap grow during the start.
const startGCPercent = 400

// runtimeStart opens the engine while the site is being read.
type runtimeStart struct {
	done    chan struct{}
	runtime *pagesruntime.Runtime
	err     error
}

func startRuntime(ctx context.Context, o pagesruntime.Options) *runtimeStart {
	s := &runtimeStart{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.runtime, s.err = pagesruntime.Open(ctx, o)
	}()
	return s
}

// wait returns the runtime once it is open.
func (s *runtimeStart) wait() (*pagesruntime.Runtime, error) {
	<-s.done
	return s.runtime, s.err
}

// unkept is why what was compiled is not kept for the next start; nil when it is, or while nobody knows.
func (s *runtimeStart) unkept() error {
	select {
	case <-s.done:
	default:
		return nil
	}
	if s.runtime == nil {
		return nil
	}
	return s.runtime.CacheError()
}

func (s *runtimeStart) close(ctx context.Context) error {
	<-s.done
	if s.runtime == nil {
		return nil
	}
	if err := s.runtime.Close(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}
