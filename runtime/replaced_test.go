package runtime_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// growingModule exports a memory of one page as "m", grow (i32) -> i32, and load (i32) -> i32.
var growingModule = []byte("\x00asm\x01\x00\x00\x00\x01\x06\x01\x60\x01\x7f\x01\x7f\x03\x03\x02\x00\x00\x05\x03\x01\x00\x01" +
	"\x07\x13\x03\x01m\x02\x00\x04grow\x00\x00\x04load\x00\x01" +
	"\x0a\x10\x02\x06\x00\x20\x00\x40\x00\x0b\x07\x00\x20\x00\x28\x02\x00\x0b")

// memoryLines are the lines of a log about memory.
type memoryLines struct {
	mu  sync.Mutex
	all []string
}

func (m *memoryLines) add(l pagesruntime.Line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.Contains(l.Text, "memory") {
		m.all = append(m.all, l.Level+" "+l.Text)
	}
}

func (m *memoryLines) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.all
	m.all = nil
	return all
}

// An isolate that met its memory limit is replaced before the next request, even if the Worker caught the error; the request that met it
// continues.
func TestReplacedOverMemory(t *testing.T) {
	const code = `import module from "./growing.wasm";
		const base = new Array(20000).fill(0); let served = 0, kept = [];
		const fill = (make) => { try { for (;;) kept.push(make()) } catch (e) { return String(e) } };
		const ways = {
			"/heap": () => fill(() => base.slice()),
			"/buffers": () => fill(() => new ArrayBuffer(9 << 20)),
			"/large": () => { try { new ArrayBuffer(200 << 20) } catch (e) { return String(e) } },
			"/buffer": () => new ArrayBuffer(200 << 20),
			"/grow": () => { const { grow } = kept[0] = new WebAssembly.Instance(module).exports; let n = 0; while (grow(16) !== -1) n++;
				return n > 100 ? "refused" : n },
			"/trap": () => { const { grow, load } = kept[0] = new WebAssembly.Instance(module).exports; while (grow(160) !== -1);
				try { load(-9) } catch (e) { return String(e) } },
			"/memories": () => fill(() => new WebAssembly.Memory({ initial: 200 })),
			"/uncaught": () => { for (;;) kept.push(base.slice()) },
			"/plain": () => "fine",
		};
		export default { async fetch(request, env, ctx) {
			served++;
			const path = new URL(request.url).pathname, text = ways[path]();
			await scheduler.wait(1);
			return new Response(served + " " + text);
		} }`
	heap := `warn memory: the Worker met its limit of 128 MB and starts over for the next request, .* ` +
		`It had 12\d\.\d MB in JavaScript's heap`
	module := `^warn memory: .* It had \d\.\d MB in JavaScript's heap with its ArrayBuffers, 1[12]\d\.\d MB in memories of WebAssembly[.,]`
	rows := []struct{ name, path, want, line string }{
		{"a heap that is full", "/heap", "InternalError: out of memory", heap},
		{
			"buffers", "/buffers", "RangeError: Array buffer allocation failed",
			`It had 1[12]\d\.\d MB in JavaScript's heap with its ArrayBuffers`,
		},
		{
			"one buffer that is larger than the limit", "/large", "RangeError: Array buffer allocation failed",
			`It had \d\.\d MB in JavaScript's`,
		},
		{"memory.grow that gives -1", "/grow", "refused", module},
		{"a module that goes on without the memory", "/trap", "RuntimeError: memory access out of bounds", module},
		{"memories", "/memories", "RangeError: WebAssembly.Instance(): Out of memory: the isolate would hold more than 128 MB", module},
		{"a buffer that nothing catches", "/buffer", "the Worker used more than 128 MB of memory", `It had \d\.\d MB in JavaScript's`},
		{"an error that nothing catches", "/uncaught", "the Worker used more than 128 MB of memory", heap},
	}
	for _, pristine := range []bool{false, true} {
		var lines memoryLines
		w := mustStart(t, code, pagesruntime.WorkerOptions{
			Pristine: pristine, Isolates: 1, Console: lines.add, Wasm: map[string][]byte{"./growing.wasm": growingModule},
			Limits: pagesruntime.Limits{CPU: 20 * time.Second},
		})
		s := serve(t, w)
		for _, row := range rows {
			if pristine && row.path != "/heap" && row.path != "/grow" {
				continue
			}
			t.Run(map[bool]string{false: "shared", true: "request"}[pristine]+"/"+row.name, func(t *testing.T) {
				if _, got := get(t, s, row.path); !strings.Contains(got, row.want) {
					t.Errorf("the answer is %q, want %q", got, row.want)
				}
				if _, got := get(t, s, "/plain"); got != "1 fine" {
					t.Errorf("the next request met %q, and no new isolate", got)
				}
				got := lines.take()
				if len(got) != 1 || !regexp.MustCompile(row.line).MatchString(got[0]) {
					t.Errorf("the log is %q, want one line of %s", got, row.line)
				}
			})
		}
	}
}

// Cyclic garbage, which only a collection frees, is collected before the limit is met, and not at every allocation.
func TestCollectedBeforeTheLimit(t *testing.T) {
	var lines memoryLines
	w := mustStart(t, `const base = new Array(5000).fill(0); let live = [], served = 0;
		export default { fetch(request) {
			served++;
			while (live.length < 1500) live.push(base.slice());
			for (let i = 0; i < 1500; i++) { const ring = { data: base.slice() }; ring.self = ring }
			return new Response(served + " " + live.length);
		} }`, pagesruntime.WorkerOptions{
		Isolates: 1, Console: lines.add, Limits: pagesruntime.Limits{CPU: 20 * time.Second},
	})
	s := serve(t, w)
	for _, want := range []string{"1 1500", "2 1500", "3 1500"} {
		if _, got := get(t, s, "/"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := lines.take(); len(got) > 0 {
		t.Errorf("the log is %q", got)
	}
}

// In a replaced isolate, requests run to their end, and WebSockets close.
func TestReplacedUnderway(t *testing.T) {
	var lines memoryLines
	w := mustStart(t, `const base = new Array(20000).fill(0); let kept = [], go, served = 0;
		const released = new Promise((resolve) => { go = resolve });
		export default { async fetch(request, env, ctx) {
			served++;
			const path = new URL(request.url).pathname;
			if (path === "/socket") { const [client, server] = Object.values(new WebSocketPair()); server.accept();
				server.send("open"); return new Response(null, { status: 101, webSocket: client }) }
			if (path === "/slow") { const body = new ReadableStream({ async start(c) { c.enqueue(new TextEncoder().encode("begun "));
				for (let i = 0; i < 50 && kept.length === 0; i++) await scheduler.wait(2);
				await scheduler.wait(2); c.enqueue(new TextEncoder().encode("done")); c.close() } });
				return new Response(body) }
			if (path === "/fill") { ctx.waitUntil(scheduler.wait(9).then(() => console.log("waitUntil within the memory of", served)));
				try { for (;;) kept.push(base.slice()) } catch (e) { return new Response("filled " + served) } }
			return new Response("fine " + served);
		} }`, pagesruntime.WorkerOptions{Isolates: 1, Console: lines.add, Limits: pagesruntime.Limits{CPU: 20 * time.Second}})
	s := serve(t, w)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.URL, "http")+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.CloseNow() }()
	if _, message, err := socket.Read(ctx); err != nil || string(message) != "open" {
		t.Fatalf("%q, %v", message, err)
	}
	slow := make(chan string, 1)
	begun := make(chan struct{})
	go func() {
		r, err := http.Get(s.URL + "/slow")
		if err != nil {
			slow <- err.Error()
			close(begun)
			return
		}
		defer func() { _ = r.Body.Close() }()
		buffer, text := make([]byte, 64), ""
		for {
			n, err := r.Body.Read(buffer)
			if text == "" {
				close(begun)
			}
			if text += string(buffer[:n]); err != nil {
				slow <- text
				return
			}
		}
	}()
	<-begun
	if _, got := get(t, s, "/fill"); got != "filled 3" {
		t.Errorf("the answer is %q", got)
	}
	if _, got := get(t, s, "/"); got != "fine 1" {
		t.Errorf("the next request: %q", got)
	}
	if got := <-slow; got != "begun done" {
		t.Errorf("the request under way: %q", got)
	}
	if _, _, err := socket.Read(ctx); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the WebSocket ended with %v", err)
	}
	w.Close(ctx) // waits for waitUntil
	got := lines.take()
	if len(got) != 2 || !strings.HasPrefix(got[0], "warn memory: ") || got[1] != "log waitUntil within the memory of 3" {
		t.Errorf("the log is %q", got)
	}
}
