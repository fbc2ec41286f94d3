package socket_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestWebSocketShape(t *testing.T) {
	constants := "CLOSED:3 CLOSING:2 CONNECTING:0 OPEN:1 " +
		"READY_STATE_CLOSED:3 READY_STATE_CLOSING:2 READY_STATE_CONNECTING:0 READY_STATE_OPEN:1"
	webtest.Shapes(t, "WebSocket/1 < EventTarget: "+constants+" accept/0 binaryType= bufferedAmount close/0 deserializeAttachment/0 "+
		"extensions onclose= onerror= onmessage= onopen= protocol readyState send/1 serializeAttachment/1 url "+
		"static "+strings.ReplaceAll(constants, " ", " static "),
		"WebSocketPair/0: ")
}

// Pairs within a Worker, as on the platform.
func TestWebSocketPair(t *testing.T) {
	const tools = `
const pair = () => { const p = new WebSocketPair(); return [p[0], p[1]]; };
const open = () => { const [a, b] = pair(); a.accept(); b.accept(); return [a, b]; };
const L = [], hear = (ws, n) => { for (const t of ["open", "message", "close", "error"]) ws.addEventListener(t,
		(e) => L.push([n, t, t === "message" ? (typeof e.data === "string" ? e.data : Object.prototype.toString.call(e.data) +
		(e.data.byteLength ?? e.data.size)) : t === "close" ? [e.code, e.reason, e.wasClean] : ""])); };
const w = async () => { for (let i = 0; i < 4; i++) await scheduler.wait(5) };
const tries = (f) => { try { f(); return "ok"; } catch (e) { return e.name + ": " + e.message; } };
`
	cases := []webtest.Snippet{
		{
			"a pair",
			`const p = new WebSocketPair(); return [Object.prototype.toString.call(p), Object.keys(p), [...p].length,
				p[0] instanceof WebSocket, p[0].readyState, p[0].url, p[0].protocol, p[0].extensions, p[0].binaryType];`,
			`["[object WebSocketPair]",["0","1"],2,true,1,null,"","","blob"]`,
		},
		{
			"messages of all types",
			`const [a, b] = open(); hear(b, "b"); a.send("hi"); a.send(new Uint8Array([1, 2])); a.send(new ArrayBuffer(3)); a.send(5);
				a.send(new Blob(["four"])); const now = L.length; await w(); return [now, L.map((l) => l[2])];`,
			`[0,["hi","[object Blob]2","[object Blob]3","5","[object Blob]4"]]`,
		},
		{
			"binaryType",
			`const [a, b] = open(); b.binaryType = "arraybuffer"; b.binaryType = "junk"; hear(b, "b"); const u = new Uint8Array([1, 2]);
				a.send(u); u[0] = 9; await w(); return [L[0][2], b.binaryType];`,
			`["[object ArrayBuffer]2","arraybuffer"]`,
		},
		{
			"close with a reason",
			`const [a, b] = open(); hear(a, "a"); hear(b, "b"); a.close(3001, "why"); const during = a.readyState; await w();
				return [L, during, a.readyState, b.readyState];`,
			`[[["b","close",[3001,"why",true]],["a","close",[3001,"why",true]]],2,3,3]`,
		},
		{
			"close without a code",
			`const [a, b] = open(); hear(a, "a"); hear(b, "b"); a.close(); await w(); return L;`,
			`[["b","close",[1005,"",true]],["a","close",[1005,"",true]]]`,
		},
		{
			"close from both ends",
			`const [a, b] = open(); hear(a, "a"); hear(b, "b"); a.close(1000, "1"); b.close(1001, "2"); await w(); return L;`,
			`[["b","close",[1000,"1",true]],["a","close",[1001,"2",true]]]`,
		},
		{
			"a message before accept",
			`const [a, b] = pair(); a.accept(); a.send("early"); await w(); hear(b, "b"); b.accept(); await w(); return L;`,
			`[["b","message","early"]]`,
		},
		{
			"invalid close codes",
			`return [999, 1004, 1005, 1006, 1015, 5000, "x"].map((c) => tries(() => open()[0].close(c)));`,
			`["InvalidAccessError: Invalid WebSocket close code: 999.","InvalidAccessError: Invalid WebSocket close code: 1004.",
				"InvalidAccessError: Invalid WebSocket close code: 1005.","InvalidAccessError: Invalid WebSocket close code: 1006.",
				"InvalidAccessError: Invalid WebSocket close code: 1015.","InvalidAccessError: Invalid WebSocket close code: 5000.",
				"InvalidAccessError: Invalid WebSocket close code: 0."]`,
		},
		{
			"invalid close reasons",
			`return [tries(() => open()[0].close(undefined, "x")), tries(() => open()[0].close(1000, "é".repeat(62)))];`,
			`["InvalidAccessError: If you specify a WebSocket close reason, you must also specify a code.",
				"SyntaxError: WebSocket close reason must not be longer than 123 bytes when UTF-8 encoded."]`,
		},
		{"send before accept", `const [a] = pair(); a.send("x");`, `/^TypeError: You must call one of accept\(\)/`},
		{"send after close", `const [a] = open(); a.close(); a.send("x");`, `TypeError: Can't call WebSocket send() after close().`},
		{
			"attachments",
			`const [a] = open(); const before = a.deserializeAttachment(); a.serializeAttachment({ x: new Map([[1, 2]]) });
				return [before, a.deserializeAttachment().x.get(1)];`,
			`[null,2]`,
		},
		{
			"an attachment too large",
			`open()[0].serializeAttachment("x".repeat(20000));`,
			`/^Error: A WebSocket 'attachment' cannot be larger than 16384 bytes/`,
		},
		{"an attachment that cannot be cloned", `open()[0].serializeAttachment(() => {});`, `/^DataCloneError/`},
		{
			"a response with a WebSocket",
			`const [a] = pair(); const r = new Response(null, { status: 101, webSocket: a });
				return [r.status, r.webSocket === a, new Response("x").webSocket, tries(() => r.clone())];`,
			`[101,true,null,"TypeError: Cannot clone a response to a WebSocket handshake."]`,
		},
		{
			"a WebSocket with status 200",
			`new Response(null, { webSocket: pair()[0] });`,
			`RangeError: Responses with a WebSocket must have status code 101.`,
		},
		{"a WebSocket that is none", `new Response(null, { status: 101, webSocket: {} });`, `/^TypeError: .*not a WebSocket/`},
		{
			"status 101 without a WebSocket",
			`new Response(null, { status: 101 });`,
			`/^RangeError: Responses may only be constructed with status codes/`,
		},
		{
			"a cached upgrade",
			`await caches.default.put("https://a.test/", new Response(null, { status: 101, webSocket: pair()[0] }));`,
			`TypeError: Cannot cache WebSocket upgrade response.`,
		},
		{"a malformed URL", `new WebSocket("nope");`, `SyntaxError: WebSocket Constructor: The url is invalid.`},
		{"an unknown scheme", `new WebSocket("ftp://a.test/");`, `SyntaxError: WebSocket Constructor: The url scheme must be ws or wss.`},
		{
			"a URL with a fragment",
			`new WebSocket("ws://a.test/#x");`,
			`SyntaxError: WebSocket Constructor: The url fragment must be empty.`,
		},
		{
			"protocols that repeat",
			`new WebSocket("ws://a.test/", ["a", "A"]);`,
			`SyntaxError: WebSocket Constructor: The protocols header cannot have repeating values.`,
		},
		{
			"a malformed protocol",
			`new WebSocket("ws://a.test/", "b c");`,
			`SyntaxError: WebSocket Constructor: The protocol header token is invalid.`,
		},
		{
			"a refused connection",
			`const ws = new WebSocket("ws://127.0.0.1:9/"); const state = ws.readyState; hear(ws, "w");
				await new Promise((r) => ws.addEventListener("close", r)); return [state, ws.url, L.map((l) => l[1]), L[1][2]];`,
			`[0,"ws://127.0.0.1:9/",["error","close"],[1006,"Failed to establish websocket connection",false]]`,
		},
		// A client is closed by one call and more, also before it is open and after it failed to be.
		{
			"closed before it is open",
			`const ws = new WebSocket("ws://127.0.0.1:9/"); hear(ws, "w");
				const closed = new Promise((r) => ws.addEventListener("close", r));
				const states = [1, 2, 3].map(() => (ws.close(), ws.readyState)); ws.send("four"); await closed;
				return [states, ws.readyState, ws.bufferedAmount, L.map((l) => l[1])];`,
			`[[2,2,2],3,4,["error","close"]]`,
		},
		{
			"closed by the error listener",
			`const ws = new WebSocket("ws://127.0.0.1:9/"), states = []; ws.onerror = () => { ws.close(); states.push(ws.readyState); };
				await new Promise((r) => { ws.onclose = r; }); ws.close(1000, "x"); ws.send("four");
				return [states, ws.readyState, ws.bufferedAmount];`,
			`[[3],3,4]`,
		},
		{
			"fetch of a refused address",
			`await fetch("http://127.0.0.1:9/", { headers: { Upgrade: "websocket" } });`,
			`/^Error: fetch to .* is refused/`,
		},
	}
	for i := range cases {
		cases[i][1] = tools + cases[i][1]
	}
	webtest.Try(t, web.Options{}, cases)
}

// chat is a Worker that talks to its visitors.
const chat = `export default { async fetch(request) {
  if (request.headers.get("Upgrade") !== "websocket") return new Response("expected a WebSocket", { status: 426 });
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.send("welcome");
  server.addEventListener("message", async ({ data }) => {
    if (data === "loop") for (;;);
    if (data === "throw") throw new Error("thrown in a handler");
    if (data === "close") return server.close(3001, "as you wish");
    if (data === "wait") await scheduler.wait(5);
    server.send(typeof data === "string" ? "echo " + data : new Uint8Array(await data.arrayBuffer()).map((b) => b + 1));
  });
  server.addEventListener("close", (e) => console.log("closed", e.code, e.reason, e.wasClean));
  server.addEventListener("error", (e) => console.log("error", e.message));
  return new Response(null, { status: 101, webSocket: client, headers: { "sec-websocket-protocol": "b", "x-made": "1" } });
} };`

// dialWorker connects to a Worker.
func dialWorker(t *testing.T, w *webtest.Worker) (*websocket.Conn, *http.Response) {
	t.Helper()
	conn, resp, err := websocket.Dial(t.Context(), w.URL, &websocket.DialOptions{Subprotocols: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, resp
}

func say(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, conn *websocket.Conn, want string) {
	t.Helper()
	_, got, err := conn.Read(t.Context())
	if err != nil || string(got) != want {
		t.Errorf("heard %q, %v; want %q", got, err, want)
	}
}

func hearEnd(t *testing.T, conn *websocket.Conn, want websocket.StatusCode) {
	t.Helper()
	if _, got, err := conn.Read(t.Context()); websocket.CloseStatus(err) != want {
		t.Errorf("heard %q, %v; want the close code %d", got, err, want)
	}
}

func TestWebSocketServer(t *testing.T) {
	w := webtest.Serve(t, chat, web.Options{})
	if r, got := w.Get("/"); r.StatusCode != 426 {
		t.Errorf("without an upgrade: %s %s", r.Status, got)
	}
	conn, resp := dialWorker(t, w)
	if resp.Header.Get("X-Made") != "1" || conn.Subprotocol() != "b" {
		t.Errorf("handshake: %v, protocol %q", resp.Header, conn.Subprotocol())
	}
	hear(t, conn, "welcome")
	say(t, conn, "é")
	hear(t, conn, "echo é")
	say(t, conn, "wait")
	hear(t, conn, "echo wait")
	say(t, conn, "throw")
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	hear(t, conn, "\x02\x03")
	conn.SetReadLimit(1 << 20)
	say(t, conn, strings.Repeat("x", 1<<16))
	hear(t, conn, "echo "+strings.Repeat("x", 1<<16))
	if err := conn.Close(3000, "bye"); err != nil {
		t.Error(err)
	}
	w.WaitFor("closed 3000 bye true")
	if len(w.Rejected()) != 1 || w.Rejected()[0].Message != "thrown in a handler" {
		t.Errorf("rejected: %v", w.Rejected())
	}
}

func TestWebSocketServerCloses(t *testing.T) {
	w := webtest.Serve(t, chat, web.Options{})
	conn, _ := dialWorker(t, w)
	hear(t, conn, "welcome")
	say(t, conn, "close")
	hearEnd(t, conn, 3001)
	w.WaitFor("closed 3001 as you wish true")

	gone, _ := dialWorker(t, w)
	hear(t, gone, "welcome")
	_ = gone.CloseNow()
	w.WaitFor("closed 1006")

	updated, _ := dialWorker(t, w)
	hear(t, updated, "welcome")
	w.Host.Restart()
	hearEnd(t, updated, websocket.StatusServiceRestart)
	late, _ := dialWorker(t, w)
	hearEnd(t, late, websocket.StatusServiceRestart)
}

// A listener that throws ends its connection, and the peer hears no reason.
func TestWebSocketListenerThrows(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{{
		"a listener that throws",
		`const [a, b] = Object.values(new WebSocketPair()), seen = []; a.accept(); b.accept();
		const note = (name, end) => { for (const type of ["message", "error", "close"]) end.addEventListener(type,
			(e) => seen.push([name + type, e.data ?? e.message ?? [e.code, e.wasClean]])); };
		note("a", a); note("b", b);
		b.addEventListener("message", (e) => { if (e.data === "2") throw null; });
		b.addEventListener("message", () => seen.push("all hear"));
		const over = new Promise((done) => a.addEventListener("close", done));
		for (const text of "123") a.send(text);
		await over;
		return [seen, a.readyState, b.readyState];`,
		`[[["bmessage","1"],"all hear",["bmessage","2"],"all hear",["berror","Uncaught null"],
			["aerror","Uncaught Error: Network connection lost."],["aclose",[1006,false]]],3,3]`,
	}})
	w := webtest.Serve(t, webtest.Handler(`const [client, server] = Object.values(new WebSocketPair());
		server.accept();
		server.addEventListener("message", () => { throw new Error("no"); });
		server.addEventListener("error", (e) => console.log(e.message, server.readyState));
		server.addEventListener("close", () => console.log("closed"));
		return new Response(null, { status: 101, webSocket: client });`), web.Options{})
	conn, _ := dialWorker(t, w)
	say(t, conn, "x")
	if _, _, err := conn.Read(t.Context()); err == nil || websocket.CloseStatus(err) != -1 {
		t.Errorf("the peer hears %v", err)
	}
	w.WaitFor("Uncaught Error: no 3")
	if strings.Contains(w.Lines(), "closed") {
		t.Error("the end that failed gets a close event")
	}
}

// A Worker that is killed takes its connections along.
func TestWebSocketKilled(t *testing.T) {
	w := webtest.Serve(t, chat, web.Options{})
	w.Budget = 200 * time.Millisecond
	conn, _ := dialWorker(t, w)
	hear(t, conn, "welcome")
	for range 5 { // each message has the budget of a request
		say(t, conn, "x")
		hear(t, conn, "echo x")
	}
	say(t, conn, "loop")
	hearEnd(t, conn, websocket.StatusInternalError)
	again, _ := dialWorker(t, w)
	hear(t, again, "welcome")
}

// flood is a Worker that sends the requested number of megabytes.
const flood = `export default { async fetch() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener("message", ({ data }) => { for (let i = 0; i < Number(data); i++) server.send(new Uint8Array(1 << 20)); });
  server.addEventListener("close", (e) => console.log("closed", e.code));
  return new Response(null, { status: 101, webSocket: client });
} };`

// A peer that does not read is cut off; it does not fill the memory.
func TestWebSocketSlowPeer(t *testing.T) {
	w := webtest.Serve(t, flood, web.Options{})
	conn, _ := dialWorker(t, w)
	say(t, conn, "100")
	w.WaitFor("closed 1006")
}

// Many slow readers, each within its bound, do not fill the memory together; clients that read continue.
func TestWebSocketSlowPeers(t *testing.T) {
	w := webtest.Serve(t, flood, web.Options{})
	reads, _ := dialWorker(t, w)
	for range 3 {
		conn, _ := dialWorker(t, w)
		say(t, conn, "50")
	}
	w.WaitFor("closed 1006")
	reads.SetReadLimit(-1)
	say(t, reads, "1")
	hear(t, reads, string(make([]byte, 1<<20)))
}

// pushed is closed when a connection has taken so many messages of a megabyte.
func pushed(t *testing.T, conn *websocket.Conn, times int) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		for range times {
			if conn.Write(t.Context(), websocket.MessageBinary, make([]byte, 1<<20)) != nil {
				return
			}
		}
		close(done)
	}()
	return done
}

// Messages from before the Worker accepts stay in the network, and arrive then.
func TestWebSocketNotAccepted(t *testing.T) {
	host, open := webtest.Gate(t)
	w := webtest.Serve(t, `export default { async fetch(request, env, ctx) {
	  const [client, server] = Object.values(new WebSocketPair());
	  let n = 0;
	  server.addEventListener("message", ({ data }) => { if ((n += data.size) === 60 << 20) server.send("all " + n); });
	  ctx.waitUntil(fetch("http://`+host+`/").then(() => server.accept()));
	  return new Response(null, { status: 101, webSocket: client });
	} };`, web.Options{AllowFetch: []string{host}})
	conn, _ := dialWorker(t, w)
	taken := pushed(t, conn, 60)
	select {
	case <-taken:
		t.Error("60 MB were read for a Worker that has not accepted the connection")
	case <-time.After(time.Second):
	}
	open()
	hear(t, conn, "all 62914560")
}

// The connection of a client that the Worker does not accept ends when the client leaves or is refused.
func TestWebSocketNeverAccepted(t *testing.T) {
	w := webtest.Serve(t, `export default { async fetch(request, env, ctx) {
	  const [client, server] = Object.values(new WebSocketPair());
	  server.addEventListener("close", (e) => console.log("closed", e.code));
	  ctx.waitUntil(new Promise(() => {}));
	  return new Response(null, { status: 101, webSocket: client });
	} };`, web.Options{})
	conn, _ := dialWorker(t, w)
	say(t, conn, "unheard")
	w.Host.Restart()
	hearEnd(t, conn, websocket.StatusServiceRestart)
}

// A connection that the Worker passes on is read no faster than its other end reads.
func TestWebSocketPassedOn(t *testing.T) {
	const times = 100
	sent := make(chan (<-chan struct{}), 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		sent <- pushed(t, conn, times)
		_, _, _ = conn.Read(r.Context())
		_ = conn.CloseNow()
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	w := webtest.Serve(t, `export default { async fetch(request) {
	  const { webSocket } = await fetch("http://`+host+`/", { headers: { Upgrade: "websocket" } });
	  return new Response(null, { status: 101, webSocket });
	} };`, web.Options{AllowFetch: []string{host}})
	conn, _ := dialWorker(t, w)
	conn.SetReadLimit(-1)
	all := <-sent
	select {
	case <-all:
		t.Errorf("%d MB were read for a visitor that reads nothing", times)
	case <-time.After(time.Second):
	}
	for i := range times {
		if _, data, err := conn.Read(t.Context()); err != nil || len(data) != 1<<20 {
			t.Fatalf("message %d has %d bytes, %v", i, len(data), err)
		}
	}
}

// RFC 6455, 8.1: a text that is not UTF-8 ends the connection, without an event for listeners.
func TestWebSocketNotUTF8(t *testing.T) {
	w := webtest.Serve(t, chat, web.Options{})
	conn, _ := dialWorker(t, w)
	hear(t, conn, "welcome")
	say(t, conn, "caf\xe9")
	hearEnd(t, conn, websocket.StatusInvalidFramePayloadData)
	w.WaitFor("closed 1006")
	again, _ := dialWorker(t, w)
	hear(t, again, "welcome")
}

// A WebSocket for a request that asks for none is an error of the Worker.
func TestWebSocketWithoutUpgrade(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });`), web.Options{})
	if r, got := w.Get("/"); r.StatusCode != 500 || !strings.Contains(got, `did not contain the header "Upgrade: websocket"`) {
		t.Errorf("%s %s", r.Status, got)
	}
}

// echoServer is a server of WebSockets that is not a Worker.
func echoServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refuse":
			http.Error(w, strings.Repeat("not here ", 1000), http.StatusForbidden)
			return
		case "/moved":
			http.Redirect(w, r, r.URL.RawQuery, http.StatusFound)
			return
		case "/never":
			<-r.Context().Done()
			return
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"p"}})
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for {
			kind, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			if string(data) == "end" {
				_ = conn.Close(4000, "over")
				return
			}
			_ = conn.Write(context.WithoutCancel(r.Context()), kind, fmt.Appendf(nil, "%s %s", r.Header.Get("X-Mine"), data))
			if string(data) == "last" {
				_ = conn.Close(4001, "mine")
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestWebSocketClient(t *testing.T) {
	host := echoServer(t)
	options := web.Options{AllowFetch: []string{host}}
	webtest.Try(t, options, []webtest.Snippet{
		{
			"a WebSocket to a server",
			`const ws = new WebSocket("ws://` + host + `/x", "p"); const L = [];
		await new Promise((done) => { ws.onopen = () => { L.push("open", ws.readyState, ws.protocol); ws.send("hi"); };
			ws.onmessage = (e) => { L.push(e.data); ws.send("end"); };
			ws.onclose = (e) => { L.push(e.code, e.reason, e.wasClean); done(); }; });
		return [L, ws.readyState, ws.url];`,
			`[["open",1,"p"," hi",4000,"over",true],3,"ws://` + host + `/x"]`,
		},
		{
			"fetch with an upgrade",
			`const r = await fetch("http://` + host + `/", { headers: { Upgrade: "websocket", "X-Mine": "m" } }); const ws = r.webSocket;
				ws.accept();
		const got = new Promise((done) => ws.addEventListener("message", (e) => done(e.data))); ws.send("hi"); const said = await got;
		const end = new Promise((done) => ws.addEventListener("close", (e) => done([e.code, e.wasClean]))); ws.close(1000, "bye");
			return [r.status, said, await end];`,
			`[101,"m hi",[1000,true]]`,
		},
		// Both sides close, and the Worker is busy while the end of the other comes.
		{
			"both ends close",
			`const ws = new WebSocket("ws://` + host + `/x"); ws.onopen = () => ws.send("last");
				ws.onmessage = () => { ws.close(); for (let i = 0; i < 2e6; i++); };
		return await new Promise((done) => { ws.onclose = (e) => done([e.code, e.reason, e.wasClean]); });`,
			`[4001,"mine",true]`,
		},
		// A response without an upgrade is like any other, and complete.
		{
			"a refused upgrade",
			`const r = await fetch("http://` + host + `/refuse", { headers: { Upgrade: "websocket" } });
				return [r.status, r.webSocket, (await r.text()).length, r.url];`,
			`[403,null,9001,"http://` + host + `/refuse"]`,
		},
		{
			"a redirect to a refusal",
			`const r = await fetch("http://` + host + `/moved?/refuse", { headers: { Upgrade: "websocket" } });
				return [r.status, r.redirected, (await r.text()).length];`,
			`[403,true,9001]`,
		},
		{
			"redirect manual",
			`const r = await fetch("http://` + host + `/moved?/refuse", { redirect: "manual", headers: { Upgrade: "websocket" } });
				return [r.status, r.headers.get("location"), r.redirected];`,
			`[302,"/refuse",false]`,
		},
		{
			"a redirect to a WebSocket",
			`const r = await fetch("http://` + host + `/moved?/x", { headers: { Upgrade: "websocket", "X-Mine": "m" } });
				const ws = r.webSocket; ws.accept(); ws.send("hi");
		return await new Promise((done) => ws.addEventListener("message", (e) => { ws.close(); done([r.status, e.data]); }));`,
			`[101,"m hi"]`,
		},
		{
			"a WebSocket that is redirected",
			`const ws = new WebSocket("ws://` + host + `/moved?/x");
				return await new Promise((done) => { ws.onclose = (e) => done([e.code, e.wasClean]); });`,
			`[1006,false]`,
		},
		{
			"aborted before the handshake",
			`const stop = new AbortController(); setTimeout(() => stop.abort("enough"), 20);
		return await fetch("http://` + host + `/never", { signal: stop.signal, headers: { Upgrade: "websocket" } }).catch((e) => e);`,
			`"enough"`,
		},
		{
			"aborted after the handshake",
			`const stop = new AbortController(); const { webSocket: ws } = await fetch("http://` + host + `/x", {
				signal: stop.signal, headers: { Upgrade: "websocket", "X-Mine": "m" } });
		stop.abort(); ws.accept(); ws.send("hi"); return await new Promise((done) => { ws.addEventListener("close", (e) => done(e.code));
			ws.addEventListener("message", (e) => { ws.close(); done(e.data); }); });`,
			`"m hi"`,
		},
		{
			"bufferedAmount",
			`const ws = new WebSocket("ws://` + host + `/x"); const L = [ws.bufferedAmount];
		await new Promise((done) => { ws.onopen = () => { ws.send("h\u00e9"); L.push(ws.bufferedAmount); ws.send(new Uint8Array(5));
			ws.send(new Blob(["four"])); ws.send(""); L.push(ws.bufferedAmount); };
			let n = 0; ws.onmessage = () => { if (++n === 4) { L.push(ws.bufferedAmount); ws.close(); ws.send("late");
				L.push(ws.bufferedAmount); } }; ws.onclose = done; });
		ws.send(new ArrayBuffer(2)); L.push(ws.bufferedAmount, new WebSocketPair()[0].bufferedAmount); return L;`,
			`[0,3,12,0,4,6,0]`,
		},
	})
	// A connection that the Worker opened can be given to its visitor as it is.
	w := webtest.Serve(t, `export default { async fetch(request) {
	  const { webSocket } = await fetch("http://`+host+`/", { headers: { Upgrade: "websocket", "X-Mine": "through" } });
	  return new Response(null, { status: 101, webSocket });
	} };`, options)
	conn, _ := dialWorker(t, w)
	say(t, conn, "hi")
	hear(t, conn, "through hi")
	say(t, conn, "end")
	hearEnd(t, conn, 4000)
}
