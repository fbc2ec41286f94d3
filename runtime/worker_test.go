package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

var opened = sync.OnceValues(func() (*pagesruntime.Runtime, error) {
	return pagesruntime.Open(context.Background(), pagesruntime.Options{})
})

func open(t testing.TB) *pagesruntime.Runtime {
	t.Helper()
	r, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start runs code as a Worker with the secret GREETING.
func start(t testing.TB, code string, o pagesruntime.WorkerOptions) (*pagesruntime.Worker, error) {
	t.Helper()
	o.Name, o.Code = "worker.js", []byte(code)
	if o.Bindings == nil {
		o.Bindings = &binding.Set{Secrets: map[string]string{"GREETING": "hello"}}
	}
	if o.Limits.CPU == 0 {
		o.Limits.CPU = 4 * time.Second
	}
	w, err := open(t).NewWorker(t.Context(), o)
	if err == nil {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			w.Close(ctx)
		})
	}
	return w, err
}

func mustStart(t testing.TB, code string, o pagesruntime.WorkerOptions) *pagesruntime.Worker {
	t.Helper()
	w, err := start(t, code, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// get sends one request through a real server and returns the answer; failures
// of the Worker come back as their text with their status.
func serve(t testing.TB, w *pagesruntime.Worker) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if _, err := w.Serve(rw, r); err != nil {
			var f *pagesruntime.Error
			if !errors.As(err, &f) {
				t.Errorf("no Error: %v", err)
				return
			}
			rw.Header().Set("X-Kind", string(f.Kind))
			http.Error(rw, f.Error(), f.Status())
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func get(t testing.TB, s *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestServe(t *testing.T) {
	w := mustStart(t, `
		import { env as imported } from "cloudflare:workers";
		const atLoad = imported.GREETING;
		let count = 0;
		export default { async fetch(request, env, ctx) {
			const url = new URL(request.url);
			switch (url.pathname) {
				case "/json": return Response.json({ greeting: env.GREETING, atLoad, q: url.searchParams.get("q") });
				case "/echo": return new Response(await request.text(), { status: 201, headers: { "x-method": request.method } });
				case "/count": return new Response(String(++count));
				case "/stream": {
					const { readable, writable } = new TransformStream();
					const writer = writable.getWriter(), enc = new TextEncoder();
					ctx.waitUntil((async () => { for (let i = 0; i < 3; i++) await writer.write(enc.encode("part" + i));
					await writer.close(); })());
					return new Response(readable);
				}
				case "/sleep": await new Promise(r => setTimeout(r, 30)); return new Response("slept");
			}
			return new Response("nothing", { status: 404 });
		} }`, pagesruntime.WorkerOptions{})
	s := serve(t, w)
	for path, want := range map[string]string{
		"/json?q=%C3%A9": `{"greeting":"hello","atLoad":"hello","q":"é"}`,
		"/stream":        "part0part1part2",
		"/sleep":         "slept",
		"/other":         "nothing",
	} {
		t.Run(path, func(t *testing.T) {
			if resp, got := get(t, s, path); got != want {
				t.Errorf("%s: %d %q, want %q", path, resp.StatusCode, got, want)
			}
		})
	}
	resp, err := s.Client().Post(s.URL+"/echo", "text/plain", strings.NewReader("body ü"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(body) != "body ü" || resp.StatusCode != 201 || resp.Header.Get("X-Method") != "POST" {
		t.Errorf("echo: %d %q", resp.StatusCode, body)
	}
	if got := resp.Header.Get("Server-Timing"); !strings.Contains(got, "cpu;dur=") {
		t.Errorf("no meter: %q", got)
	}
	get(t, s, "/count")
	if _, got := get(t, s, "/count"); got != "2" {
		t.Errorf("requests one after the other do not meet the same isolate: count is %s", got)
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		handler, kind, text string
		status              int
	}{
		"throws":       {`() => { throw new TypeError("bad") }`, "exception", "TypeError: bad (", 500},
		"rejects":      {`async () => { await 0; throw new Error("later") }`, "exception", "Error: later", 500},
		"no response":  {`() => "text"`, "not-response", "returned", 500},
		"nothing":      {`() => {}`, "not-response", "undefined", 500},
		"hangs":        {`() => new Promise(() => {})`, "hung", "never answer", 500},
		"endless":      {`() => { for (;;) {} }`, "cpu", "limits.cpuMs", 503},
		"endless late": {`async () => { await 0; for (;;) {} }`, "cpu", "limits.cpuMs", 503},
		"memory":       {`() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }`, "memory", "128 MB", 503},
	} {
		t.Run(name, func(t *testing.T) {
			w := mustStart(t, `let ok = 0; export default { fetch(r) { if (r.url.endsWith("/fine")) return new Response("fine");
				return (`+c.handler+`)(r) } }`,
				pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: budgetOf(c.kind)}})
			s := serve(t, w)
			resp, got := get(t, s, "/")
			if resp.StatusCode != c.status || resp.Header.Get("X-Kind") != c.kind || !strings.Contains(got, c.text) {
				t.Errorf("got %d %s %q; want %d %s with %q", resp.StatusCode, resp.Header.Get("X-Kind"), got, c.status, c.kind, c.text)
			}
			if resp, got := get(t, s, "/fine"); got != "fine" {
				t.Errorf("the next request: %d %q", resp.StatusCode, got)
			}
		})
	}
}

// budgetOf is short for bombs that must meet it, and long for those that must meet another limit first.
func budgetOf(kind string) time.Duration {
	if kind == "cpu" {
		return 150 * time.Millisecond
	}
	return time.Minute
}

func TestLoadFailures(t *testing.T) {
	for name, c := range map[string]struct{ code, text string }{
		"throws":     {`throw new RangeError("at load"); export default {}`, "RangeError: at load"},
		"syntax":     {`export default {`, "SyntaxError"},
		"no default": {`export const fetch = 1`, "no default export"},
		"no fetch":   {`export default { other() {} }`, "no fetch handler"},
		"a number":   {`export default 5`, "of type number"},
		"global I/O": {`setTimeout(() => 0, 1); export default { fetch() {} }`, "global scope"},
		"wasm": {`import sum from "./0123456789abcdef-sum.wasm"; export default {
			fetch: () => sum }`, "CompileError: expected the magic bytes 00 61 73 6d @+0 (sum.wasm)"},
		"bad JSON": {`const o = JSON.parse("{no"); export default { fetch: () => o }`, "SyntaxError"},
		"endless":  {`await new Promise(() => {}); export default { fetch() {} }`, "never settled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := start(t, c.code, pagesruntime.WorkerOptions{Wasm: map[string][]byte{"./0123456789abcdef-sum.wasm": []byte("text")}})
			var f *pagesruntime.Error
			if !errors.As(err, &f) || f.Kind != pagesruntime.KindLoad || !strings.Contains(f.Error(), c.text) {
				t.Errorf("%s: got %v, want %q", name, err, c.text)
			}
			if f != nil && len(f.Frames) > 0 && f.Frames[0].File == "<input>" {
				t.Errorf("%s: it points into the text that JSON.parse read: %v", name, f.Frames)
			}
		})
	}
}

func TestKillSparesNobodyElseForLong(t *testing.T) {
	w := mustStart(t, `export default { async fetch(r) {
		if (r.url.endsWith("/spin")) for (;;) {}
		await new Promise(f => setTimeout(f, 20)); return new Response("ok") } }`,
		pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: killMS * time.Millisecond}, Isolates: 1})
	s := serve(t, w)
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			path := "/wait"
			if n%5 == 0 {
				path = "/spin"
			}
			resp, body := get(t, s, path)
			kind := resp.Header.Get("X-Kind")
			if path == "/spin" && kind != "cpu" || path == "/wait" && resp.StatusCode != 200 && kind != "reset" {
				t.Errorf("%s: %d %s %s", path, resp.StatusCode, kind, body)
			}
		})
	}
	wg.Wait()
	if _, got := get(t, s, "/wait"); got != "ok" {
		t.Errorf("afterwards: %q", got)
	}
}

// TestAbsent: the error for a missing feature names pages as the cause.
func TestAbsent(t *testing.T) {
	w := mustStart(t, `export default { fetch: () => new FetchEvent("fetch") }`, pagesruntime.WorkerOptions{})
	_, err := w.Serve(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	if f, ok := errors.AsType[*pagesruntime.Error](err); !ok || !strings.Contains(f.Fix, "does not provide FetchEvent yet") {
		t.Errorf("got %+v", err)
	}
}

// TestClientGone: a client that stops sending counts as gone, and must never
// read a 200 that the Worker did not give.
func TestClientGone(t *testing.T) {
	w := mustStart(t, `export default { async fetch(r) { await new Promise(f => setTimeout(f, 200));
		return new Response("late") } }`, pagesruntime.WorkerOptions{})
	s := serve(t, w)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if half, ok := c.(*net.TCPConn); !ok || half.CloseWrite() != nil {
		t.Fatal("cannot close one half")
	}
	answer, err := io.ReadAll(c)
	if err != nil || strings.HasPrefix(string(answer), "HTTP/1.1 200") && !strings.HasSuffix(string(answer), "late") {
		t.Errorf("got %q, %v", answer, err)
	}
}

// TestCompiling: a caller that waits for WebAssembly learns when its compilation begins and ends.
func TestCompiling(t *testing.T) {
	for _, modules := range []map[string][]byte{nil, {"./empty.wasm": []byte("\x00asm\x01\x00\x00\x00")}} {
		var told []string
		mustStart(t, `export default { fetch() {} }`, pagesruntime.WorkerOptions{Wasm: modules, Compiling: func() func() {
			told = append(told, "begun")
			return func() { told = append(told, "done") }
		}})
		if want := []string{"begun", "done"}[:2*len(modules)]; !slices.Equal(told, want) {
			t.Errorf("%d modules: told %q, want %q", len(modules), told, want)
		}
	}
}
