package main

import (
	"sync"
	"time"
)

// sampler watches the memory of a process and all its descendants.
type sampler struct {
	stop chan struct{}
	wg   sync.WaitGroup
	peak int64 // bytes; 0 when it cannot be told on this system
}

// watchMemory samples every 50 ms until the sampler is asked for its peak.
func watchMemory(pid int) *sampler {
	s := &sampler{stop: make(chan struct{})}
	s.wg.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			s.peak = max(s.peak, treeMemory(pid))
			select {
			case <-s.stop:
				return
			case <-tick.C:
			}
		}
	})
	return s
}

// end stops the sampling and returns the most that was seen.
func (s *sampler) end() int64 {
	close(s.stop)
	s.wg.Wait()
	return s.peak
}
