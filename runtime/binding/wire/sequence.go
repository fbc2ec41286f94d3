package wire

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// This file orders the calls of clients that number them.

const (
	clientHeader = headerPrefix + "Client"
	orderHeader  = headerPrefix + "Order"
	// maxClients bounds the remembered clients; the longest idle one is dropped first.
	maxClients = 64
	maxClient  = 64 // bytes of a client's name
)

// queue is the order in which a call waits for its place.
type queue interface {
	wait(ctx context.Context)
	// done releases later calls. A second call has no effect.
	done()
}

// sequences are the numbers of the calls of each client. The zero value is ready.
type sequences struct {
	mu      sync.Mutex
	clients map[string]*sequence
	used    uint64 // counts calls
}

// sequence has the calls of one client that do not have a place yet.
type sequence struct {
	in      *sequences
	used    uint64
	next    uint64 // the lowest number that may still arrive
	ended   map[uint64]bool
	waiting map[uint64]chan struct{}
}

// of returns the place of a numbered request; nil for one without a number.
func (s *sequences) of(h http.Header) *numbered {
	client := h.Get(clientHeader)
	n, err := strconv.ParseUint(h.Get(orderHeader), 10, 64)
	if client == "" || len(client) > maxClient || err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
	one := s.clients[client]
	if one == nil {
		if s.clients == nil {
			s.clients = map[string]*sequence{}
		}
		if len(s.clients) >= maxClients {
			s.forgetLocked()
		}
		one = &sequence{in: s, next: 1, ended: map[uint64]bool{}, waiting: map[uint64]chan struct{}{}}
		s.clients[client] = one
	}
	one.used = s.used
	return &numbered{sequence: one, n: n}
}

func (s *sequences) forgetLocked() {
	oldest := ""
	for name, one := range s.clients {
		if oldest == "" || one.used < s.clients[oldest].used {
			oldest = name
		}
	}
	delete(s.clients, oldest)
}

// numbered is the call of a client with this number.
type numbered struct {
	*sequence

	n uint64
}

// wait waits until the calls with lower numbers have their places. A missing call loses its place after [headPatience].
func (c *numbered) wait(ctx context.Context) {
	c.in.mu.Lock()
	if c.n <= c.next {
		c.in.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	c.waiting[c.n] = turn
	c.in.mu.Unlock()
	late := time.NewTimer(headPatience)
	defer late.Stop()
	lost := false
	select {
	case <-turn:
	case <-late.C:
		lost = true
	case <-ctx.Done():
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	delete(c.waiting, c.n)
	if lost {
		c.skipLocked(c.n)
	}
}

func (c *numbered) done() {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.n < c.next {
		return
	}
	c.ended[c.n] = true
	if len(c.ended) > maxCalls { // earlier ones will not arrive
		c.skipLocked(c.n)
	}
	c.advanceLocked()
}

// skipLocked ends the wait of all calls for numbers below n.
func (s *sequence) skipLocked(n uint64) {
	s.next = max(s.next, n)
	for number := range s.ended {
		if number < s.next {
			delete(s.ended, number)
		}
	}
	for number, turn := range s.waiting {
		if number < s.next {
			close(turn)
			delete(s.waiting, number)
		}
	}
	s.advanceLocked()
}

// advanceLocked releases the next call.
func (s *sequence) advanceLocked() {
	for s.ended[s.next] {
		delete(s.ended, s.next)
		s.next++
	}
	if turn := s.waiting[s.next]; turn != nil {
		close(turn)
		delete(s.waiting, s.next)
	}
}
