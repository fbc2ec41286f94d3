package devserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	chunkedHead = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
	sizedHead   = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
	smuggled    = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// ambiguous are requests that two programs may read in two ways. Bytes after them must never get a response.
var ambiguous = []struct{ name, request string }{
	{"length and chunks", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"chunks and length", chunkedHead + "Content-Length: 5\r\n\r\n0\r\n\r\n"},
	{"chunks and no length", chunkedHead + "content-length:0\r\n\r\n0\r\n\r\n"},
	{"two codings", chunkedHead + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"another coding", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n"},
	{"identity", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n"},
	{"a list of codings", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
	{"almost chunked", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
	{"quoted coding", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"},
	{"vertical tab in a coding", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"},
	{"empty coding", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:\r\n\r\n"},
	{"coding of HTTP/1.0", "POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"two lengths", sizedHead + "Content-Length: 6\r\n\r\nhello"},
	{"the same length twice", sizedHead + "Content-Length: 5\r\n\r\nhello"},
	{"a list of lengths", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5, 5\r\n\r\nhello"},
	{"length +5", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello"},
	{"length -5", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\nhello"},
	{"length 0x5", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x5\r\n\r\nhello"},
	{"empty length", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length:\r\n\r\nhello"},
	{"length over 63 bits", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9223372036854775808\r\n\r\nhello"},
	{"space before the colon", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length : 5\r\n\r\nhello"},
	{"folded header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n c\r\n\r\n"},
	{"folded with a tab", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n\tTransfer-Encoding: chunked\r\n\r\n"},
	{"folded first header", "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n"},
	{"bare line feed after the request line", "GET / HTTP/1.1\nHost: localhost\r\n\r\n"},
	{"bare line feed after a header", "GET / HTTP/1.1\r\nHost: localhost\n\r\n"},
	{"bare line feed as the last line", "GET / HTTP/1.1\r\nHost: localhost\r\n\n"},
	{"line feeds alone", "GET / HTTP/1.1\nHost: localhost\n\n"},
	{"bare carriage return", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b\rContent-Length: 5\r\n\r\n"},
	{"two carriage returns", "GET / HTTP/1.1\r\nHost: localhost\r\r\n\r\n"},
	{"zero byte in a header", "GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b\x00c\r\n\r\n"},
	{"zero byte in a name", "GET / HTTP/1.1\r\nHost: localhost\r\nX\x00A: b\r\n\r\n"},
	{"zero byte in the request line", "GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n"},
}

// badBodies begin like any request and break off in the body.
var badBodies = []struct{ name, request string }{
	{"chunk size with a sign", chunkedHead + "\r\n+5\r\nhello\r\n0\r\n\r\n"},
	{"chunk size with a prefix", chunkedHead + "\r\n0x5\r\nhello\r\n0\r\n\r\n"},
	{"chunk size missing", chunkedHead + "\r\n\r\nhello\r\n0\r\n\r\n"},
	{"chunk size of 17 digits", chunkedHead + "\r\n00000000000000005\r\nhello\r\n0\r\n\r\n"},
	{"chunk size over 63 bits", chunkedHead + "\r\nffffffffffffffff\r\nhello\r\n0\r\n\r\n"},
	{"chunk line with a bare line feed", chunkedHead + "\r\n5\nhello\r\n0\r\n\r\n"},
	{"extension with a bare line feed", chunkedHead + "\r\n5;a\nhello\r\n0\r\n\r\n"},
	{"chunk that is too long", chunkedHead + "\r\n5\r\nhello!\r\n0\r\n\r\n"},
	{"chunk without an end", chunkedHead + "\r\n5\r\nhello0\r\n\r\n"},
	{"trailer with a bare line feed", chunkedHead + "\r\n0\r\nX-A: b\n\r\n"},
	{"folded trailer", chunkedHead + "\r\n0\r\nX-A: b\r\n c\r\n\r\n"},
}

// statusesOf writes to a connection and returns the statuses of all responses until the server closes it.
func statusesOf(t *testing.T, c net.Conn, text string) (statuses []int) {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(waitLimit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(c)
	for {
		if _, err := from.Peek(1); errors.Is(err, io.EOF) {
			return statuses
		} else if err != nil {
			t.Fatalf("%q: the connection stays open after %v: %v", text, statuses, err)
		}
		res, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		res.Body.Close()
		statuses = append(statuses, res.StatusCode)
	}
}

// framedServer counts the requests that pass.
func framedServer(t *testing.T) (dial func() net.Conn, served *atomic.Int32) {
	t.Helper()
	served = &atomic.Int32{}
	l := listenFree(t)
	s := &Server{Options: Options{Hub: NewHub(HubOptions{LiveReload: Off}), Now: time.Now, Logger: discard()}, first: make(chan struct{})}
	s.Site = fakeSite{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		if r.URL.Path == "/smuggled" {
			t.Errorf("a smuggled request was served")
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "the body broke off", http.StatusBadRequest)
		}
	})}
	close(s.first)
	server, bounded := s.server(t.Context(), t.Context())
	go func() { _ = server.Serve(bounded(l.V4)) }() // ends with the test
	t.Cleanup(func() { server.Close() })
	return func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.V4.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}, served
}

func TestAmbiguousRequestsEndTheConnection(t *testing.T) {
	dial, served := framedServer(t)
	const good = "POST /first HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nok"
	for _, test := range ambiguous {
		served.Store(0)
		if got := statusesOf(t, dial(), test.request+smuggled); fmt.Sprint(got) != "[400]" || served.Load() != 0 {
			t.Errorf("%s: answered %v, %d served", test.name, got, served.Load())
		}
		if got := statusesOf(t, dial(), good+test.request+smuggled); fmt.Sprint(got) != "[200 400]" || served.Load() != 1 {
			t.Errorf("%s, as the second: answered %v, %d served", test.name, got, served.Load())
		}
	}
	for _, test := range badBodies {
		served.Store(0)
		if got := statusesOf(t, dial(), test.request+smuggled); fmt.Sprint(got) != "[400]" || served.Load() != 1 {
			t.Errorf("%s: answered %v, %d served", test.name, got, served.Load())
		}
	}
}

// A server with only a guard ends the same requests, and itself names an unknown coding.
func TestGuardedServer(t *testing.T) {
	served, inner := atomic.Int32{}, atomic.Int32{}
	server := &http.Server{
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/smuggled" {
				t.Error("a smuggled request was served")
			}
			served.Add(1)
		}),
		ReadHeaderTimeout: waitLimit,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if _, ok := c.(*net.TCPConn); ok {
				inner.Add(1)
			}
			return ctx
		},
	}
	bounded := Guard(server, 4, time.Now)
	l := listenFree(t)
	go func() { _ = server.Serve(bounded(l.V4)) }() // ends with the test
	t.Cleanup(func() { server.Close() })
	others := []string{"two codings", "another coding", "identity", "a list of codings", "almost chunked", "quoted coding", "empty coding"}
	const good = "POST /first HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nok"
	for _, test := range ambiguous {
		served.Store(0)
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.V4.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		want := "[200 400]"
		if slices.Contains(others, test.name) {
			want = "[200 501]"
		}
		if got := fmt.Sprint(statusesOf(t, c, good+test.request+smuggled)); got != want || served.Load() != 1 {
			t.Errorf("%s: answered %s, %d served, want %s", test.name, got, served.Load(), want)
		}
	}
	if int(inner.Load()) != len(ambiguous) {
		t.Errorf("the server's own ConnContext got %d connections of %d", inner.Load(), len(ambiguous))
	}
}

// A refusal arrives although the client has sent more than the server reads.
func TestRefusalArrives(t *testing.T) {
	dial, _ := framedServer(t)
	for range 20 {
		if got := statusesOf(t, dial(), ambiguous[0].request+strings.Repeat("x", 100_000)); fmt.Sprint(got) != "[400]" {
			t.Fatalf("answered %v", got)
		}
	}
}

func TestPlainRequestsShareAConnection(t *testing.T) {
	dial, served := framedServer(t)
	requests := []string{
		"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		sizedHead + "\r\nhello",
		"\r\n" + sizedHead + "\r\nhello", // some clients send an extra line after a body
		chunkedHead + "\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n",
		chunkedHead + "\r\nA \r\n0123456789\r\n00\r\nX-Trailer: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX-Empty:\r\nX-Tab:\ta\tb\r\nContent-Length: 0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: localhost\r\nTRANSFER-encoding: \tChunked \r\nConnection: close\r\n\r\n0\r\n\r\n",
	}
	const want = "[200 200 200 200 200 200 200]"
	if got := statusesOf(t, dial(), strings.Join(requests, "")); fmt.Sprint(got) != want || served.Load() != 7 {
		t.Errorf("answered %v", got)
	}
	c := dial()
	go func() { // one byte a packet
		for _, b := range []byte(strings.Join(requests, "")) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
		}
	}()
	if got := statusesOf(t, c, ""); fmt.Sprint(got) != want {
		t.Errorf("byte by byte: answered %v", got)
	}
}

// The server does not check the bytes of a hijacked connection.
func TestHijackedConnectionsAreNotRead(t *testing.T) {
	l := listenFree(t)
	server := &http.Server{ConnState: trackState, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := io.WriteString(c, "go on\n"); err != nil {
			t.Error(err)
		}
		line, err := both.ReadString('\n')
		if err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(c, line); err != nil {
			t.Error(err)
		}
	})}
	go func() { _ = server.Serve((&connPool{max: maxConns, now: time.Now}).listener(l.V4)) }() // ends with the test
	defer server.Close()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.V4.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const frame = " \x00\x81 no http\n"
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(c)
	if _, err := from.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, frame); err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(from); err != nil || string(back) != frame {
		t.Errorf("%q, %v", back, err)
	}
}

// net/http divides the bytes that the framing accepts into the same requests.
func FuzzFraming(f *testing.F) {
	for _, test := range ambiguous {
		f.Add([]byte(sizedHead+"\r\nhello"+test.request), uint8(3))
	}
	for _, test := range badBodies {
		f.Add([]byte(test.request+smuggled), uint8(200))
	}
	f.Add([]byte(chunkedHead+"\r\nA \r\n0123456789\r\n00\r\nX-Trailer: a\r\n\r\n"+smuggled), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		var whole, pieces framing
		n, err := whole.advance(stream)
		at := 0
		for at < len(stream) && pieces.broken == nil {
			m, _ := pieces.advance(stream[at:min(len(stream), at+int(step)+1)])
			at += m
		}
		if n != at || !errors.Is(pieces.broken, err) || pieces.part != whole.part || pieces.left != whole.left {
			t.Fatalf("in pieces of %d: %d, %v; at once: %d, %v", step+1, at, pieces.broken, n, err)
		}
		// If net/http finds a request's end, the framing finds one, too.
		from := bufio.NewReaderSize(bytes.NewReader(stream[:n]), 1<<20)
		for {
			r, err := http.ReadRequest(from)
			if err != nil {
				return
			}
			if len(r.Header["Content-Length"]) > 1 || len(r.TransferEncoding) > 0 && r.Header["Content-Length"] != nil {
				t.Fatalf("let through: %q", stream)
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			var till framing
			end := n - from.Buffered()
			if _, err := till.advance(stream[:end]); err != nil || till.part != startLine || len(till.line) > 0 {
				t.Fatalf("net/http ends a request at %d, where the framing is in part %d: %q", end, till.part, stream)
			}
		}
	})
}

// BenchmarkFraming measures the cost of the framing for the head of a browser's request.
func BenchmarkFraming(b *testing.B) {
	head := []byte("GET /css/site.css HTTP/1.1\r\nHost: localhost:8788\r\nConnection: keep-alive\r\n" +
		"sec-ch-ua: \"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"\r\nsec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r\n" +
		"Accept: text/css,*/*;q=0.1\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: style\r\n" +
		"Referer: http://localhost:8788/\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en\r\n\r\n")
	var f framing
	b.ReportAllocs()
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		// net/http reads the first byte of a head separately.
		if _, err := f.advance(head[:1]); err != nil {
			b.Fatal(err)
		}
		if _, err := f.advance(head[1:]); err != nil {
			b.Fatal(err)
		}
	}
}
