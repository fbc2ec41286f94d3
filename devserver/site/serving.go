package site

import (
	"sync"
	"sync/atomic"
)

// serving is a revision made ready: its lookup tables, and the count of the requests that use it.
type serving struct {
	*Routing

	revision Revision

	uses atomic.Int64 // requests in flight, plus one while it is the current revision
	end  func()       // once, when uses is back at zero
}

func (s *Site) newServing(r Revision) *serving {
	v := &serving{revision: r, Routing: newRouting(r, s.options.Cache)}
	v.uses.Store(1)
	v.end = sync.OnceFunc(func() {
		s.drains.Go(func() {
			v.static.close()
			if r.Drained != nil {
				r.Drained()
			}
		})
	})
	return v
}

// acquire returns the current revision, which stays whole until release.
func (s *Site) acquire() *serving {
	for {
		v := s.current.Load()
		v.uses.Add(1)
		// Swapped out between the two lines above, it may be closed already.
		if s.current.Load() == v {
			return v
		}
		v.release()
	}
}

func (v *serving) release() {
	if v.uses.Add(-1) == 0 {
		v.end()
	}
}
