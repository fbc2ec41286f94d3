// Package nodebindings serves the bindings of a site in development to processes of this machine: a framework's dev server, a test runner.
//
// [Start] listens on a socket that only this user may open, and every call must have the token of this run. [Server.Rebind] sets the
// bindings after each build; calls wait for the first one. With [Server.Variables] in its environment, a process finds the server;
// processes use the formats of package wire. Options.Called gets each call after its end.
//
// Start fails if it cannot make the socket. Everything is safe for concurrent use. The package opens no store, and the token gives the
// permissions of the site's Worker.
package nodebindings

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/wire"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// The variables of a process that uses the bindings.
const (
	AddressVariable = "PAGES_BINDINGS"
	TokenVariable   = "PAGES_BINDINGS_TOKEN"
)

// drainTime is how long the databases of replaced bindings stay open, for calls that have not ended.
const drainTime = 30 * time.Second

// Options configure a Server.
type Options struct {
	Memory *engine.HostMemory // nil for a new one
	// Called gets each call after its end, from several goroutines. Nil ignores them.
	Called func(wire.Call)
}

// Server serves bindings. Close it before their stores.
type Server struct {
	// Address is where it listens: "unix:/…" or "127.0.0.1:port". Token must come with each call.
	Address, Token string

	wire  *wire.Server
	ready chan struct{}
	once  sync.Once
	// caches is set before ready is closed.
	caches atomic.Pointer[http.Handler]

	mu      sync.Mutex
	current *binding.Set
	old     map[*binding.Set]*time.Timer
}

// Start listens.
func Start(o Options) (*Server, error) {
	s := &Server{Token: rand.Text(), ready: make(chan struct{}), old: map[*binding.Set]*time.Timer{}}
	var err error
	s.wire, err = wire.Start(wire.Options{
		Token: s.Token, Memory: o.Memory, Called: o.Called, Env: true, Ready: s.ready,
		Caches: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.caches.Load()).ServeHTTP(w, r) }),
	})
	if err != nil {
		return nil, err
	}
	s.Address = s.wire.Address
	return s, nil
}

// Variables are the variables with which a process finds the server: "NAME=value".
func (s *Server) Variables() []string {
	return []string{AddressVariable + "=" + s.Address, TokenVariable + "=" + s.Token}
}

// Proof returns the header that marks a request as passed on by this program. Only a holder of the token can check it, and it does not
// reveal the token.
func (s *Server) Proof() string {
	sum := sha256.Sum256([]byte("pages passes this on " + s.Token))
	return hex.EncodeToString(sum[:])
}

// Rebind makes later calls use these bindings and caches. The databases are closed by Forget, by Close, or some time after the next Rebind.
func (s *Server) Rebind(set *binding.Set, caches http.Handler) {
	s.caches.Store(&caches)
	s.wire.Rebind(set)
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.current; before != nil {
		s.old[before] = time.AfterFunc(drainTime, func() { s.Forget(before) })
	}
	s.current = set
	s.once.Do(func() { close(s.ready) })
}

// Forget closes the databases of bindings whose stores end.
func (s *Server) Forget(set *binding.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch timer := s.old[set]; {
	case timer != nil:
		timer.Stop()
		delete(s.old, set)
	case s.current == set:
		s.current = nil
	default:
		return
	}
	_ = closeDatabases(set) // releasing a connection fails only if it is gone already
}

// Close ends the open calls, and closes the databases.
func (s *Server) Close() error {
	err := s.wire.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for set, timer := range s.old {
		timer.Stop()
		_ = closeDatabases(set)
	}
	s.old = nil
	if s.current != nil {
		_ = closeDatabases(s.current)
		s.current = nil
	}
	if err != nil {
		return fmt.Errorf("end the bindings for other processes: %w", err)
	}
	return nil
}

func closeDatabases(set *binding.Set) error {
	var errs []error
	for _, db := range set.D1 {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

// Describe formats a call as one line: `DB.query in 0.3 ms`, and the error, if any.
func Describe(c wire.Call) string {
	name := c.Binding
	if name == "" {
		name = c.Kind
	}
	line := fmt.Sprintf("%s.%s in %.1f ms", name, c.Method, float64(c.Duration)/float64(time.Millisecond))
	if c.Err != "" {
		line += ": " + c.Err
	}
	return line
}

// IsBinding reports whether a call uses a binding; other calls ask about the environment.
func IsBinding(c wire.Call) bool {
	return slices.Contains([]string{"kv", "r2", "d1", "images", "assets"}, c.Kind) && strings.TrimSpace(c.Method) != ""
}
