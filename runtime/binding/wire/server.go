package wire

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
)

// idleTime bounds a goroutine's wait for its next connection.
const idleTime = 10 * time.Second

// acceptPause is the wait of Server after a failed accept.
const acceptPause = time.Millisecond

// Server listens for a Handler. Close it.
type Server struct {
	// Address is its address in the form of workerd's configuration: "unix:/…" or "127.0.0.1:port".
	Address string

	handler  *Handler
	listener net.Listener
	folder   string // the folder of the socket; "" for none
	slots    chan struct{}
	next     chan *conn // for a goroutine that waits
	closing  chan struct{}
	work     sync.WaitGroup

	mu     sync.Mutex
	conns  map[*conn]struct{}
	closed bool
}

// Start listens on a socket in a new folder that only this user may open. On Windows it listens on loopback, with a token of its
// own if o has none.
func Start(o Options) (*Server, error) {
	s := &Server{next: make(chan *conn), closing: make(chan struct{}), conns: map[*conn]struct{}{}}
	if err := s.listen(&o); err != nil {
		return nil, errors.Join(fmt.Errorf("serve the bindings: %w", err), s.removeFolder())
	}
	s.handler = New(o)
	s.slots = make(chan struct{}, s.handler.o.Connections)
	s.work.Go(s.accept)
	return s, nil
}

func (s *Server) listen(o *Options) (err error) {
	if runtime.GOOS == "windows" {
		if o.Token == "" {
			o.Token = rand.Text()
		}
		if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err == nil { //nolint:noctx // it waits for nothing
			s.Address = s.listener.Addr().String()
		}
		return err
	}
	if s.folder, err = os.MkdirTemp("", "pages-wire-"); err != nil { // of mode 0700
		return err
	}
	path := filepath.Join(s.folder, "wire")
	if s.listener, err = net.Listen("unix", path); err != nil { //nolint:noctx // it waits for nothing
		return err
	}
	s.Address = "unix:" + path
	return os.Chmod(path, 0o600)
}

// Rebind is [Handler.Rebind].
func (s *Server) Rebind(set *binding.Set) { s.handler.Rebind(set) }

func (s *Server) removeFolder() error {
	if s.folder == "" {
		return nil
	}
	return os.RemoveAll(s.folder)
}

// Close cancels current calls and waits for them.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.closing)
	err := s.listener.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.handler.Close()
	s.work.Wait()
	return errors.Join(err, s.removeFolder())
}

// accept serves connections. A new connection is the arrival of a call, since a client opens one for each call; connections of
// ordered calls are not reused.
func (s *Server) accept() {
	for {
		select {
		case s.slots <- struct{}{}:
		case <-s.closing:
			return
		}
		stream, err := s.listener.Accept()
		if err != nil {
			<-s.slots
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select {
			case <-time.After(acceptPause): // out of files: some are closed soon
				continue
			case <-s.closing:
				return
			}
		}
		c := s.newConn(stream)
		c.next = s.handler.arrivals.add(c.isSilent)
		s.start(c)
	}
}

// crowded reports whether connections must close after their call, to make room for new ones.
func (s *Server) crowded() bool { return len(s.slots) > cap(s.slots)/2 }

// start serves a connection, which already has a slot, on an idle goroutine, whose stack has grown, or a new one.
func (s *Server) start(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		<-s.slots
		return
	}
	s.conns[c] = struct{}{}
	select {
	case s.next <- c:
	default:
		s.work.Go(func() { s.serve(c) })
	}
}

// serve serves a connection, and then those that come while it waits.
func (s *Server) serve(c *conn) {
	idle := time.NewTimer(idleTime)
	defer idle.Stop()
	for {
		c.serve()
		_ = c.Close()
		c.release()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		<-s.slots
		idle.Reset(idleTime)
		select {
		case c = <-s.next:
		case <-idle.C:
			return
		case <-s.closing:
			return
		}
	}
}
