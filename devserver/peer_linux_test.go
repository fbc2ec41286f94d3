package devserver

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// On one machine a client that went away is told from one that only sends no more.
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
		if orphaned(accepted) {
			t.Errorf("%s: gone before it went", address)
		}
		if tcp, ok := dialed.(*net.TCPConn); !ok || tcp.CloseWrite() != nil || orphaned(accepted) {
			t.Errorf("%s: gone after its last word", address)
		}
		if dialed.Close() != nil || !orphaned(accepted) {
			t.Errorf("%s: still there after it went", address)
		}
	}
}

// A request whose client goes away without a word ends long before halfClosed. On a
// machine that is busy for so long it may be missed later, so there are several tries.
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

// TestClientWithABodyIsMissed has a client leave whose body nobody reads, and one that only sends no more.
func TestClientWithABodyIsMissed(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error)
	worker := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		began <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-time.After(halfClosed / 2):
		}
		ended <- r.Context().Err()
		return nil
	})
	r := serve(t, &folderBuilder{dir: siteDir(t), worker: worker, routes: []manifest.Route{{Pattern: "/*"}}}, Off)
	for _, body := range []string{"Content-Length: 5\r\n\r\nhello", "Content-Length: 5\r\n\r\nhe", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"} {
		missed := false
		for range 5 { // a machine may be busy for so long
			c := dial(t, r)
			fmt.Fprint(c, "POST /wait HTTP/1.1\r\nHost: localhost\r\n"+body)
			<-began
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if missed = <-ended != nil; missed {
				break
			}
		}
		if !missed {
			t.Errorf("%q: the request goes on", body)
		}
	}
	c := dial(t, r)
	fmt.Fprint(c, "POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
	<-began
	if half, ok := c.(*net.TCPConn); !ok || half.CloseWrite() != nil {
		t.Fatal("no half-closed connection")
	}
	if err := <-ended; err != nil {
		t.Errorf("who waits for the answer is missed: %v", err)
	}
}
