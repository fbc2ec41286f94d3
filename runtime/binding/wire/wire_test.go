package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// dial connects to a server.
func dial(t testing.TB, s *wire.Server) net.Conn {
	t.Helper()
	network, address := "tcp", s.Address
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// exchange sends a request on a connection of its own, and returns the status line, the headers and the body of the answer.
func exchange(t testing.TB, s *wire.Server, request string) (string, http.Header, string) {
	t.Helper()
	conn := dial(t, s)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return answer(t, conn)
}

func answer(t testing.TB, conn net.Conn) (string, http.Header, string) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "no answer", nil, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "no whole answer", nil, err.Error()
	}
	return response.Status, response.Header, string(body)
}

// post is a request for a binding.
func post(line, binding, body string, headers ...string) string {
	head := line + " HTTP/1.1\r\nHost: x\r\nPages-Wire: 1\r\nPages-Token: secret\r\nPages-Binding: " + binding + "\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

func r2Error(code int, text string) string {
	return fmt.Sprintf(`{"version":1,"v4code":%d,"message":"%s"}`, code, text)
}

func d1Error(text string) string { return `{"success":false,"error":"` + text + `"}` }

// TestRefusals: an error for a request has the form of its kind.
func TestRefusals(t *testing.T) {
	s := serve(t, wire.Options{Bindings: bindings(t), Token: "secret"})
	long := strings.Repeat("x", 70<<10)
	sized := func(text string) string { return fmt.Sprintf("CF-R2-Metadata-Size: %d", len(text)) }
	const quoted = `{"method":"put","object":"a","onlyIf":{"etagMatches":[{"type":"weak","value":"\""}]}}`
	const q = `{"version":1,"method":"head","object":"none"}`
	for _, c := range []struct{ name, request, status, header, body string }{
		{"hello", "GET / HTTP/1.1\r\nHost: x\r\nPages-Wire: 1\r\nPages-Token: secret\r\n\r\n", "200 OK", "", `{"wire":1}`},
		{
			"another version", strings.Replace(post("GET /a", "kv/KV", ""), "Wire: 1", "Wire: 2", 1),
			`505 the bindings are served in version 1 of the wire, and the request is of version "2": both sides must be of one release`,
			"", "",
		},
		{
			"another version of D1", strings.Replace(post("POST /query", "d1/DB", "{}"), "Wire: 1", "Wire: ", 1), "200 OK", "",
			d1Error(`the bindings are served in version 1 of the wire, and the request is of version \"\": ` +
				`both sides must be of one release`),
		},
		{
			"no token", strings.Replace(post("GET /a", "kv/KV", ""), "secret", "guess", 1),
			"403 the token of the wire is missing or wrong", "", "",
		},
		{"no binding of KV", post("GET /a", "kv/OTHER", ""), `404 there is no binding "kv/OTHER" on the wire`, "", ""},
		{
			"no binding of R2", post("GET /", "r2/OTHER", ""), "404 Not Found",
			r2Error(10001, `there is no binding \"r2/OTHER\" on the wire`), "",
		},
		{
			"no binding of D1", post("POST /query", "d1/OTHER", ""), "200 OK", "",
			d1Error(`there is no binding \"d1/OTHER\" on the wire`),
		},
		{
			"no binding of Images", post("POST /info", "images/OTHER", ""),
			"404 Not Found", "err=9523", `ERROR 9523: there is no binding "images/OTHER" on the wire`,
		},
		{
			"a tunnel", "CONNECT 10.0.0.1:80 HTTP/1.1\r\n\r\n", "502 Bad Gateway",
			`{"message":"connect: this platform has no sockets; use fetch, with a client that speaks HTTP, or bindings.database",` +
				`"name":"TypeError"}`, "",
		},
		{"no kind", post("GET /a", "smtp/X", ""), "404 Not Found", "", `there is no binding "smtp/X" on the wire`},
		{"no front door", post("GET /a", "site", ""), "404 Not Found", "", `there is no binding "site" on the wire`},
		{"a binding of another kind", post("GET /a", "kv/DB", ""), `404 there is no binding "kv/DB" on the wire`, "", ""},
		{"no key of KV", post("GET /a", "kv/KV", ""), "404 Not Found", "", ""},
		{"method of KV", post("PATCH /a", "kv/KV", ""), `405 KV has no method "PATCH"`, "", ""},
		{"key of KV", post("GET /%ff?urlencoded=true", "kv/KV", ""), "400 Could not URL-decode key name", "", ""},
		{
			"ttl of KV", post("PUT /a?expiration_ttl=soon", "kv/KV", "x"),
			"400 Invalid expiration_ttl of soon. Please specify integer greater than 0.", "", "",
		},
		{"metadata of KV", post("PUT /a", "kv/KV", "x", "CF-KV-Metadata: {"), "400 Metadata is not JSON.", "", ""},
		{
			"bulk of KV", post("POST /bulk/get", "kv/KV", "[]"),
			"400 The request for several keys is not valid: json: cannot unmarshal array " +
				"into Go value of type wire.bulkRequest", "", "",
		},
		{"length of KV", post("PUT /a", "kv/KV", "", "X: y") + "", "200 OK", "", ""},
		{
			"no key of R2", post("GET /", "r2/BUCKET", "", "CF-R2-Request: "+q),
			"404 Not Found", r2Error(10007, `The specified key does not exist.`), "",
		},
		{
			"no method of R2", post("GET /", "r2/BUCKET", "", `CF-R2-Request: {"method":"rename"}`),
			"400 Bad Request", r2Error(10029, `R2 has no such method`), "",
		},
		{
			"put as a get of R2", post("GET /", "r2/BUCKET", "", `CF-R2-Request: {"method":"put"}`),
			"400 Bad Request", r2Error(10029, `R2 has no such method`), "",
		},
		{"no request of R2", post("PUT /", "r2/BUCKET", "x"), "400 Bad Request", r2Error(10029, `Metadata missing or invalid`), ""},
		{
			"size of R2", post("PUT /", "r2/BUCKET", "x", "CF-R2-Metadata-Size: 2"),
			"400 Bad Request", r2Error(10029, `Metadata missing or invalid`), "",
		},
		{
			"negative size of R2", post("PUT /", "r2/BUCKET", "x", "CF-R2-Metadata-Size: -2"),
			"400 Bad Request", r2Error(10029, `Metadata missing or invalid`), "",
		},
		{
			"tags of R2", post("PUT /", "r2/BUCKET", quoted, sized(quoted)),
			"400 Bad Request", r2Error(10029, `an entity tag has a quote`), "",
		},
		{
			"field of R2", post("GET /", "r2/BUCKET", "", `CF-R2-Request: {"method":"list","include":[7]}`), "400 Bad Request",
			r2Error(10029, `this field cannot be included`), "",
		},
		{"no path of D1", post("POST /nothing", "d1/DB", "{}"), "200 OK", "", d1Error(`D1 has no POST /nothing`)},
		{
			"a dump", post("POST /dump", "d1/DB", ""), "501 Not Implemented", "",
			d1Error(`dump() is not available: copy the database file instead`),
		},
		{
			"no JSON of D1", post("POST /query", "d1/DB", "{"),
			"200 OK", "", d1Error(`the queries are not valid: unexpected end of JSON input`),
		},
		{"SQL of D1", post("POST /query", "d1/DB", `{"sql":5}`), "200 OK", "", d1Error(`The SQL must be a string, not of type 'number'`)},
		{
			"value of D1", post("POST /query", "d1/DB", `{"sql":"SELECT ?","params":[{"a":1}]}`), "200 OK", "",
			d1Error(`D1_TYPE_ERROR: Type 'object' not supported for a bound value`),
		},
		{
			"bytes of D1", post("POST /query", "d1/DB", `{"sql":"SELECT ?","params":[[1,"a"]]}`), "200 OK", "",
			d1Error(`Type 'object' not supported for a bound value`),
		},
		{
			"no form", post("POST /info", "images/IMAGES", "x"),
			"400 Bad Request", "err=9523", "ERROR 9523: the request is not a form: request Content-Type isn't multipart/form-data",
		},
		{
			"a long head", post("GET /"+long, "kv/KV", ""),
			"400 Bad Request", "", "the request is not valid: the head of the request is too long\n",
		},
		{"no HTTP", "hello\r\n\r\n", "400 Bad Request", "", "the request is not valid: malformed HTTP request \"hello\"\n"},
		{
			"a method of files", post("POST /style.css", "assets/ASSETS", "x"), "405 Method Not Allowed", "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, header, body := exchange(t, s, c.request)
			shown := header.Get("Cf-R2-Error") + header.Get("Cf-Images-Binding") + header.Get("Pages-Refusal")
			if status != c.status || shown != c.header || body != c.body {
				t.Errorf("%s\n%s\n%s\nwant\n%s\n%s\n%s", status, shown, body, c.status, c.header, c.body)
			}
		})
	}
}

// TestSocketIsPrivate: only this user can connect, and the socket leaves no file.
func TestSocketIsPrivate(t *testing.T) {
	s, err := wire.Start(wire.Options{Bindings: bindings(t)})
	if err != nil {
		t.Fatal(err)
	}
	path, unix := strings.CutPrefix(s.Address, "unix:")
	if unix == (runtime.GOOS == "windows") {
		t.Errorf("it listens on %s", s.Address)
	}
	folder := strings.TrimSuffix(path, "/wire")
	if unix {
		for name, want := range map[string]fs.FileMode{path: 0o600, folder: 0o700} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has the mode %o", name, got)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); unix && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestOrderOfConnections: calls take effect in the order in which their connections were opened, in whichever order they are sent.
func TestOrderOfConnections(t *testing.T) {
	s := serve(t, wire.Options{Bindings: bindings(t), Token: "secret"})
	run := func(sql string) string {
		_, _, body := exchange(t, s, post("POST /query", "d1/DB", sql))
		return body
	}
	run(`{"sql":"CREATE TABLE t (id INTEGER PRIMARY KEY, n)"}`)
	const calls = 20
	conns := make([]net.Conn, calls)
	for i := range conns {
		conns[i] = dial(t, s)
	}
	for i := calls - 1; i >= 0; i-- {
		sql := fmt.Sprintf(`{"sql":"INSERT INTO t (n) VALUES (%d)"}`, i)
		if _, err := io.WriteString(conns[i], post("POST /query", "d1/DB", sql)); err != nil {
			t.Fatal(err)
		}
	}
	for _, conn := range conns {
		answer(t, conn)
	}
	if got := run(`{"sql":"SELECT count(*) FROM t WHERE id = n + 1"}`); !strings.Contains(got, "20") {
		t.Errorf("%s\n%s", got, run(`{"sql":"SELECT group_concat(n) FROM t"}`))
	}
}

// TestCalled: each call is reported, with its outcome.
func TestCalled(t *testing.T) {
	var mu sync.Mutex
	var calls []wire.Call
	refuse := false
	s := serve(t, wire.Options{
		Bindings: bindings(t), Token: "secret",
		FrontDoor: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				panic("of the handler")
			}
			fmt.Fprint(w, r.URL, " ", r.RemoteAddr)
		}),
		Subrequest: func(context.Context) error {
			if refuse {
				return errors.New("too many subrequests")
			}
			return nil
		},
		Called: func(c wire.Call) {
			mu.Lock()
			defer mu.Unlock()
			c.Duration = min(c.Duration, 0)
			calls = append(calls, c)
		},
	})
	exchange(t, s, post("PUT /a?urlencoded=true", "kv/KV", "x"))
	exchange(t, s, post("POST /execute", "d1/DB", `[{"sql":"SELECT 1"}]`))
	exchange(t, s, post("POST /query", "d1/DB", `{"sql":"SELEC"}`))
	_, _, seen := exchange(t, s, post("GET /x?y", "site", "", "Pages-Proto: https"))
	if want := "https://x/x?y 127.0.0.1:0"; seen != want {
		t.Errorf("the front door sees %s", seen)
	}
	exchange(t, s, post("GET /panic", "site", ""))
	refuse = true
	exchange(t, s, post("GET /x", "site", ""))
	mu.Lock()
	defer mu.Unlock()
	got, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"Kind":"kv","Binding":"KV","Request":"","URL":"","Method":"put","Status":200,"Err":"","Warnings":null,"Duration":0},` +
		`{"Kind":"d1","Binding":"DB","Request":"","URL":"","Method":"exec","Status":200,"Err":"","Warnings":null,"Duration":0},` +
		`{"Kind":"d1","Binding":"DB","Request":"","URL":"","Method":"query","Status":200,"Err":"near \"SELEC\": ` +
		`syntax error at offset 0: SQLITE_ERROR","Warnings":null,"Duration":0},` +
		`{"Kind":"site","Binding":"","Request":"","URL":"","Method":"GET","Status":200,"Err":"","Warnings":null,"Duration":0},` +
		`{"Kind":"site","Binding":"","Request":"","URL":"","Method":"GET","Status":500,"Err":"host function panicked: ` +
		`of the handler","Warnings":null,"Duration":0},` +
		`{"Kind":"site","Binding":"","Request":"","URL":"","Method":"","Status":500,"Err":"too many subrequests",` +
		`"Warnings":null,"Duration":0}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPeerThatIsGone: a call whose peer has closed the connection ends.
func TestPeerThatIsGone(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	var s *wire.Server
	s = serve(t, wire.Options{Token: "secret", FrontDoor: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" { // it lasts until the connection is watched, and that is used again
			for begun := time.Now(); !s.Watches() && time.Since(begun) < 20*time.Second; {
				runtime.Gosched()
			}
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-r.Context().Done()
		close(ended)
	})})
	conn := dial(t, s)
	for range 2 {
		if _, err := io.WriteString(conn, post("GET /slow", "site", "")); err != nil {
			t.Fatal(err)
		}
		if status, _, body := answer(t, conn); status != "200 OK" {
			t.Fatalf("%s %s", status, body)
		}
	}
	if _, err := io.WriteString(conn, post("POST /x", "site", "a body")); err != nil {
		t.Fatal(err)
	}
	<-begun
	conn.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the call goes on without end")
	}
}

// TestBrokenPeers: connections that break off at any point leave nothing behind, and the others continue.
func TestBrokenPeers(t *testing.T) {
	s := serve(t, wire.Options{Bindings: bindings(t), Token: "secret", FrontDoor: http.HandlerFunc(files)})
	whole := post("PUT /key", "kv/KV", strings.Repeat("v", 100))
	large := post("PUT /large", "kv/KV", strings.Repeat("v", 3<<20))
	batch := post("POST /query", "d1/DB", `[{"sql":"CREATE TABLE t (x)"},{"sql":"SELECT 1"}]`)
	for range 5 {
		var all []net.Conn
		for _, sent := range []string{
			"", "GET", whole[:40], whole[:len(whole)-1], large[:1<<20], large[:len(large)-1], batch[:len(batch)-1],
			post("GET /large", "site", ""), post("GET /large", "assets/ASSETS", ""),
			"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		} {
			conn := dial(t, s)
			if _, err := io.WriteString(conn, sent); err != nil {
				t.Fatal(err)
			}
			all = append(all, conn)
		}
		for _, conn := range all {
			conn.Close()
		}
	}
	for _, key := range []string{"key", "large"} {
		if status, _, _ := exchange(t, s, post("GET /"+key, "kv/KV", "")); status != "404 Not Found" {
			t.Errorf("half a put of %s: %s", key, status)
		}
	}
	if status, _, body := exchange(t, s, batch); status != "200 OK" || strings.Contains(body, "error") {
		t.Errorf("%s %s", status, body)
	}
}

// TestCloseEndsCalls: a running call ends with the server.
func TestCloseEndsCalls(t *testing.T) {
	begun := make(chan struct{})
	s, err := wire.Start(wire.Options{Token: "secret", FrontDoor: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	})})
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, s)
	if _, err := io.WriteString(conn, post("GET /x", "site", "")); err != nil {
		t.Fatal(err)
	}
	<-begun
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Close waits without end")
	}
}
