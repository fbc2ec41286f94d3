package node_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// serve starts a server that answers with the Worker; a failure before the head is a 500
// with the failure's text.
func serve(t *testing.T, w *pagesruntime.Worker) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, err := w.Serve(rw, r); err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestServerExports answers by the ways in which a Worker can name its server.
func TestServerExports(t *testing.T) {
	const made = `import { createServer } from "node:http"; import * as https from "node:https";
import { handleAsNodeRequest, httpServerHandler } from "cloudflare:node";
const listener = (req, res) => res.end(req.url + " " + req.socket.localPort + " " + Object.keys(req.cloudflare));
`
	for _, c := range []struct{ name, code, want string }{
		{"a port", `createServer(listener).listen(3000); export default httpServerHandler({ port: 3000 });`, "/x?y 3000 env,ctx,cf"},
		{"a port as text", `createServer(listener).listen("3000"); export default httpServerHandler(3000);`, "/x?y 3000 env,ctx,cf"},
		{"a server", `export default httpServerHandler(createServer(listener));`, "/x?y 49152 env,ctx,cf"},
		{
			"a server that listens at a host",
			`export default httpServerHandler(createServer(listener).listen({ port: 80, host: "localhost" }));`,
			"/x?y 80 env,ctx,cf",
		},
		{"a server of https", `export default httpServerHandler(https.createServer({}, listener).listen(443));`, "/x?y 443 env,ctx,cf"},
		{
			"a request, env and ctx",
			`createServer(listener).listen(1); export default { fetch: (request, env, ctx) => handleAsNodeRequest(1, request, env, ctx) };`,
			"/x?y 1 env,ctx,cf",
		},
		{
			"a request alone",
			`createServer(listener).listen(1); export default { fetch: (request) => handleAsNodeRequest({ port: 1 }, request) };`,
			"/x?y 1 env,ctx,cf",
		},
		{
			"no server",
			`export default httpServerHandler({ port: 3000 });`,
			"no server of node:http listens at port 3000; call server.listen(3000)",
		},
		{
			"a closed server",
			`createServer(listener).listen(3000).close(); export default httpServerHandler({ port: 3000 });`,
			"no server of node:http listens at port 3000",
		},
		{
			"no port",
			`let error; try { httpServerHandler({}); } catch (e) { error = e.message; }
			export default { fetch: () => new Response(error) };`,
			"Failed to determine port for server",
		},
		{
			"null",
			`let error; try { httpServerHandler(null); } catch (e) { error = e.message; }
			export default { fetch: () => new Response(error) };`,
			"Server descriptor cannot be null or undefined",
		},
		{
			"a port over 65535",
			`let error; try { httpServerHandler(70000); } catch (e) { error = e.message; }
			export default { fetch: () => new Response(error) };`,
			"Failed to determine port for server",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := get(t, start(t, made+c.code, pagesruntime.WorkerOptions{}), "/x?y"); !strings.Contains(got, c.want) {
				t.Errorf("%s\n got %s\nwant %s", c.code, got, c.want)
			}
		})
	}
}

// TestServerFailures: a listener that throws or never responds ends its request as any other handler does.
func TestServerFailures(t *testing.T) {
	for _, c := range []struct{ name, listener, want string }{
		{"throws", `(req, res) => { throw new Error("thrown"); }`, "Error: thrown"},
		{"rejects", `async (req, res) => { await 0; throw new RangeError("rejected"); }`, "RangeError: rejected"},
		{
			"throws after a part",
			`(req, res) => { res.writeHead(200); res.write("part"); throw new Error("kept back"); }`,
			"Error: kept back",
		},
		{"throws after the end", `(req, res) => { res.end("all"); throw new Error("after the end"); }`, "Error: after the end"},
		{"destroys the response", `(req, res) => { res.destroy(new Error("destroyed")); }`, "Error: destroyed"},
		{"destroys the request", `(req, res) => { req.destroy(); }`, "the connection was closed before the response was complete"},
		{"destroys the socket", `(req, res) => { req.socket.destroy(new Error("cut")); }`, "Error: cut"},
		{"does nothing", `(req, res) => {}`, "the handler will never answer"},
		{"sets a header", `(req, res) => { res.setHeader("x", "1"); }`, "the handler will never answer"},
		{"writes an invalid status", `(req, res) => { res.writeHead(600); }`, "RangeError: Invalid status code: 600"},
		{
			"destroys the request of a pipeline",
			`(req, res) => { require("stream").pipeline(req, res, () => {}); req.destroy(new Error("piped")); }`,
			"Error: piped",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t,
				`import { createServer } from "node:http"; import { createRequire } from "node:module";
			import { httpServerHandler } from "cloudflare:node";
const require = createRequire("/x.js");
export default httpServerHandler(createServer(`+c.listener+`));`, pagesruntime.WorkerOptions{})
			if got := get(t, w, "/"); !strings.Contains(got, c.want) {
				t.Errorf("%s\n got %s\nwant %s", c.listener, got, c.want)
			}
		})
	}
}

// ask sends a request without a body, and reads the response until it ends or breaks off.
func ask(t *testing.T, server *httptest.Server, method, path string) (resp *http.Response, body []byte, broken error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err = server.Client().Do(req); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, broken = io.ReadAll(resp.Body)
	return resp, body, broken
}

// TestServerHead answers HEAD with the length that GET would give, and several
// cookies in lines of their own.
func TestServerHead(t *testing.T) {
	server := serve(t, start(t, `import { createServer } from "node:http"; import { httpServerHandler } from "cloudflare:node";
export default httpServerHandler(createServer((req, res) => {
  res.setHeader("Set-Cookie", ["a=1", "b=2"]);
  res.setHeader("Connection", "close");
  res.setHeader("Keep-Alive", "timeout=5");
  res.setHeader("Content-Length", req.url === "/long" ? 3 : 5);
  res.write("12");
  res.end("345");
}));`, pagesruntime.WorkerOptions{}))
	for _, c := range []struct{ method, path, length, body string }{
		{"HEAD", "/", "5", ""}, {"GET", "/", "5", "12345"}, {"GET", "/long", "3", "123"},
	} {
		resp, body, err := ask(t, server, c.method, c.path)
		if err != nil || string(body) != c.body || resp.Header.Get("Content-Length") != c.length || resp.Header.Get("Keep-Alive") != "" ||
			!slices.Equal(resp.Header.Values("Set-Cookie"), []string{"a=1", "b=2"}) {
			t.Errorf("%s %s: %q %v %v", c.method, c.path, body, resp.Header, err)
		}
	}
}

// TestServerStreams sends a body piece by piece and waits for the answer to each
// before the next.
func TestServerStreams(t *testing.T) {
	server := serve(t, start(t, `import { createServer } from "node:http"; import { httpServerHandler } from "cloudflare:node";
export default httpServerHandler(createServer((req, res) => {
  res.flushHeaders();
  req.on("data", (piece) => res.write(piece.toString().toUpperCase())).on("end", () => res.end("END"));
}));`, pagesruntime.WorkerOptions{}))
	body, sent := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, piece := range []string{"one", "two", "three"} {
		if _, err := io.WriteString(sent, piece); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != strings.ToUpper(piece) {
			t.Fatalf("after %s came %q: %v", piece, got, err)
		}
	}
	sent.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "END" {
		t.Errorf("at the end came %q: %v", rest, err)
	}
}

// TestServerBackpressure holds who writes to the pace of who reads, both ways.
func TestServerBackpressure(t *testing.T) {
	w := start(t,
		`import { createServer } from "node:http"; import { Readable } from "node:stream";
		import { handleAsNodeRequest } from "cloudflare:node";
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
const near = 200_000; // bytes that the buffers on the way may hold
let made = 0, asked = 0;
const endless = () => new Readable({ highWaterMark: 1024, read() { made += 1024; this.push(Buffer.alloc(1024)); } });
createServer((req, res) => { if (req.method === "GET") endless().pipe(res);
  else req.once("data", () => { req.pause(); res.end("paused"); }); }).listen(1);
export default { async fetch() {
  const reader = (await handleAsNodeRequest(1, new Request("http://x/"))).body.getReader();
  const ahead = [];
  for (let read = 0, i = 0; i < 50; i++) {
    read += (await reader.read()).value.byteLength;
    if (i % 25 === 0) await pause();
    ahead.push(made - read);
  }
  await reader.cancel();
  await pause();
  const last = made;
  await pause();
  const body = new ReadableStream({ pull(controller) { asked += 1024; controller.enqueue(new Uint8Array(1024)); } });
  const text = await (await handleAsNodeRequest(1, new Request("http://x/", { method: "POST", body }))).text();
  await pause();
  return Response.json([ahead.every((n) => n >= 0 && n < near), last > near, made === last, text, asked < near]);
} };`, pagesruntime.WorkerOptions{})
	if got, want := get(t, w, "/"), `[true,true,true,"paused",true]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestServerAborted tells a listener that its client went away: while it answers,
// and while it reads.
func TestServerAborted(t *testing.T) {
	lines := make(chan string, 100)
	server := serve(t, start(t, `import { createServer } from "node:http"; import { httpServerHandler } from "cloudflare:node";
export default httpServerHandler(createServer((req, res) => {
  const heard = [];
  const hear = (source, name, event) => source.on(event, (error) => {
    heard.push([name, event, error?.code].filter(Boolean).join(" "));
    if (heard.length === 6) console.log(heard.sort().join(), req.aborted, req.complete, res.writableFinished);
  });
  for (const event of ["aborted", "error", "close"]) { hear(req, "req", event); hear(res, "res", event);
    hear(req.socket, "socket", event); }
  res.on("close", () => heard.push("last"));
  if (req.method === "POST") req.resume();
  else res.write("begun");
  const timer = setInterval(() => {}, 1);
  req.on("close", () => clearInterval(timer));
}));`, pagesruntime.WorkerOptions{Console: func(l pagesruntime.Line) { lines <- l.Text }}))
	const want = "last,req aborted,req close,req error ECONNRESET,res close,socket close true false false"
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
	} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(request, "GET") {
			if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(resp, err)
			}
		}
		conn.Close()
		if got := <-lines; got != want {
			t.Errorf("%.4s heard\n     %s\nwant %s", request, got, want)
		}
	}
}

// TestServerBrokenOff sends the output from before a listener failed, and logs why it ends there.
func TestServerBrokenOff(t *testing.T) {
	lines := make(chan string, 100)
	w := start(t, `import { createServer } from "node:http"; import { httpServerHandler } from "cloudflare:node";
export default httpServerHandler(createServer(async (req, res) => {
  if (req.url === "/late") {
    res.end("late");
    await 0;
    throw new Error("after the end");
  }
  res.on("finish", () => console.log("finished"));
  if (req.url === "/whole") return res.end("whole");
  res.write("part");
  setTimeout(() => res.destroy(new Error("broken")), 5);
}));`, pagesruntime.WorkerOptions{Console: func(l pagesruntime.Line) { lines <- l.Text }})
	server := serve(t, w)
	for path, want := range map[string]struct {
		body, line string
		fails      bool
	}{
		"/whole": {"whole", "finished", false}, "/late": {"late", "Error: after the end", false},
		"/part": {"part", "the response broke off: Error: broken", true},
	} {
		_, body, err := ask(t, server, http.MethodGet, path)
		if line := <-lines; string(body) != want.body || (err != nil) != want.fails || !strings.Contains(line, want.line) {
			t.Errorf("%s: %q, %v, logged %q", path, body, err, line)
		}
	}
	w.Close(context.Background())
}

// TestServerClasses makes messages of the classes that the options name.
func TestServerClasses(t *testing.T) {
	w := start(t,
		`import { createServer, IncomingMessage, ServerResponse } from "node:http"; import { httpServerHandler } from "cloudflare:node";
class Asked extends IncomingMessage { get path() { return this.url.slice(1); } }
class Answer extends ServerResponse { json(value) { this.end(JSON.stringify(value)); } }
export default httpServerHandler(createServer({ IncomingMessage: Asked, ServerResponse: Answer, highWaterMark: 5 },
  (req, res) => res.json([req.path, res.writableHighWaterMark])));`,
		pagesruntime.WorkerOptions{Pristine: true})
	for range 3 { // the server listens in the image that each request starts from
		if got, want := get(t, w, "/x"), `["x",5]`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
