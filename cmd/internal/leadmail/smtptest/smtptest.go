// Package smtptest is a mail server for tests: it listens on this machine, speaks the part of RFC 5321 that a client needs to send a mail,
// and keeps the mails.
//
// It has neither TLS nor sign-in. A [Server] is safe for concurrent use.
package smtptest

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Options configure a server. The zero value takes every mail.
type Options struct {
	// Data has the replies to the end of each mail, in order; later mails get "250 taken".
	Data []string
	// Answers has the replies to commands by their verb, such as "RCPT".
	Answers map[string]string
	// HangUp ends the connection after the reply to a mail.
	HangUp bool
	// Greet is called before the greeting of each connection. Nil greets at once.
	Greet func()
	// Taken is called after a mail was taken, before the reply. Nil replies at once.
	Taken func(text string)
}

// Server is a mail server.
type Server struct {
	listener net.Listener
	options  Options
	end      func()

	mu    sync.Mutex
	data  []string
	mails []string
	conns map[net.Conn]bool // nil after the end
}

// New starts a server, which ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{listener: l, options: o, data: o.Data, conns: map[net.Conn]bool{}}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if s.keep(conn) {
				served.Go(func() { s.serve(conn) })
			}
		}
	})
	s.end = sync.OnceFunc(func() { l.Close(); s.hangUp(); served.Wait() })
	t.Cleanup(s.end)
	return s
}

// URL is the address of the server for --smtp.
func (s *Server) URL() string { return "smtp://" + s.listener.Addr().String() }

// Close ends the server and its listener.
func (s *Server) Close() { s.end() }

// Mails returns all mails with their headers and lines ended by CR LF, including refused ones.
func (s *Server) Mails() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

func (s *Server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		conn.Close()
		return false
	}
	s.conns[conn] = true
	return true
}

func (s *Server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}

func (s *Server) serve(conn net.Conn) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, conn)
		conn.Close()
	}()
	if s.options.Greet != nil {
		s.options.Greet()
	}
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 test\r\n")
	for lines.Scan() {
		verb, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " ")
		switch answer := s.options.Answers[verb]; {
		case answer != "":
			fmt.Fprintf(conn, "%s\r\n", answer)
		case verb == "EHLO":
			fmt.Fprint(conn, "250-test\r\n250 8BITMIME\r\n")
		case verb == "DATA":
			fmt.Fprint(conn, "354 go on\r\n")
			var text strings.Builder
			whole := false
			for !whole && lines.Scan() {
				if whole = lines.Text() == "."; !whole {
					text.WriteString(strings.TrimPrefix(lines.Text(), ".") + "\r\n")
				}
			}
			if !whole {
				return
			}
			fmt.Fprintf(conn, "%s\r\n", s.take(text.String()))
			if s.options.HangUp {
				return
			}
		case verb == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

// take keeps a mail, and returns the reply to it.
func (s *Server) take(text string) (answer string) {
	s.mu.Lock()
	s.mails = append(s.mails, text)
	answer = "250 taken"
	if len(s.data) > 0 {
		answer, s.data = s.data[0], s.data[1:]
	}
	s.mu.Unlock()
	if s.options.Taken != nil {
		s.options.Taken(text)
	}
	return answer
}
