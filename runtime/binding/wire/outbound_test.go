package wire_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// entry is a module of a Worker with a wrapper around fetch.
func entry(t testing.TB, code string) []byte {
	t.Helper()
	wrapper, err := os.ReadFile(filepath.Join("testdata", "entry.js"))
	if err != nil {
		t.Fatal(err)
	}
	return append(wrapper, code...)
}

// gateway is a real one. It counts the outbound requests of each request of the Worker.
func gateway(t testing.TB, o fetch.GatewayOptions) http.Handler {
	t.Helper()
	g := fetch.NewGateway(o)
	t.Cleanup(g.Close)
	return g
}

// world is a server on this machine that a Worker may reach.
func world(t testing.TB) (address string, hits *atomic.Int64) {
	t.Helper()
	hits = &atomic.Int64{}
	waiting, waited := make(chan struct{}, 2), make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		switch r.URL.Path {
		case "/echo":
			content, err := io.ReadAll(r.Body)
			var names []string
			for name, values := range r.Header {
				names = append(names, fmt.Sprintf("%s=%q", name, values))
			}
			slices.Sort(names)
			fmt.Fprintf(w, "%s %s %s %d %v %q %v %v",
				r.Method, r.RequestURI, r.Host, r.ContentLength, r.TransferEncoding, content, names, err)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, "inflated")
			_ = z.Close()
		case "/moved":
			http.Redirect(w, r, "/echo", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/to":
			http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusTemporaryRedirect)
		case "/refusal":
			w.Header().Set(fetch.RefusalHeader, `{"name":"TypeError","message":"of a server"}`)
			_, _ = io.WriteString(w, "a server's")
		case "/status":
			status, _ := strconv.Atoi(r.URL.RawQuery)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "x")
		case "/duplex":
			_ = http.NewResponseController(w).EnableFullDuplex()
			piece := make([]byte, 100)
			for n, err := r.Body.Read(piece); err == nil; n, err = r.Body.Read(piece) {
				_, _ = w.Write(piece[:n])
				_ = http.NewResponseController(w).Flush()
			}
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/early": // before the request is read
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "enough")
		case "/wait":
			waiting <- struct{}{}
			if r.URL.RawQuery != "" {
				_ = http.NewResponseController(w).Flush()
				<-waiting
			}
			<-r.Context().Done()
			waited <- struct{}{}
		case "/waiting":
			<-waiting
		case "/waited":
			<-waited
		case "/long":
		case "/socket":
			talk(w, r)
		case "/large":
			_, _ = io.Copy(w, bytes.NewReader(make([]byte, 5<<20)))
		case "/100%/%zz/A":
			_, _ = io.WriteString(w, r.RequestURI)
		default:
			http.Error(w, "nothing", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, hits
}

// rawServer answers over bare connections, with the headers X-A and X-B that it was sent.
func rawServer(t testing.TB) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			seen := ""
			for lines := bufio.NewScanner(conn); lines.Scan() && lines.Text() != ""; {
				if strings.HasPrefix(lines.Text(), "X-") {
					seen += lines.Text() + "|"
				}
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nX-Latin: \xe9\r\nX-Control: a\x01b\r\nContent-Length: %d\r\n\r\n%s", len(seen), seen)
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

func talk(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{"b"}, CompressionMode: websocket.CompressionContextTakeover,
	})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	for {
		kind, message, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if string(message) == "close" {
			_ = conn.Close(4000, "as told")
			return
		}
		_ = conn.Write(r.Context(), kind, append([]byte("echo "), message...))
	}
}

// requests are the current requests of a Worker, by id. The request "full" may make no further requests.
type requests struct {
	made *atomic.Int64
	mu   sync.Mutex
	ctx  map[string]context.Context
}

func (r *requests) add(ctx context.Context) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id = fmt.Sprint("request ", len(r.ctx))
	r.ctx[id] = ctx
	return url.QueryEscape(id)
}

func (r *requests) of(id string) (context.Context, func() error, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx, ok := r.ctx[id]
	return ctx, func() error {
		r.made.Add(1)
		if id == "full" {
			return errors.New("Too many subrequests: limits.subRequests allows 3 for one request, redirects counted")
		}
		return nil
	}, ok
}

// TestOutboundOfWorkerd: fetch of a Worker in workerd gets the response of a server, and throws a refusal.
func TestOutboundOfWorkerd(t *testing.T) {
	address, _ := world(t)
	host := strings.TrimPrefix(address, "http://")
	var made atomic.Int64
	rows := [][3]string{ // name, code, value
		{
			"a request", `return (await fetch("{B}/echo?a=%20b", { headers: { "x-one": "1", "pages-request": "forged" } })).text()`,
			`"GET /echo?a=%20b {H} 0 [] \"\" [Accept-Encoding=[\"br, gzip\"] X-One=[\"1\"]] <nil>"`,
		},
		{
			"an upload", `return (await fetch("{B}/echo", { method: "POST", body: "é" })).text()`,
			`"POST /echo {H} 2 [] \"é\" [Accept-Encoding=[\"br, gzip\"] Content-Length=[\"2\"] ` +
				`Content-Type=[\"text/plain;charset=UTF-8\"]] <nil>"`,
		},
		{
			"an upload of a stream", `const { readable, writable } = new TransformStream(), w = writable.getWriter();
			const bytes = new TextEncoder();
			const answer = fetch("{B}/duplex", { method: "POST", body: readable }), got = [];
			w.write(bytes.encode("one"));
			const reader = (await answer).body.pipeThrough(new TextDecoderStream()).getReader();
			got.push((await reader.read()).value);
			w.write(bytes.encode("two"));
			got.push((await reader.read()).value);
			w.close();
			got.push((await reader.read()).done);
			return got`,
			`["one","two",true]`,
		},
		{
			"a refused upload", `await fetch("http://10.0.0.1/", { method: "POST", body: new Uint8Array(3 << 20) })`,
			`Error: fetch to "10.0.0.1:80" is refused: its address 10.0.0.1 belongs to a private network; ` +
				`--allow-fetch 10.0.0.1:80 would allow it`,
		},
		{
			"a response that comes early", `const r = await fetch("{B}/early", { method: "POST", body: new Uint8Array(3 << 20) });
			return [r.status, r.statusText, await r.text()]`,
			`[418,"I'm a teapot","enough"]`,
		},
		{
			"headers of the connection, and a host",
			`return (await fetch("{B}/echo", { headers: { host: "evil.test", connection: "close, x-kept", te: "trailers", trailer: "x",
				"keep-alive": "1", "proxy-authorization": "p", "proxy-connection": "q", expect: "100-continue",
				"cf-connecting-ip": "1.2.3.4", "pages-token": "x", "user-agent": "mine", "x-kept": "1" } })).text()`,
			`"GET /echo {H} 0 [] \"\" [Accept-Encoding=[\"br, gzip\"] User-Agent=[\"mine\"] X-Kept=[\"1\"]] <nil>"`,
		},
		{
			"a % that begins no escape", `return (await (await fetch("{B}/100%/%zz/%41?q=%zz&p=%")).text())`,
			`"/100%25/%25zz/%41?q=%zz&p=%"`,
		},
		{
			"control characters and other text in headers",
			`const r = await fetch("http://{R}/", { headers: { "x-a": "a\x01b", "x-b": "é☃" } });
			return [r.headers.get("x-latin"), r.headers.get("x-control"), await r.text()]`,
			`["é","a\u0001b","X-A: a\u0001b|X-B: é☃|"]`,
		},
		{"a long URL", `return (await fetch("{B}/long?" + "x".repeat(30000))).status`, `200`},
		{"HEAD", `const r = await fetch("{B}/large", { method: "HEAD" }); return [r.status, await r.text()]`, `[200,""]`},
		{"gzip", `const r = await fetch("{B}/gzip"); return [r.headers.get("content-encoding"), await r.text()]`, `["gzip","inflated"]`},
		{"a redirect", `const r = await fetch("{B}/moved"); return [r.redirected, r.url]`, `[true,"{B}/echo"]`},
		{"redirects", `await fetch("{B}/loop")`, `/^TypeError: Too many redirects/`},
		{
			"a redirect to a refused address", `await fetch("{B}/to?url=" + encodeURIComponent("http://169.254.169.254/x"))`,
			`Error: fetch to "169.254.169.254:80" is refused: its address 169.254.169.254 belongs to the local link; ` +
				`--allow-fetch 169.254.169.254:80 would allow it`,
		},
		{
			"a server's refusal", `const r = await fetch("{B}/refusal"); return [await r.text(), r.headers.has("pages-refusal")]`,
			`["a server's",false]`,
		},
		{
			"a body that is cut", `const r = await fetch("{B}/cut"); return [r.status, await r.text().catch(String)]`,
			`[200,"Error: Network connection lost."]`,
		},
		{"a status of no content", `const r = await fetch("{B}/status?204"); return [r.status, await r.text()]`, `[204,""]`},
		{"a status without content", `const r = await fetch("{B}/status?205"); return [r.status, await r.text()]`, `[205,""]`},
		{"a status of none", `const r = await fetch("{B}/status?999"); return [r.status, await r.text()]`, `[999,"x"]`},
		{"much", `return (await (await fetch("{B}/large")).arrayBuffer()).byteLength`, `5242880`},
		{
			"a name that none knows", `await fetch("http://nowhere.invalid/")`,
			`/^Error: Network connection lost. fetch to "http://nowhere.invalid/" failed: ("nowhere.invalid" cannot|no name server)/`,
		},
		{
			"nothing listens", `await fetch("http://127.0.0.1:4/")`,
			`/^Error: Network connection lost. fetch to "http://127.0.0.1:4/" failed: .*connect/`,
		},
		{
			"a limit", `return within("full", () => fetch("{B}/echo"))`,
			`Error: Too many subrequests: limits.subRequests allows 3 for one request, redirects counted`,
		},
		{
			"a request that is over", `return within("other", () => fetch("{B}/echo"))`,
			`Error: the request that this belongs to is over`,
		},
		{
			"without the wrapper", `const r = await send("{B}/echo"); return [r.status, r.headers.get("pages-refusal")]`,
			`[502,"{\"message\":\"fetch to \\\"{B}/echo\\\" is refused: it is of no request of the site\",\"name\":\"Error\"}"]`,
		},
		{
			"a WebSocket", `const { webSocket: ws, status, headers } = await fetch("{B}/socket", { headers: { Upgrade: "websocket",
				"Sec-WebSocket-Protocol": "a, b" } }); ws.accept(); const got = [status, headers.get("sec-websocket-protocol")];
			return new Promise((resolve) => { ws.addEventListener("message", ({ data }) => { got.push(data); ws.send("close") });
				ws.addEventListener("close", ({ code, reason }) => resolve([...got, code, reason])); ws.send("hello") })`,
			`[101,"b","echo hello",4000,"as told"]`,
		},
		{
			"no WebSocket", `const r = await fetch("{B}/none", { headers: { Upgrade: "websocket" } }); return [r.status, await r.text()]`,
			`[404,"nothing\n"]`,
		},
		{
			"a WebSocket to a refused address", `await fetch("http://[::1]/", { headers: { Upgrade: "websocket" } })`,
			`Error: fetch to "[::1]:80" is refused: its address ::1 belongs to this machine; --allow-fetch [::1]:80 would allow it`,
		},
		{
			"an abort", `const c = new AbortController(), answer = fetch("{B}/wait", { signal: c.signal });
			await fetch("{B}/waiting");
			c.abort();
			const why = await answer.catch((error) => error.name);
			return [why, (await fetch("{B}/waited")).status]`,
			`["AbortError",200]`,
		},
		{
			"a body that is not read on", `const { body } = await fetch("{B}/wait?answers");
			await body.cancel();
			return (await fetch("{B}/waited")).status`,
			`200`,
		},
		{
			"connect", `await connect("127.0.0.1:" + new URL("{B}").port).opened`,
			`/^Error: proxy request failed, cannot connect to the specified address/`,
		},
		{
			"the site itself", `return (await fetch("http://site.localhost/leaf", { method: "POST", body: "sent" })).text()`,
			`"POST leaf sent"`,
		},
		{
			"the site itself, over and over", `return (await fetch("http://site.localhost/deep")).text()`,
			`"Error: Subrequest depth limit exceeded: the site fetched itself 16 times over"`,
		},
		{
			"a WebSocket to the site", `await fetch("http://site.localhost./", { headers: { Upgrade: "websocket" } })`,
			`TypeError: a WebSocket from the site to itself ("site.localhost.") is not supported`,
		},
	}
	var code strings.Builder
	raw := rawServer(t)
	fill := strings.NewReplacer("{B}", address, "{H}", host, "{R}", raw).Replace
	code.WriteString("import { connect } from \"cloudflare:sockets\";\nconst rows = {\n")
	for _, row := range rows {
		fmt.Fprintf(&code, "%q: async () => { %s },\n", row[0], fill(row[1]))
	}
	code.WriteString(`};
export default { fetch(request) {
  const { pathname, searchParams } = new URL(request.url);
  return within(searchParams.get("id"), async () => {
    if (pathname === "/deep")
      return fetch("http://site.localhost/deep").then(async (r) => new Response(await r.text()), (error) => new Response(String(error)));
    const all = [];
    for (const name in rows) {
      try { all.push([name, JSON.stringify(await rows[name]()) ?? "undefined"]); }
      catch (error) { all.push([name, String(error)]); }
    }
    return Response.json(all);
  });
} };`)
	var last recorder
	under := requests{made: &made, ctx: map[string]context.Context{"first": t.Context(), "full": t.Context()}}
	var ask func(string) string
	door := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/leaf" {
			content, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s leaf %s", r.Method, content)
			return
		}
		id := under.add(r.Context())
		_, _ = io.WriteString(w, ask(r.URL.Path+"?id="+id))
	}
	s := serve(t, wire.Options{
		Outbound: gateway(t, fetch.GatewayOptions{Of: under.of, Options: fetch.Options{
			AllowFetch: []string{host, raw, "127.0.0.1:4"}, Self: http.HandlerFunc(door), StrictlyPublic: true,
			IsSelf: func(host string) bool { return host == "site.localhost" },
		}}),
		Called: last.add,
	})
	ask = inWorkerd(t, entry(t, code.String()), s)
	got := table(t, ask("/?id=first"))
	for i, row := range rows {
		want := fill(row[2])
		if i >= len(got) || !fits(got[i][1], want) {
			t.Errorf("%s\ngives %s\nnot   %s", row[0], got[i][1], want)
		}
	}
	if text := last.find("/moved"); text != `GET 302 first ""` {
		t.Errorf("the call is recorded as %s", text)
	}
	if text := last.find("10.0.0.1"); !strings.HasPrefix(text, `POST 502 first "Error: fetch to \"10.0.0.1:80\" is refused`) {
		t.Errorf("the refusal is recorded as %s", text)
	}
}

// recorder keeps the calls that a Handler reports.
type recorder struct {
	mu    sync.Mutex
	calls []wire.Call
}

func (r *recorder) add(c wire.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

// last is the last call.
func (r *recorder) last() wire.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[len(r.calls)-1]
}

// find describes the first call of a URL with a part.
func (r *recorder) find(part string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if strings.Contains(c.URL, part) {
			return fmt.Sprintf("%s %d %s %q", c.Method, c.Status, c.Request, c.Err)
		}
	}
	return "none"
}

func fits(got, want string) bool {
	if pattern, ok := strings.CutPrefix(want, "/"); ok {
		return regexp.MustCompile(strings.TrimSuffix(pattern, "/")).MatchString(got)
	}
	return got == want
}

// TestOutboundLeavesRoom: calls of bindings find a connection during any number of outbound requests.
func TestOutboundLeavesRoom(t *testing.T) {
	const under, more = 8, 5 // of 20 connections
	begun, end := make(chan struct{}, 1000), make(chan struct{})
	s := serve(t, wire.Options{
		Bindings: bindings(t), Token: "secret", Connections: 20,
		Outbound: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			begun <- struct{}{}
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}),
	})
	request := post("GET http://a.test/", "outbound", "")
	var waiting []net.Conn
	for range under {
		conn := dial(t, s)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, conn)
	}
	for range under {
		<-begun
	}
	for range more {
		status, header, _ := exchange(t, s, request)
		want := fmt.Sprintf(`Error: fetch to "http://a.test/" is refused: %d requests of the site are in progress`, under)
		if got := fetch.Refused(header.Get(fetch.RefusalHeader)); got != want || status != "502 Bad Gateway" {
			t.Errorf("%s %s", status, got)
		}
	}
	if status, _, _ := exchange(t, s, post("PUT /a?urlencoded=true", "kv/KV", "x")); status != "200 OK" {
		t.Errorf("a put: %s", status)
	}
	close(end)
	for _, conn := range waiting {
		if status, _, _ := answer(t, conn); status != "200 OK" {
			t.Fatal(status)
		}
	}
}
