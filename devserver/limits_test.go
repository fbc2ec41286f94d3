package devserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// pipeListener hands out one end of in-memory connections, whose deadlines run
// on the fake clock of a synctest bubble.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (l *pipeListener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

// pipeServer serves handler with the dev server's limits until the test ends.
func pipeServer(t *testing.T, handler http.Handler) *pipeListener {
	t.Helper()
	l := newPipeListener()
	s := &Server{Options: Options{Site: fakeSite{handler}, Hub: NewHub(HubOptions{LiveReload: Off}), Now: time.Now, Logger: discard()}}
	s.first = make(chan struct{})
	close(s.first)
	ctx, cancel := context.WithCancel(t.Context())
	server, bounded := s.server(ctx, ctx)
	go func() { _ = server.Serve(bounded(l)) }() // ends with the test
	t.Cleanup(func() {
		cancel()
		server.Close()
	})
	return l
}

// lifetime returns how long the server keeps a connection on which do runs.
func lifetime(t *testing.T, handler http.HandlerFunc, do func(net.Conn)) time.Duration {
	t.Helper()
	var life time.Duration
	synctest.Test(t, func(t *testing.T) {
		c := pipeServer(t, handler).dial()
		start := time.Now()
		var writing sync.WaitGroup
		writing.Go(func() { do(c) })
		if _, err := io.Copy(io.Discard, c); err != nil { // until the server closes
			t.Error(err)
		}
		life = time.Since(start)
		c.Close()
		writing.Wait()
	})
	return life
}

func TestSlowClientsAreEnded(t *testing.T) {
	read := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "slow", http.StatusRequestTimeout)
		}
	}
	ignore := func(http.ResponseWriter, *http.Request) {}
	drip := func(head string) func(net.Conn) {
		return func(c net.Conn) {
			fmt.Fprint(c, head)
			for {
				time.Sleep(time.Second)
				if _, err := fmt.Fprint(c, "a"); err != nil {
					return
				}
			}
		}
	}
	const post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
	tests := []struct {
		name    string
		handler http.HandlerFunc
		do      func(net.Conn)
		want    time.Duration
	}{
		{"silent", ignore, func(net.Conn) {}, 10 * time.Second},
		{"half a head", ignore, func(c net.Conn) { fmt.Fprint(c, "GET / HT") }, 10 * time.Second},
		{"a head of one byte a second", ignore, drip("GET / HTTP/1.1\r\nX: "), 10 * time.Second},
		{"idle after a request", ignore, func(c net.Conn) { fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") }, 60 * time.Second},
		{"a body that does not come", read, func(c net.Conn) { fmt.Fprint(c, post) }, 10 * time.Second},
		{"a body of one byte a second", read, drip(post), 10 * time.Second},
		{"an unread body", ignore, func(c net.Conn) { fmt.Fprint(c, post) }, 10 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := lifetime(t, test.handler, test.do)
			if got < test.want || got > test.want+2*time.Second {
				t.Errorf("%s: closed after %v, want about %v", test.name, got, test.want)
			}
		})
	}
}

// A body that keeps the pace may take long, and so may a handler between reads.
func TestSteadyBodyIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got int64
		l := pipeServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			buffer := make([]byte, 2048)
			for {
				n, err := r.Body.Read(buffer)
				got += int64(n)
				if err != nil {
					return
				}
				if got < 4096 {
					time.Sleep(time.Hour)
				}
			}
		}))
		c := l.dial()
		defer c.Close()
		const kib = 100
		go func() {
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", kib*1024)
			for range kib {
				time.Sleep(time.Second)
				fmt.Fprint(c, strings.Repeat("x", 1024))
			}
		}()
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != http.StatusOK || got != kib*1024 {
			t.Errorf("read %d bytes: %v, %v", got, res, err)
		}
	})
}

// A client that does not read is disconnected; a long stream with a reader is not.
func TestStalledReaderIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		start := time.Now()
		done := make(chan struct{})
		l := pipeServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			defer close(done)
			for err == nil {
				_, err = w.Write(make([]byte, 64<<10))
			}
		}))
		c := l.dial()
		defer c.Close()
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		<-done
		if took := time.Since(start); err == nil || took != stalledWrite {
			t.Errorf("ended after %v: %v", took, err)
		}
	})
}

// drip serves pieces of a size without end, to a client that reads one in each period, and returns the time until it was disconnected, at
// most limit.
func drip(t *testing.T, written, size int, period, limit time.Duration) (life time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		l := pipeServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			flush := http.NewResponseController(w)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, written)); err != nil || flush.Flush() != nil {
					return
				}
			}
		}))
		c := l.dial()
		defer c.Close()
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		piece := make([]byte, size)
		for time.Since(start) < limit {
			if _, err := io.ReadFull(c, piece); err != nil {
				break
			}
			time.Sleep(period)
		}
		life = time.Since(start)
	})
	return life
}

// A client that always reads, but very little, is disconnected, too.
func TestDrippingReaderIsEnded(t *testing.T) {
	if life := drip(t, 100, 100, 5*time.Second, time.Hour); life > 2*stalledWrite {
		t.Errorf("100 bytes in 5 s: ended after %v", life)
	}
	if life := drip(t, 4096, 4096, 2*time.Second, 10*time.Minute); life < 10*time.Minute {
		t.Errorf("2 KiB a second: ended after %v", life)
	}
	if life := drip(t, 1<<20, 1024, time.Second, time.Hour); life > 2*stalledWrite {
		t.Errorf("1 KiB a second of a whole megabyte: ended after %v", life)
	}
	if life := drip(t, 1<<20, 4096, time.Second, 10*time.Minute); life < 10*time.Minute {
		t.Errorf("4 KiB a second of a whole megabyte: ended after %v", life)
	}
}

// A client that has closed its sending side still gets its response; one that left ends its request some time later.
func TestHalfClosedClient(t *testing.T) {
	ended := make(chan time.Duration, 1)
	worker := workerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if r.URL.Path == "/wait" {
			start := time.Now()
			<-r.Context().Done()
			ended <- time.Since(start)
			return nil
		}
		select {
		case <-time.After(halfClosed / 4):
		case <-r.Context().Done():
		}
		_, err := fmt.Fprint(w, "here you are: ", r.Context().Err())
		return err
	})
	r := serve(t, &folderBuilder{dir: siteDir(t), worker: worker, routes: []manifest.Route{{Pattern: "/*"}}}, Off)
	half := func(path string) net.Conn {
		c := dial(t, r)
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
		if tcp, ok := c.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
			t.Fatal("not half closed")
		}
		return c
	}
	answer, err := io.ReadAll(half("/soon"))
	if err != nil || !strings.Contains(string(answer), "here you are: <nil>") {
		t.Errorf("%q, %v", answer, err)
	}
	half("/wait")
	if waited := <-ended; waited < halfClosed/2 {
		t.Errorf("ended after %v", waited)
	}
	// An incomplete request is not a request.
	c := dial(t, r)
	fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
	if tcp, ok := c.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		t.Fatal("not half closed")
	}
	if _, err := io.ReadAll(c); err != nil {
		t.Error(err)
	}
}

// The server sees the end of a client's input before the handler of its request begins: the request continues, and is cancelled after its
// grace period, or at its end.
func TestHalfClosedBeforeItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := &connPool{max: 10, now: time.Now}
		for state, want := range map[http.ConnState]time.Duration{http.StateActive: halfClosed, http.StateIdle: 0} {
			client, server := net.Pipe()
			c := pool.admit(server)
			go func() {
				fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
				client.Close()
			}()
			if _, err := c.Read(make([]byte, 1024)); err != nil {
				t.Fatal(err)
			}
			trackState(c, http.StateActive)
			trackState(c, state)
			began := time.Now()
			if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || time.Since(began) != want {
				t.Errorf("%v: %d, %v after %v, want the end after %v", state, n, err, time.Since(began), want)
			}
		}
	})
}

type workerFunc func(http.ResponseWriter, *http.Request) error

func (f workerFunc) Serve(w http.ResponseWriter, r *http.Request) error { return f(w, r) }

func TestRequestSizes(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	line := func(n int) string { return strings.Repeat("a", n-len("GET / HTTP/1.1\r\n")) }
	lines := func(n int) string { return strings.Repeat("X-A: b\r\n", n) }
	tests := []struct {
		name, target, header string
		want                 string
	}{
		{"a request line of 8 KiB", "/?" + line(maxRequestLine-1), "", "200"},
		{"a request line of 8 KiB + 1", "/?" + line(maxRequestLine), "", "414"},
		{"100 lines", "/", lines(98), "200"},
		{"101 lines", "/", lines(100), "431"},
		{"30 KiB", "/", "X-A: " + strings.Repeat("a", 30<<10) + "\r\n", "200"},
		{"32 KiB + 1", "/", "X-A: " + strings.Repeat("a", 32<<10) + "\r\n", "431"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := dial(t, r)
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", test.target, test.header)
			status, err := bufio.NewReader(c).ReadString('\n')
			if err != nil || !strings.HasPrefix(status, "HTTP/1.1 "+test.want) {
				t.Errorf("%s: %q, %v; want %s", test.name, status, err, test.want)
			}
		})
	}
}

// A client that sends Expect: 100-continue gets its response at once when the handler
// does not read the body, and 100 when it does.
func TestExpectedContinue(t *testing.T) {
	for _, c := range []struct{ path, want string }{{"/", "HTTP/1.1 200 OK\r\n"}, {"/read", "HTTP/1.1 100 Continue\r\n"}} {
		synctest.Test(t, func(t *testing.T) {
			l := pipeServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/read" {
					_, _ = io.Copy(io.Discard, r.Body)
				}
			}))
			conn := l.dial()
			defer conn.Close()
			start := time.Now()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 500000\r\n\r\n", c.path)
			status, err := bufio.NewReader(conn).ReadString('\n')
			if status != c.want || err != nil || time.Since(start) > 0 {
				t.Errorf("%s: %q, %v after %v", c.path, status, err, time.Since(start))
			}
		})
	}
}

func dial(t *testing.T, r *running) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A thousand silent connections keep no client out.
func TestHalfOpenConnectionsKeepNobodyOut(t *testing.T) {
	r := serve(t, &folderBuilder{dir: siteDir(t)}, Hot)
	for range 1000 {
		dial(t, r)
	}
	if got := r.ask(t, "GET", "/"); got.body != "1" {
		t.Errorf("%s %q", got.Status, got.body)
	}
}

// When a request runs on every connection, the next one gets 503.
func TestTooManyRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		l := pipeServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-let }))
		for range maxConns {
			c := l.dial()
			defer c.Close()
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
		synctest.Wait()
		c := l.dial()
		reply, err := io.ReadAll(c)
		if err != nil || string(reply) != busyReply {
			t.Errorf("%q, %v", reply, err)
		}
		close(let)
		synctest.Wait()
		if c = l.dial(); c != nil { // an idle connection makes room
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			if reply, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(reply), "HTTP/1.1 200") {
				t.Errorf("%q, %v", reply, err)
			}
		}
	})
}

// Posts whose bodies do not end keep no client out: the server closes the one that has been
// silent for longest. Clients that send steadily, or wait for a response, continue.
func TestHalfSentPostsKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		l := pipeServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if r.URL.Path == "/wait" {
				<-let
			}
			fmt.Fprint(w, len(body), err)
		}))
		send := func(text string) net.Conn {
			c := l.dial()
			t.Cleanup(func() { c.Close() })
			fmt.Fprint(c, text)
			return c
		}
		status := func(c net.Conn) string {
			line, _ := bufio.NewReader(c).ReadString('\n')
			return strings.TrimSpace(line)
		}
		const head = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		waiting := send("POST /wait" + head + "Content-Length: 4\r\n\r\nbody")
		steady := send("POST /" + head + "Content-Length: 12\r\n\r\nhalf")
		for i := range 3 * maxConns {
			framed := "Content-Length: 1000\r\n\r\nhalf"
			if i%2 == 1 {
				framed = "Transfer-Encoding: chunked\r\n\r\n100\r\nhalf"
			}
			send("POST /" + head + framed)
			synctest.Wait()
			time.Sleep(time.Millisecond)
			if i%100 == 99 {
				fmt.Fprint(steady, "m")
				synctest.Wait()
			}
		}
		if got := status(send("GET /" + head + "\r\n")); got != "HTTP/1.1 200 OK" {
			t.Errorf("the next visitor got %q", got)
		}
		fmt.Fprint(steady, "m")
		if got := status(steady); got != "HTTP/1.1 200 OK" {
			t.Errorf("who sends steadily got %q", got)
		}
		close(let)
		if got := status(waiting); got != "HTTP/1.1 200 OK" {
			t.Errorf("who waits for its answer got %q", got)
		}
	})
}

// Of the clients that hold back a body, one from the address with the most of them gives way.
func TestSlowestOfTheBusiestAddress(t *testing.T) {
	pool := &connPool{max: 10, now: time.Now}
	add := func(address string, since int64) *conn {
		c := &conn{Conn: addressed{address: address}, pool: pool}
		c.busy.Store(true)
		c.silent.Store(since)
		c.place = pool.open.PushBack(c)
		return c
	}
	if pool.slowest() != nil {
		t.Error("one of none")
	}
	add("192.0.2.1:1", 1)
	add("192.0.2.2:1", 3)
	want := add("192.0.2.2:2", 2)
	add("192.0.2.2:3", 0)
	if got := pool.slowest(); got != want {
		t.Errorf("%v since %d", got.RemoteAddr(), got.silent.Load())
	}
}

// addressed is a connection that only has an address.
type addressed struct {
	net.Conn
	address string
}

func (a addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a.address))
}

// Files of several chunks arrive complete when the kernel sends them.
func TestLargeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large")
	content := strings.Repeat("0123456789abcdef", 200_000)
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	l := listenFree(t)
	pool := &connPool{max: maxConns, now: time.Now}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) })}
	go func() { _ = server.Serve(pool.listener(l.V4)) }() // ends with the test
	defer server.Close()
	for _, span := range []string{"", "Range: bytes=5-2999999"} {
		want, header := content, []string{}
		if span != "" {
			want, header = content[5:3_000_000], []string{span}
		}
		if got := askURL(t, "GET", l.URL, header...); got.body != want {
			t.Errorf("%q: %d bytes, want %d", span, len(got.body), len(want))
		}
	}
}
