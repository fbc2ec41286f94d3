package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/oracle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// clock passes only while someone sleeps.
type clock struct {
	mu    sync.Mutex
	time  time.Time
	slept []time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func (c *clock) total() (sum time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// testService is the real service on real HTTP, with the demo's data.
type testService struct {
	*clock
	url  string
	demo service.Demo
}

func newTestService(t *testing.T) *testService {
	t.Helper()
	w := &testService{clock: &clock{time: time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)}}
	s, err := service.Open(t.Context(), filepath.Join(t.TempDir(), "service.db"), service.Options{Now: w.now})
	if err != nil {
		t.Fatal(err)
	}
	if w.demo, err = s.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(oracle.Of(t, s).Handler(s))
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w.url = server.URL
	return w
}

// stub is a server with scripted responses and a counter.
type stub struct {
	*httptest.Server
	mu    sync.Mutex
	heard []*http.Request
}

func newStub(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *stub {
	t.Helper()
	s := &stub{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.heard = append(s.heard, r)
		n := len(s.heard)
		s.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *stub) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.heard)
}

const stubKey = "pgk_thekeythatnobodymaysee_0123456789"

// dial returns a client of an address with the clock's time, and its warnings.
func dial(t *testing.T, url, key string, c *clock) (*client.Client, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var told []string
	cl, err := client.New(client.Options{BaseURL: url, Key: key, Now: c.now, Sleep: c.sleep, Idle: 10 * time.Second, Warn: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, s)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl, func() []string { mu.Lock(); defer mu.Unlock(); return told }
}
