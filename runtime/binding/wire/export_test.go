package wire

import (
	"io"
	"net/http"
)

// ReadRequest reads a request as a connection does.
func ReadRequest(from io.Reader) (*http.Request, error) {
	b := newBuffers()
	b.in.Reset(from)
	r, _, err := nextRequest(b)
	return r, err
}

// HeadPatience is how long a call waits for earlier ones.
const HeadPatience = headPatience

// Watches reports whether the server looks for the end of a connection, as it does during a call that lasts.
func (s *Server) Watches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if w := c.watch.Load(); w != nil {
			w.mu.Lock()
			running := w.running != nil && !w.stopped
			w.mu.Unlock()
			if running {
				return true
			}
		}
	}
	return false
}

// Open is the number of connections.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
