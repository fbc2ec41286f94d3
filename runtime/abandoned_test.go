package runtime_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// visited is a Worker on a real server, with the usage of its requests.
type visited struct {
	*httptest.Server
	cpu     atomic.Int64
	served  sync.WaitGroup
	arrived atomic.Int64
}

func visit(t *testing.T, w *pagesruntime.Worker) *visited {
	t.Helper()
	v := &visited{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		v.served.Add(1)
		defer v.served.Done()
		v.arrived.Add(1)
		usage, err := w.Serve(rw, r)
		v.cpu.Add(int64(usage.CPU))
		if f, ok := errors.AsType[*pagesruntime.Error](err); ok {
			http.Error(rw, f.Error(), f.Status())
		}
	}))
	t.Cleanup(v.Close)
	return v
}

// leave sends n requests at the same time, and abandons them once all have arrived and one has begun, which a line of its console shows.
func (v *visited) leave(t *testing.T, n int, path string, began <-chan struct{}) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	before := v.arrived.Load()
	for range n {
		clients.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.URL+path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if resp, err := v.Client().Do(r); err == nil {
				<-ctx.Done()
				resp.Body.Close()
			}
		})
	}
	testmachine.Await(t, "all requests arrive", func() bool { return v.arrived.Load() >= before+int64(n) })
	select {
	case <-began:
	case <-time.After(20 * time.Second):
		t.Errorf("%s: no request began", path)
	}
	time.AfterFunc(50*time.Millisecond, leave) // the patience of the clients: runnable work runs meanwhile
	clients.Wait()
}

// heard is a console that closes said at a certain line, and passes others on.
func heard(line string, said chan<- struct{}, others func(pagesruntime.Line)) func(pagesruntime.Line) {
	return func(l pagesruntime.Line) {
		if l.Text != line {
			others(l)
			return
		}
		said <- struct{}{}
	}
}

// Work of abandoned requests that would continue for their whole budget, or without end.
var endless = map[string]string{
	"loop":             `for (;;);`,
	"caught":           `for (;;) try { for (;;); } catch {} finally { console.log("finally") }`,
	"calls":            `const f = (n) => n < 2 ? 1 : f(n - 1) + f(n - 2); for (;;) f(20);`,
	"jobs":             `for (;;) await null;`,
	"after a job":      `await null; for (;;);`,
	"chain of jobs":    `const f = () => Promise.resolve().then(f); await f();`,
	"native":           `for (;;) new Array(1e5).join("ab");`,
	"below a function": `JSON.parse("[1]", () => { for (;;); });`,
	"generator":        `const g = function* () { for (;;) yield 1; }; for (const _ of g());`,
	"after a timer":    `await new Promise((f) => setTimeout(f, 10)); for (;;);`,
	"listener": `request.signal.addEventListener("abort", () => { for (;;); });
		await new Promise(() => setTimeout(() => {}, 1e6));`,
	"never":       `await new Promise(() => setTimeout(() => {}, 1e6));`,
	"stream":      `return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(9)) }, pull() { for (;;); } }));`,
	"WebAssembly": `new WebAssembly.Instance(m).exports.f();`,
	"unread stream": `const t = new TransformStream(), w = t.writable.getWriter();
		(async () => { for (;;) await w.write(new Uint8Array(9)); })(); return new Response(t.readable);`,
}

// endlessWasm exports f, which loops without end: (func (export "f") (loop br 0)).
var endlessWasm = []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00" +
	"\x07\x05\x01\x01f\x00\x00\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b")

// TestAbandoned: of twenty requests whose clients left, those that run are ended, and
// those that wait never begin; the next visitor is answered.
func TestAbandoned(t *testing.T) {
	for name, body := range endless {
		for _, o := range []pagesruntime.WorkerOptions{
			{Isolates: 1},
			{Isolates: 2},
			{Pristine: true},
			{Isolates: 1, Limits: pagesruntime.Limits{Mode: pagesruntime.Off}},
		} {
			began, first := atomic.Int64{}, make(chan struct{}, 20)
			o.Limits.CPU = 10 * time.Second
			o.Wasm = map[string][]byte{"./m.wasm": endlessWasm}
			o.Console = func(l pagesruntime.Line) {
				if l.Text == "began" {
					began.Add(1)
					first <- struct{}{}
				}
				if strings.Contains(l.Text, "finally") {
					t.Errorf("%s: code ran after its request was ended", name)
				}
			}
			w := mustStart(t, `import m from "./m.wasm"; export default { async fetch(request) {
				if (new URL(request.url).pathname === "/ok") return new Response("ok");
				console.log("began");
				`+body+`
			} }`, o)
			v := visit(t, w)
			v.leave(t, 20, "/", first)
			start := time.Now()
			if resp, got := get(t, v.Server, "/ok"); resp.StatusCode != http.StatusOK || got != "ok" {
				t.Errorf("%s %+v: the next visitor got %d %q", name, o.Limits, resp.StatusCode, got)
			}
			took := time.Since(start)
			v.served.Wait()
			cpu := time.Duration(v.cpu.Load())
			if took > 5*time.Second || cpu > 5*time.Second {
				t.Errorf("%s (%d isolates, pristine %v, %q): the next visitor waited %v, the abandoned used %v of CPU",
					name, o.Isolates, o.Pristine, o.Limits.Mode, took, cpu)
			}
			// One each at a time, and perhaps some whose clients left a little later than others.
			if hogs := name == "loop" || name == "calls" || name == "caught" || name == "WebAssembly"; hogs && began.Load() > 10 {
				t.Errorf("%s: %d of 20 requests began in %d isolates", name, began.Load(), o.Isolates)
			}
		}
	}
}

// TestAbandonedSparesOthers: a request that is ended in the midst of its work takes no other one with it, and no later one sees its
// half-done work in variables.
func TestAbandonedSparesOthers(t *testing.T) {
	waits, loops := make(chan struct{}, 1), make(chan struct{}, 1)
	console := heard("/wait", waits, heard("/loop", loops, func(pagesruntime.Line) {}))
	w := mustStart(t, `
		let half = false;
		export default { async fetch(request) {
			const path = new URL(request.url).pathname;
			console.log(path);
			if (path === "/loop") { half = true; try { for (;;); } finally { half = false; } }
			if (path === "/wait") { await new Promise((f) => setTimeout(f, 600)); return new Response("waited"); }
			return new Response(String(half));
		} }`, pagesruntime.WorkerOptions{Isolates: 1, Limits: pagesruntime.Limits{CPU: 10 * time.Second}, Console: console})
	v := visit(t, w)
	for _, alone := range []bool{true, false} {
		waited := make(chan string, 1)
		if !alone {
			go func() {
				resp, got := get(t, v.Server, "/wait")
				waited <- resp.Status + " " + got
			}()
			<-waits
		}
		v.leave(t, 1, "/loop", loops)
		if _, got := get(t, v.Server, "/"); got != "false" {
			t.Errorf("alone %v: a later request met a variable that was left as %s", alone, got)
		}
		if !alone {
			if got := <-waited; got != "200 OK waited" {
				t.Errorf("who shared the isolate got %q", got)
			}
		}
	}
}

// TestAbandonedWaitUntil: the promises of waitUntil and the handler continue until the last promise has settled.
func TestAbandonedWaitUntil(t *testing.T) {
	for name, body := range map[string]string{
		"before": `ctx.waitUntil(later(400, "kept")); await later(200, "went on"); await later(4000, "went on too long");`,
		"when told": `request.signal.addEventListener("abort", () => { console.log("told"); ctx.waitUntil(later(200, "kept")); });
			await later(4000, "went on too long");`,
	} {
		log, began := newConsole(), make(chan struct{}, 1)
		w := mustStart(t, `
			const later = (ms, text) => new Promise((f) => setTimeout(() => { console.log(text); f(); }, ms));
			export default { async fetch(request, env, ctx) { console.log("began"); `+body+` return new Response("late") } }`,
			pagesruntime.WorkerOptions{Console: heard("began", began, log.write)})
		v := visit(t, w)
		v.leave(t, 1, "/", began)
		want := map[string][]string{"before": {"went on", "kept"}, "when told": {"told", "kept"}}[name]
		for i, text := range want {
			if l := log.next(t, i); l.Text != text {
				t.Errorf("%s: line %d is %q, want %q", name, i, l.Text, text)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		start := time.Now()
		w.Close(ctx) // waits for running requests
		cancel()
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: the request was still under way for %v", name, took)
		}
		log.mu.Lock()
		if len(log.lines) != len(want) {
			t.Errorf("%s: logged %+v", name, log.lines)
		}
		log.mu.Unlock()
	}
}
