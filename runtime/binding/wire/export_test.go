package wire

import (
	"bufio"
	"io"
	"net/http"
)

// ReadRequest reads a request as a connection does.
func ReadRequest(from io.Reader) (*http.Request, error) {
	r, _, err := nextRequest(bufio.NewReader(from))
	return r, err
}

// MaxOutbound is the most outbound requests under way.
const MaxOutbound = maxOutbound

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
