package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestHello(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`return new Response(env.GREETING, { headers: { "X-A": "b" } });`), web.Options{})
	resp, body := w.Get("/")
	if resp.StatusCode != http.StatusOK || body != "hello" ||
		resp.Header.Get("X-A") != "b" || resp.Header.Get("Content-Type") != "text/plain;charset=UTF-8" {
		t.Errorf("%v %q", resp, body)
	}
}

func TestStartErrors(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{
			"no default export",
			`export const a = 1;`,
			"TypeError: the entry module has no default export; write: export default { fetch(request, env, ctx) { … } }",
		},
		{"no fetch handler", `export default {};`, "TypeError: the default export has no fetch handler"},
		{"a number", `export default 5;`, "TypeError: the default export is of type number; it must be an object with a fetch handler"},
		{"null", `export default null;`, "TypeError: the default export is null; it must be an object with a fetch handler"},
		{
			"a function",
			`export default function () {};`,
			"TypeError: the default export is a function; it must be an object with a fetch handler, or a class that extends " +
				"WorkerEntrypoint",
		},
		{
			"a class without fetch",
			`import { WorkerEntrypoint } from "cloudflare:workers"; export default class Site extends WorkerEntrypoint {};`,
			"TypeError: the default export's class Site has no fetch method",
		},
		{"a thrown error", `throw new RangeError("at start");`, "RangeError: at start"},
		{"fetch while loading", `fetch("https://a.test"); export default { fetch() {} };`, ""},
		{
			"a timer while loading",
			`setTimeout(() => {}, 1);`,
			"Error: Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and " +
				"generating random values are not allowed within global scope. To fix this error, perform this operation within a " +
				"handler.",
		},
		{"randomness while loading", `crypto.randomUUID();`, "Error: Disallowed operation called within global scope."},
		{"an export that is missing", `import { nope } from "cloudflare:workers";`, "SyntaxError"},
		{"what may be done while loading", `Math.random(); new URL("https://a.test"); export default { fetch() {} };`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := webtest.Start(t, c.code, web.Options{})
			if c.want == "" {
				if err != nil {
					t.Errorf("%s\n%v", c.code, err)
				}
			} else if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s\n got %v\nwant %s", c.code, err, c.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct{ name, body, kind, want string }{
		{
			"a text",
			`return "text"`,
			web.KindNotResponse,
			"the fetch handler of the default export returned a value of type string, not a Response",
		},
		{"nothing", `return`, web.KindNotResponse, "the fetch handler of the default export returned undefined, not a Response"},
		{
			"an object",
			`return { status: 200 }`,
			web.KindNotResponse,
			"the fetch handler of the default export returned a value of class Object, not a Response",
		},
		{"a thrown error", `throw new TypeError("broken")`, web.KindException, "broken"},
		{"a thrown text", `await null; throw "a text"`, web.KindException, "'a text'"},
		{
			"a body that was read",
			`const r = new Response("x"); await r.text(); return r`,
			web.KindException,
			"The Response's body has already been used or is locked to a reader; clone() the Response before reading it",
		},
		{"an error response", `return Response.error()`, web.KindException, "The handler answered with Response.error()"},
		{"a promise that never settles", `await new Promise(() => {})`, web.KindHung, "the handler will never answer"},
		{"passThroughOnException", `ctx.passThroughOnException(); throw new Error("x")`, web.KindException, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := webtest.Serve(t, webtest.Handler(c.body), web.Options{})
			resp, _ := w.Get("/")
			var f *web.Failure
			if resp.StatusCode != http.StatusInternalServerError || !errors.As(w.Errors()[0], &f) {
				t.Errorf("%s: %v %v", c.body, resp.Status, w.Errors())
				return
			}
			if f.Kind != c.kind || !strings.HasPrefix(f.Err.Message, c.want) || f.PassThrough != strings.Contains(c.body, "passThrough") {
				t.Errorf("%s: %+v %+v", c.body, f, f.Err)
			}
			if c.kind == web.KindException && strings.Contains(c.body, "new TypeError(\"broken\")") &&
				!strings.Contains(f.Err.Stack, "at fetch (worker.js:1:") {
				t.Errorf("stack %q", f.Err.Stack)
			}
		})
	}
}

func TestCauses(t *testing.T) {
	const code = `throw new Error("top", { cause: new RangeError("middle", { cause: "bottom" }) })`
	w := webtest.Serve(t, webtest.Handler(code), web.Options{})
	w.Get("/")
	f, ok := errors.AsType[*web.Failure](w.Errors()[0])
	if !ok {
		t.Fatal(w.Errors())
	}
	middle, _ := f.Err.Props[0].Value.(*engine.Error)
	bottom, _ := middle.Props[0].Value.(*engine.Error)
	if middle.Error() != "RangeError: middle" || !strings.Contains(middle.Stack, "worker.js:1:") || bottom.Message != "'bottom'" {
		t.Errorf("%+v %+v", middle, bottom)
	}
}

func TestRequestSeen(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`return Response.json([request.url, request.headers.get("host"), request.headers.get("x-a"),
		request.headers.get("connection"), request.body, ctx.member, ctx.props])`), web.Options{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/a%20b/%C3%A9?x=%20y&z", nil)
	r.Header["X-A"] = []string{"1", "2"}
	r.Header.Set("X-Pages-Member-Id", "m1")
	r.Header.Set("X-Pages-Member-Email", "a@b.test")
	_, body := w.Do(r)
	host := strings.TrimPrefix(w.URL, "http://")
	want := `["` + w.URL + `/a%20b/%C3%A9?x=%20y&z","` + host + `","1, 2",null,null,{"email":"a@b.test","id":"m1","name":""},{}]`
	if body != want {
		t.Errorf("\n got %s\nwant %s", body, want)
	}
}

// The platform's additions to a visitor's request.
func TestVisitor(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`
		const cf = request.cf, copy = new Request(request), made = new Request("https://a.test");
		return Response.json([request.headers.get("cf-connecting-ip"), request.redirect, copy.redirect, request.clone().redirect,
			made.redirect,
			cf.country, cf.city, cf.colo, cf.timezone, typeof cf.asn, cf.httpProtocol, cf.tlsVersion, cf === request.cf, copy.cf.colo,
				typeof made.cf])`), web.Options{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL, nil)
	r.Header.Set("Cf-Connecting-Ip", "203.0.113.7")
	_, body := w.Do(r)
	if want := `["127.0.0.1","manual","manual","manual","follow","US","San Francisco","SFO","America/Los_Angeles","number","HTTP/1.1",` +
		`"TLSv1.3",true,"SFO","undefined"]`; body != want {
		t.Errorf("\n got %s\nwant %s", body, want)
	}
}

// The visitor's address is not told to others.
func TestVisitorAddressStays(t *testing.T) {
	seen := make(chan []string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header["Cf-Connecting-Ip"] }))
	defer other.Close()
	code := webtest.Handler(`return fetch("` + other.URL + `", { headers: request.headers })`)
	w := webtest.Serve(t, code, web.Options{AllowFetch: []string{"127.0.0.1"}})
	w.Get("/")
	if got := <-seen; got != nil {
		t.Errorf("sent %q", got)
	}
}

func TestClientGone(t *testing.T) {
	for name, wait := range map[string]string{
		"source of many pieces": `await new Promise(r => setTimeout(r, 1))`,
		"source that waits":     `if (sent++) await new Promise(r => setTimeout(r, 60_000))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webtest.Serve(t, `
				let told = 0, cancelled = "", sent = 0;
				export default { async fetch(request, env, ctx) {
					if (new URL(request.url).pathname === "/told") return Response.json([told, cancelled]);
					request.signal.addEventListener("abort", () => told++);
					return new Response(new ReadableStream({
						async pull(c) { `+wait+`; c.enqueue(new Uint8Array(1000)); },
						cancel(reason) { cancelled += reason; },
					}));
				} };`, web.Options{})
			resp, err := http.Get(w.URL)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			var told string
			want := `[1,"AbortError: The client disconnected"]`
			if !webtest.Eventually(t, func() bool { _, told = w.Get("/told"); return told == want }) {
				t.Errorf("abort events and reasons of the body's cancel: %s, want %s", told, want)
			}
		})
	}
}

// A client that has all announced bytes may close; the Worker's stream then continues to its end.
func TestClientWithAllBytes(t *testing.T) {
	w := webtest.Serve(t, `
		let told = 0, ended = 0;
		export default { fetch(request) {
			if (new URL(request.url).pathname === "/told") return Response.json([told, ended]);
			request.signal.addEventListener("abort", () => told++);
			const body = new ReadableStream({
				start(c) { c.enqueue(new Uint8Array(10)); setTimeout(() => { ended++; c.close(); }, 100); },
				cancel() { told++; },
			});
			return new Response(body, { headers: { "content-length": "10" } });
		} };`, web.Options{})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(resp.Body); err != nil || len(b) != 10 {
		t.Fatal(b, err)
	}
	resp.Body.Close()
	var body string
	if !webtest.Eventually(t, func() bool { _, body = w.Get("/told"); return body == "[0,1]" }) {
		t.Error(body)
	}
	if len(w.Errors()) > 0 {
		t.Error(w.Errors())
	}
}

func TestWaitUntil(t *testing.T) {
	w := webtest.Serve(t, `
		import { waitUntil, env } from "cloudflare:workers";
		let done = "";
		export default { async fetch(request, _, ctx) {
			if (new URL(request.url).pathname === "/done") return new Response(done);
			ctx.waitUntil(new Promise(r => setTimeout(r, 5)).then(() => { done += "a" + env.GREETING; }));
			waitUntil(Promise.reject(new Error("lost")));
			return new Response("early:" + done);
		} };`, web.Options{})
	if _, body := w.Get("/"); body != "early:" {
		t.Error(body)
	}
	if !webtest.Eventually(t, func() bool { _, body := w.Get("/done"); return body == "ahello" }) {
		t.Error("waitUntil was not waited for")
	}
	if got := w.Lines(); got != "error: waitUntil: Error: lost\n" {
		t.Errorf("console %q", got)
	}
}

// A request may settle a promise that another one awaits.
func TestSharedPromise(t *testing.T) {
	w := webtest.Serve(t, `
		let shared;
		export default { async fetch(request) {
			if (request.url.endsWith("/stuck")) await new Promise(() => {});
			shared ??= new Promise(r => setTimeout(r, 30)).then(() => "made once");
			return new Response(await shared);
		} };`, web.Options{})
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if resp, body := w.Get("/"); body != "made once" {
				t.Errorf("%v %q", resp.Status, body)
			}
		})
	}
	all.Go(func() {
		if _, body := w.Get("/stuck"); !strings.Contains(body, "never answer") {
			t.Errorf("stuck: %q", body)
		}
	})
	all.Wait()
}

// Many requests of all kinds at once, in one isolate.
func TestConcurrency(t *testing.T) {
	url, _ := webtest.Backend(t)
	w := webtest.Serve(t, `export default { async fetch(request, env, ctx) {
		const url = new URL(request.url), n = url.searchParams.get("n");
		switch (url.pathname) {
		case "/timer": await new Promise(r => setTimeout(r, n % 7)); return new Response(n);
		case "/fetch": return new Response(new URLSearchParams((await (await fetch("`+url+`/echo?n=" +
			n)).text()).split(" ")[1].split("?")[1]).get("n"));
		case "/stream": return new Response(ReadableStream.from(n).pipeThrough(new TextEncoderStream()));
		case "/body": return new Response(await request.text());
		case "/wait": ctx.waitUntil(new Promise(r => setTimeout(r, 3))); return new Response(n);
		case "/pass": return fetch("`+url+`/none");
		}
		throw new Error(n);
	} };`, web.Options{AllowFetch: []string{"127.0.0.1"}})
	var all sync.WaitGroup
	for n := range 210 {
		all.Go(func() {
			path := []string{"/timer", "/fetch", "/stream", "/body", "/wait", "/pass", "/throw"}[n%7]
			want := strconv.Itoa(n)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+path+"?n="+want, strings.NewReader(want))
			resp, body := w.Do(r)
			switch path {
			case "/pass":
				if resp.StatusCode != http.StatusNoContent {
					t.Errorf("%s: %v", path, resp)
				}
			case "/throw":
				if body != "the Worker threw Error: "+want+"\n" {
					t.Errorf("%s: %q", path, body)
				}
			default:
				if body != want {
					t.Errorf("%s: %q, want %q", path, body, want)
				}
			}
		})
	}
	all.Wait()
}

func TestEntrypointClass(t *testing.T) {
	w := webtest.Serve(t, `
		import { WorkerEntrypoint } from "cloudflare:workers";
		export default class extends WorkerEntrypoint {
			async fetch(request) { return new Response(this.env.GREETING + typeof this.ctx.waitUntil); }
		}`, web.Options{})
	if _, body := w.Get("/"); body != "hellofunction" {
		t.Error(body)
	}
}

// Libraries extend classes of products that a site does not use.
func TestPlatformClasses(t *testing.T) {
	w := webtest.Serve(t, `
		import * as platform from "cloudflare:workers";
		import { connect } from "cloudflare:sockets";
		export class Room extends platform.DurableObject { fetch() {} }
		export class Flow extends platform.WorkflowEntrypoint { run() {} }
		class Service extends platform.RpcTarget { hello() { return "hello"; } }
		const made = (make) => { try { return make(); } catch (error) { return String(error); } };
		export default { fetch() {
			return Response.json([
				Object.keys(platform).join(),
				made(() => new Room({}, {})), made(() => new Flow()), made(() => new platform.ServiceStub()),
				new Service().hello(), platform.RpcStub.name, made(() => connect("database:5432")),
			]);
		} };`, web.Options{})
	want := `["DurableObject,RpcPromise,RpcProperty,RpcStub,RpcTarget,ServiceStub,WorkerEntrypoint,WorkflowEntrypoint,env,waitUntil",` +
		`"TypeError: Failed to construct 'DurableObject': this platform has no Durable Objects",` +
		`"TypeError: Failed to construct 'WorkflowEntrypoint': this platform has no Workflows",` +
		`"TypeError: Failed to construct 'ServiceStub': this platform has no service bindings","hello","RpcStub",` +
		`"TypeError: connect: this platform has no sockets; use fetch, with a client that speaks HTTP, or bindings.database"]`
	if _, body := w.Get("/"); body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

func TestBudget(t *testing.T) {
	w := webtest.Serve(t, `export default { async fetch(request) {
		if (request.url.endsWith("/spin")) { await null; while (true) {} }
		return new Response("fine");
	} };`, web.Options{})
	w.Budget = 30 * time.Millisecond
	w.Get("/spin")
	if _, ok := errors.AsType[*engine.KilledError](w.Errors()[0]); !ok {
		t.Errorf("%v", w.Errors())
	}
	if _, body := w.Get("/"); body != "fine" {
		t.Errorf("after the kill: %q", body)
	}
}

// Current requests in an isolate that restarts get the reason.
func TestOthersAtReset(t *testing.T) {
	w := webtest.Serve(t, `export default { async fetch(request) {
		console.log("in");
		if (request.url.endsWith("/wait")) { await new Promise(r => setTimeout(r, 60000)); }
		while (true) {}
	} };`, web.Options{})
	w.Budget = 50 * time.Millisecond
	var waiting sync.WaitGroup
	waiting.Go(func() { w.Get("/wait") })
	if !webtest.Eventually(t, func() bool { return w.Lines() == "log: in\n" }) {
		t.Fatal("the first request did not begin")
	}
	w.Get("/spin")
	waiting.Wait()
	var killed, reset int
	for _, err := range w.Errors() {
		if errors.Is(err, engine.ErrReset) {
			reset++
		} else if _, ok := errors.AsType[*engine.KilledError](err); ok {
			killed++
		}
	}
	if killed != 1 || reset != 1 {
		t.Errorf("%v", w.Errors())
	}
}

func TestGiveUp(t *testing.T) {
	const code = `ctx.waitUntil(new Promise(r => setTimeout(r, 60000))); return new Response("x")`
	w, err := webtest.Start(t, webtest.Handler(code), web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := web.NewExchange(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	scope := engine.NewScope(t.Context(), time.Second, x)
	if err := w.Host.Serve(w.Isolate, scope, x); err != nil {
		t.Fatal(err)
	}
	select {
	case <-x.Done():
		t.Fatal("waitUntil was not waited for")
	default:
	}
	w.Host.GiveUp(x)
	<-x.Done()
	scope.End(nil)
}

func TestUnreadBody(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`return new Response("no thanks")`), web.Options{})
	for range 5 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, strings.NewReader(strings.Repeat("x", 300<<10)))
		if _, body := w.Do(r); body != "no thanks" {
			t.Error(body)
		}
	}
}

// The Worker may answer while it reads, and leave off reading.
func TestAnswerWhileReading(t *testing.T) {
	w := webtest.Serve(t, `export default { async fetch(request) {
		const path = new URL(request.url).pathname;
		if (path === "/echo") return new Response(request.body);
		if (path === "/upper") return new Response(request.body.pipeThrough(new TransformStream()));
		if (path === "/stalled") { request.text().catch(() => {}); return new Response("at once"); }
		return new Response(ReadableStream.from([new Uint8Array(3)]));
	} };`, web.Options{})
	big := strings.Repeat("x", 1<<20)
	for path, want := range map[string]string{"/echo": big, "/upper": big, "/none": "\x00\x00\x00"} {
		for range 3 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+path, strings.NewReader(big))
			if path == "/none" {
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader("small")), 5
			}
			if _, body := w.Do(r); body != want {
				t.Errorf("%s: %d bytes", path, len(body))
			}
		}
	}
	sent, sender := io.Pipe()
	defer sender.Close()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/stalled", sent)
	if _, body := w.Do(r); body != "at once" {
		t.Error(body)
	}
}

func TestOtherRequestsBody(t *testing.T) {
	w := webtest.Serve(t, `
		let kept;
		export default { async fetch(request) {
			if (request.method === "POST") { kept = request; return new Response("kept"); }
			return new Response(await kept.text().catch(String));
		} };`, web.Options{})
	w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, strings.NewReader("mine")))
	if _, body := w.Get("/"); !strings.HasPrefix(body, "Error: Cannot perform I/O on behalf of a different request") {
		t.Error(body)
	}
}

func TestConsole(t *testing.T) {
	w := webtest.Serve(t, `
		class Point { constructor() { this.x = 1; this.y = -0; } get z() { return 3; } }
		export default { fetch() {
			console.log("a %s %d %j %%", "b", "5", { c: 1 }, "d", [1, "two", , null], undefined);
			console.warn({ a: { b: { c: { d: 1 } } }, f() {}, [Symbol("s")]: 1 }, new Point(), new Map([["k", new Set([1n])]]));
			console.error(Object.create(null), new Date(0), /x/g, Symbol("q"), class K {}, "it's");
			const ring = { name: "ring" }; ring.self = ring; console.info(ring);
			console.group("G"); console.debug("in\nside"); console.groupEnd();
			console.count(); console.count(); console.assert(1 > 2, "math %s", "x"); console.time("t");
			console.table([{ a: 1 }, { a: 2, b: "x" }]);
			console.log(new Headers({ a: "1" }), new URL("https://a.test?q=1").searchParams, new Response("x").headers);
			console.log(new Uint8Array(3), new ArrayBuffer(2), [[[[1]]]], "x".repeat(3),
				new Proxy({}, { get() { throw 1 }, ownKeys() { throw new Error("trap") } }), {
				[Symbol.for("nodejs.util.inspect.custom")]() { throw 1 } });
			console.log("%c styled", "color: red"); console.log();
			return new Response("");
		} };`, web.Options{})
	w.Get("/")
	want := `log: a b 5 {"c":1} % d [ 1, 'two', <1 empty item>, null ] undefined
warn: { a: { b: { c: [Object] } }, f: [Function: f], [Symbol(s)]: 1 } Point { x: 1, y: -0 } Map(1) { 'k' => Set(1) { 1n } }
error: [Object: null prototype] {} 1970-01-01T00:00:00.000Z /x/g Symbol(q) [class K] it's
info: <ref *1> { name: 'ring', self: [Circular *1] }
log: G
debug:   in
  side
info: default: 1
info: default: 2
error: Assertion failed: math x
log: ┌─────────┬───┬─────┐
│ (index) │ a │ b   │
├─────────┼───┼─────┤
│ 0       │ 1 │     │
│ 1       │ 2 │ 'x' │
└─────────┴───┴─────┘
log: Headers { a: '1' } URLSearchParams { 'q' => '1' } Headers { 'content-type': 'text/plain;charset=UTF-8' }
log: Uint8Array(3) [ 0, 0, 0 ] ArrayBuffer { [Uint8Contents]: <00 00>, [byteLength]: 2 } [ [ [ [Array] ] ] ] xxx {}` +
		` [object that cannot be shown: its own code threw]
log:  styled
log: 
`
	if got := w.Lines(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
