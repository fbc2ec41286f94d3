package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// console collects the log lines of a Worker.
type console struct {
	mu    sync.Mutex
	lines []pagesruntime.Line
	heard chan struct{}
}

func newConsole() *console { return &console{heard: make(chan struct{}, 1<<16)} }

func (c *console) write(l pagesruntime.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, l)
	c.heard <- struct{}{}
}

// next waits for the n-th line, from 0.
func (c *console) next(t *testing.T, n int) pagesruntime.Line {
	t.Helper()
	for {
		c.mu.Lock()
		if len(c.lines) > n {
			defer c.mu.Unlock()
			return c.lines[n]
		}
		c.mu.Unlock()
		select {
		case <-c.heard:
		case <-time.After(20 * time.Second):
			t.Fatalf("line %d never came", n)
		}
	}
}

// compiled is TypeScript after the bundler: without its types, and with the map to its lines.
func compiled(t *testing.T, source string) (code, sourceMap []byte) {
	t.Helper()
	result := api.Transform(source, api.TransformOptions{
		Loader: api.LoaderTS, Sourcefile: "src/worker.ts", Sourcemap: api.SourceMapExternal,
	})
	if len(result.Errors) > 0 {
		t.Fatal(result.Errors[0].Text)
	}
	return result.Code, result.Map
}

// markedLine is the line of source that has the comment HERE.
func markedLine(source string) int {
	before, _, _ := strings.Cut(source, "/*HERE*/")
	return strings.Count(before, "\n") + 1
}

// TestKillNamesTheLine: the error names the limit and the running line of the author's file, at any place at which the budget ends.
//
// QuickJS reports 64 calls at most: below that many calls of ours, the line is unknown.
func TestKillNamesTheLine(t *testing.T) {
	const frame = `
type Env = Record<string, string>;
export default {
	async fetch(request: Request, env: Env, ctx: any): Promise<Response> {
		BODY
		return new Response("ok");
	},
};
`
	for name, body := range map[string]string{
		"loop":         "for (;;) Math.abs(1); /*HERE*/",
		"array native": "new Array(5e7).join(); /*HERE*/",
		"regex native": "/^(a+)+$/.test('a'.repeat(40) + 'b'); /*HERE*/",
		"reverse":      "Array.prototype.reverse.call({ length: 1e9 }); /*HERE*/",
		"callback":     "[1].forEach(() => {\n\t\t\tfor (;;) Math.abs(1); /*HERE*/\n\t\t});",
		"after await":  "await 0;\n\t\tfor (;;) Math.abs(1); /*HERE*/",
		"microtask":    "await new Promise(() => queueMicrotask(() => {\n\t\t\tfor (;;) Math.abs(1); /*HERE*/\n\t\t}));",
		"timer":        "await new Promise(() => setTimeout(() => {\n\t\t\tfor (;;) Math.abs(1); /*HERE*/\n\t\t}, 1));",
		"in a library": "new URLSearchParams({ get a(): string { for (;;) Math.abs(1); /*HERE*/ } });",
		"below our code": "let deep: any = [];\n\t\tfor (let i = 0; i < 12; i++) deep = [deep];\n\t\tfor (;;) " +
			"structuredClone(deep); /*HERE*/",
		"in our stream": "await new Response(new ReadableStream({ pull() {\n\t\t\tfor (;;) Math.abs(1); /*HERE*/\n\t\t} })).text();",
		"empty for":     "const n = Math.sin(1);\n\n\t\tfor (;;); /*HERE*/\n\t\tMath.cos(n);",
		"empty while":   "let flag = Math.sin(1) < 2;\n\n\t\twhile (flag) { /*HERE*/\n\t\t\t// waits\n\t\t}\n\t\tMath.cos(1);",
		"empty do":      "if (Math.sin(1) < 2) {\n\n\t\t\tdo {} while (true); /*HERE*/\n\t\t}\n\t\tMath.cos(1);",
		"counting":      "const n = Math.sin(1);\n\t\tfor (let i = 0; i >= 0; i += 0) { /*HERE*/\n\t\t}\n\t\tMath.cos(n);",
		"nothing else":  "const spin = () => {\n\n\t\t\twhile (true) {} /*HERE*/\n\t\t};\n\t\tspin();",
		"a method":      "class A {\n\t\t\tstatic spin(n: number) {\n\n\t\t\t\twhile (n > 0) {} /*HERE*/\n\t\t\t}\n\t\t}\n\t\tA.spin(1);",
		"toJSON":        "Response.json({ toJSON() {\n\t\t\tfor (;;) Math.abs(1); /*HERE*/\n\t\t} });",
	} {
		t.Run(name, func(t *testing.T) {
			source := strings.Replace(frame, "BODY", body, 1)
			code, sourceMap := compiled(t, source)
			w := mustStart(t, string(code), pagesruntime.WorkerOptions{
				Map: sourceMap, Limits: pagesruntime.Limits{CPU: killMS * time.Millisecond},
			})
			var usage pagesruntime.Usage
			var f *pagesruntime.Error
			ok := false
			for range traces { // a kill inside an allocation has none
				var err error
				answer := httptest.NewRecorder()
				usage, err = w.Serve(answer, httptest.NewRequest(http.MethodGet, "/", nil))
				if got := answer.Header().Get("Server-Timing"); !strings.Contains(got, fmt.Sprintf(`desc="of %d ms"`, killMS)) {
					t.Errorf("no meter: %q", got)
				}
				if f, ok = errors.AsType[*pagesruntime.Error](err); !ok || len(f.Frames) > 0 {
					break
				}
			}
			if !ok || f.Kind != pagesruntime.KindCPU || f.Limit != fmt.Sprintf("cpuMs %d", killMS) || f.Status() != 503 ||
				!strings.Contains(f.Message, "limits.cpuMs") {
				t.Fatalf("got %+v", f)
			}
			if usage.CPU < killMS*time.Millisecond {
				t.Errorf("used %v", usage.CPU)
			}
			if len(f.Frames) == 0 || f.Frames[0].File != "src/worker.ts" || f.Frames[0].Line != markedLine(source) {
				killed, _ := errors.AsType[*engine.KilledError](f)
				t.Fatalf("want line %d of src/worker.ts, got %v after %v, from the trace %q",
					markedLine(source), f.Frames, usage.CPU, killed.Stack)
			}
			hit := false
			for _, l := range f.Snippet {
				hit = hit || l.Hit && strings.Contains(l.Text, "/*HERE*/")
			}
			if !hit {
				t.Errorf("the snippet does not show the line: %+v", f.Snippet)
			}
		})
	}
}

// TestKillAfterTheAnswer: a kill after the response is in the log.
func TestKillAfterTheAnswer(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"waitUntil": {
			`ctx.waitUntil(new Promise((done) => setTimeout(done, 5)).then(() => { for (;;) Math.abs(1); /*HERE*/ }));
				return new Response("ok")`,
			"in waitUntil",
		},
		"rejected": {`ctx.waitUntil(Promise.resolve().then(() => { throw new Error("no") /*HERE*/ })); return new Response("ok")`, "no"},
		"stream": {
			`return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(9)) }, async pull(c) {
				await new Promise((f) => setTimeout(f, 5)); for (;;) Math.abs(1); /*HERE*/ } }))`,
			"broke off",
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := "\n\nexport default { async fetch(request: Request, env: any, ctx: any) {\n" + c.body + "\n} };\n"
			code, sourceMap := compiled(t, source)
			log := newConsole()
			w := mustStart(t, string(code), pagesruntime.WorkerOptions{
				Map: sourceMap, Console: log.write, Limits: pagesruntime.Limits{CPU: killMS * time.Millisecond},
			})
			s := serve(t, w)
			if resp, err := s.Client().Get(s.URL); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // a broken answer is an error here
				resp.Body.Close()
			}
			l := log.next(t, 0)
			if l.Level != "error" || !strings.Contains(l.Text, c.want) || len(l.Frames) == 0 ||
				l.Frames[0].File != "src/worker.ts" || l.Frames[0].Line != markedLine(source) {
				t.Errorf("got %s %q at %v, want %q at line %d", l.Level, l.Text, l.Frames, c.want, markedLine(source))
			}
		})
	}
}

// TestLoadBudget: a top level that never ends is ended, and its line is named.
func TestLoadBudget(t *testing.T) {
	source := "const n: number = 0;\n\nfor (;;) Math.abs(1); /*HERE*/\nexport default { fetch: () => new Response(String(n)) };\n"
	code, sourceMap := compiled(t, source)
	_, err := start(t, string(code), pagesruntime.WorkerOptions{Map: sourceMap, LoadCPU: killMS * time.Millisecond})
	f, ok := errors.AsType[*pagesruntime.Error](err)
	if !ok || f.Kind != pagesruntime.KindLoad || !strings.Contains(f.Message, "did not finish loading") || len(f.Frames) == 0 ||
		f.Frames[0].File != "src/worker.ts" || f.Frames[0].Line != 3 {
		t.Errorf("got %+v", err)
	}
}

// TestLoadMemory: the error about a module over the memory limit names its size and its biggest packages.
func TestLoadMemory(t *testing.T) {
	sourceMap, err := json.Marshal(map[string]any{
		"version": 3, "names": []string{}, "mappings": "AAAA",
		"sources":        []string{"../node_modules/small/i.js", "../node_modules/@big/one/a.js", "../node_modules/large/b.js", "src/a.ts"},
		"sourcesContent": []string{"x", strings.Repeat("x", 3<<20), strings.Repeat("x", 1<<20), strings.Repeat("x", 4<<20)},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = start(t, `const all = []; for (;;) all.push(new Array(1e6).fill(1));
export default { fetch: () => new Response(String(all.length)) };`, pagesruntime.WorkerOptions{LoadCPU: time.Minute, Map: sourceMap})
	f, ok := errors.AsType[*pagesruntime.Error](err)
	if !ok || f.Kind != pagesruntime.KindMemory ||
		!strings.Contains(f.Message, "128 MB of memory while it was loaded; its code alone is 0.0 MiB") ||
		!strings.HasSuffix(f.Message, " MiB. The biggest packages in it: @big/one (3.0 MiB), large (1.0 MiB)") ||
		!strings.HasPrefix(f.Fix, "import less") {
		t.Errorf("got %+v", err)
	}
}

// TestLogLimits: one request may log so many lines and bytes; the next one again.
func TestLogLimits(t *testing.T) {
	log := newConsole()
	w := mustStart(t, `export default { fetch(request) {
		if (request.url.endsWith("/lines")) for (let i = 0; i < 3000; i++) console.log("line " + i);
		else for (let i = 0; i < 100; i++) console.log("x".repeat(1e4));
		return new Response("ok");
	} }`, pagesruntime.WorkerOptions{Console: log.write, Limits: pagesruntime.Limits{CPU: 20 * time.Second}})
	s := serve(t, w)
	for _, c := range []struct {
		path string
		most int
	}{{"/lines", 1001}, {"/bytes", 27}, {"/lines", 1001}} {
		before := len(log.lines)
		if _, got := get(t, s, c.path); got != "ok" {
			t.Fatalf("%s: %q", c.path, got)
		}
		lines := log.lines[before:]
		if len(lines) != c.most {
			t.Fatalf("%s: %d lines, want %d", c.path, len(lines), c.most)
		}
		if last := lines[len(lines)-1]; last.Level != "warn" || !strings.Contains(last.Text, "over the limit of 1000 lines or 256 KB") {
			t.Errorf("%s ends in %s %q", c.path, last.Level, last.Text)
		}
	}
}

// TestPassThrough: after passThroughOnException the static file replaces an exception, and the log has the exception.
func TestPassThrough(t *testing.T) {
	log := newConsole()
	static := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = rw.Write([]byte("static " + r.URL.Path)) })
	w := mustStart(t, `export default { fetch(request, env, ctx) {
		if (new URL(request.url).pathname === "/pass") ctx.passThroughOnException();
		throw new Error("thrown");
	} }`, pagesruntime.WorkerOptions{Console: log.write, Bindings: &binding.Set{Assets: map[string]http.Handler{"ASSETS": static}}})
	s := serve(t, w)
	if resp, got := get(t, s, "/pass"); resp.StatusCode != 200 || got != "static /pass" {
		t.Errorf("got %d %q", resp.StatusCode, got)
	}
	if l := log.next(t, 0); l.Level != "error" || !strings.Contains(l.Text, "Error: thrown") || len(l.Frames) == 0 {
		t.Errorf("logged %+v", l)
	}
	if resp, got := get(t, s, "/other"); resp.StatusCode != 500 || !strings.Contains(got, "thrown") {
		t.Errorf("without it: %d %q", resp.StatusCode, got)
	}
}

// TestClientGoneAborts: request.signal tells the Worker that its client has gone,
// and the work ends.
func TestClientGoneAborts(t *testing.T) {
	log := newConsole()
	w := mustStart(t, `export default { async fetch(request) {
		console.log("began");
		await new Promise((_, fail) => setTimeout(fail, 20_000) && request.signal.addEventListener("abort", () => {
		console.log("aborted"); fail(request.signal.reason) }));
	} }`, pagesruntime.WorkerOptions{Console: log.write})
	s := serve(t, w)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := s.Client().Do(r); err == nil {
			resp.Body.Close()
		}
	}()
	if l := log.next(t, 0); l.Text != "began" {
		t.Fatalf("logged %q", l.Text)
	}
	leave()
	<-gone
	if l := log.next(t, 1); l.Text != "aborted" {
		t.Errorf("logged %q", l.Text)
	}
}
