package devserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// On one machine, a client that left differs from one that only stopped sending.
func TestOrphaned(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		dialed, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		if isOrphaned(accepted) {
			t.Errorf("%s: gone before it went", address)
		}
		if tcp, ok := dialed.(*net.TCPConn); !ok || tcp.CloseWrite() != nil || isOrphaned(accepted) {
			t.Errorf("%s: gone after its last word", address)
		}
		if dialed.Close() != nil || !isOrphaned(accepted) {
			t.Errorf("%s: still there after it went", address)
		}
	}
}

// A request whose client disappears ends long before halfClosed. On a busy machine the server may notice it later, so there are several
// tries.
func TestSilentClientIsMissed(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	worker := workerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		began <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
		return nil
	})
	r := serve(t, &folderBuilder{dir: siteDir(t), worker: worker, routes: []manifest.Route{{Pattern: "/*"}}}, Off)
	var took time.Duration
	for range 5 {
		c := dial(t, r)
		fmt.Fprint(c, "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-began
		gone := time.Now()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		<-ended
		if took = time.Since(gone); took < halfClosed/2 {
			return
		}
	}
	t.Errorf("missed after %v", took)
}

// TestClientIsMissed makes clients leave where net/http does not look for them, from both kinds of servers, and one that only stops
// sending.
func TestClientIsMissed(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error)
	wait := func(_ http.ResponseWriter, r *http.Request) error {
		if r.URL.Path != "/wait" {
			return nil
		}
		began <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-time.After(halfClosed / 2):
		}
		ended <- r.Context().Err()
		return nil
	}
	dev := serve(t, &folderBuilder{dir: siteDir(t), worker: workerFunc(wait), routes: []manifest.Route{{Pattern: "/*"}}}, Off)
	published := guarded(t, func(w http.ResponseWriter, r *http.Request) { _ = wait(w, r) })
	open := func(address, text string) net.Conn {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, text)
		<-began
		return c
	}
	const post, get = "POST /wait HTTP/1.1\r\nHost: localhost\r\n", "GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, address := range []string{strings.TrimPrefix(dev.url, "http://"), published} {
		for _, sent := range [][2]string{
			{post + "Content-Length: 5\r\n\r\nhello"},
			{post + "Content-Length: 5\r\n\r\nhe"},
			{post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"},
			{post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"},
			{get, "GET /next HTTP/1.1\r\n"},
			{get, strings.Replace(get, "/wait", "/next", 1)},
			{strings.Replace(get, "GET", "HEAD", 1)},
		} {
			missed := false
			for range 5 { // a machine may be busy for that long
				c := open(address, sent[0])
				fmt.Fprint(c, sent[1])
				time.Sleep(peerPoll)
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if missed = <-ended != nil; missed {
					break
				}
			}
			if !missed {
				t.Errorf("%q, then %q: the request goes on", sent[0], sent[1])
			}
		}
		c := open(address, post+"Content-Length: 5\r\n\r\nhello")
		if half, ok := c.(*net.TCPConn); !ok || half.CloseWrite() != nil {
			t.Fatal("no half-closed connection")
		}
		if err := <-ended; err != nil {
			t.Errorf("who waits for the answer is missed: %v", err)
		}
		c.Close()
	}
}

// guarded serves under the bounds of [Guard], and returns its address.
func guarded(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: readHeaderTimeout}
	bounded := Guard(server, maxConns, time.Now)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(bounded(l)) }() // it ends with the test
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// TestSlowReaderOfALastBody: a client sends a complete body, and a Worker reads it for longer than the limit for silent clients. The client
// does not count as stalled: it waits for the response.
func TestSlowReaderOfALastBody(t *testing.T) {
	const size = 60 << 10 // at once, with its end
	got := make(chan error, 1)
	address := guarded(t, func(_ http.ResponseWriter, r *http.Request) {
		part := make([]byte, size/6)
		for range 6 {
			if _, err := io.ReadFull(r.Body, part); err != nil {
				t.Error(err)
			}
			time.Sleep(halfClosed / 4)
		}
		got <- r.Context().Err()
	})
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("a", size))
	if half, ok := c.(*net.TCPConn); !ok || half.CloseWrite() != nil {
		t.Fatal("no half-closed connection")
	}
	if err := <-got; err != nil {
		t.Errorf("who waits for the answer is missed: %v", err)
	}
}
