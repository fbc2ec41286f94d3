package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// hostile are arguments of host functions: of every type, at the ends of ranges, and with code that runs in a conversion.
var hostile = []string{
	`undefined`, `null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `2`, `0.5`, `NaN`, `Infinity`, `-Infinity`, `2**31`,
	`2**32`, `2**53`, `-(2**63)`, `1e300`,
	`""`, `"a"`, `"\u0000"`, `"\ud800"`, `"é😀"`, `"x".repeat(1e5)`, `"SHA-256"`, `"utf-8"`,
	`"http://example.com/?a=b#c"`, `"[{}]"`, `"__proto__"`, `"GET"`, `"gzip"`,
	`1n`, `2n ** 64n`, `Symbol("s")`, `Symbol.iterator`, `() => 1`, `class {}`, `async () => {}`,
	`{}`, `[]`, `[1, "2", null]`, `["a", "b", "c"]`, `new Array(1e4)`, `[[[[[]]]]]`, `{ length: 1e9 }`,
	`{ length: -1 }`, `{ a: 1, then: 1 }`,
	`new Uint8Array(0)`, `new Uint8Array(16)`, `new Uint8Array(7e4)`, `new Float64Array(3)`,
	`new DataView(new ArrayBuffer(9), 3, 2)`, `new ArrayBuffer(8)`,
	`(() => { const b = new ArrayBuffer(8); b.transfer(); return b })()`,
	`(() => { const u = new Uint8Array(new ArrayBuffer(8)); u.buffer.transfer(); return u })()`,
	`new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 }), 2)`, `new SharedArrayBuffer(8)`,
	`new Proxy({}, {})`, `new Proxy([], { get() { throw new Error("trap") } })`, `new Proxy(function () {}, {})`,
	`{ toString() { throw new Error("toString") } }`, `{ valueOf() { return 7 } }`,
	`{ [Symbol.toPrimitive]() { return {} } }`, `{ get length() { throw 1 } }`,
	`Promise.resolve(1)`, `new Promise(() => {})`, `new Map([[1, 2]])`, `new Date(NaN)`, `/x/g`, `new Error("e")`,
	`globalThis`, `request`, `env`,
}

// hostWorker answers {"call": name, "with": expressions} with the result of the host function of that name. It is the real prelude, with
// the host's functions kept.
var hostWorker = sync.OnceValues(func() (*Worker, error) {
	ctx := context.Background()
	source, err := prelude()
	if err != nil {
		return nil, err
	}
	source.Code = "globalThis.kept = globalThis.__host; globalThis.evaluate = eval;\n" + source.Code
	e, err := engine.Open(ctx, engine.Options{})
	if err != nil {
		return nil, err
	}
	image, err := e.Boot(ctx, source, hostNames())
	if err != nil {
		return nil, err
	}
	r := &Runtime{engine: e, image: image, now: time.Now}
	return r.NewWorker(ctx, WorkerOptions{
		Name: "worker.js", NodeJS: true, Isolates: 1, Limits: Limits{CPU: 2 * time.Second},
		Bindings: &binding.Set{Secrets: map[string]string{"SECRET": "s"}},
		Code: []byte(`export default { async fetch(request, env) {
			const { call, with: args } = await request.json();
			globalThis.request = request; globalThis.env = env;
			let said = "ok";
			try {
				const result = kept[call](...args.map((text) => evaluate("(" + text + ")")));
				if (result instanceof Promise) await Promise.race([result, new Promise((done) => setTimeout(done, 2))]);
			} catch (error) { try { said = "threw " + error } catch { said = "threw a riddle" } }
			return new Response(said);
		} }`),
	})
})

// callHost is one call of a host function in a request of its own.
func callHost(t testing.TB, name string, args []string) {
	w, err := hostWorker()
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"call": name, "with": args})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	_, err = w.Serve(rec, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body))))
	f, failed := errors.AsType[*Error](err)
	if failed && f.Kind == KindInternal || strings.Contains(rec.Body.String(), "panicked") ||
		err != nil && strings.Contains(err.Error(), "panicked") {
		t.Fatalf("%s(%s): %v %s", name, strings.Join(args, ", "), err, rec.Body)
	}
}

// TestHostFunctions gives every host function each hostile value.
func TestHostFunctions(t *testing.T) {
	testmachine.Long(t)
	for n, name := range hostNames() {
		for first := range hostile {
			if testing.Short() && first%8 != n%8 {
				continue
			}
			callHost(t, name, []string{
				hostile[first], hostile[(first*7+n)%len(hostile)], hostile[(first+n)%len(hostile)],
				hostile[(first*3+1)%len(hostile)],
			})
		}
	}
}

// FuzzHostFunctions makes calls of bytes: the first is the function, each further
// one an argument.
func FuzzHostFunctions(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{40, 1, 2, 3, 4, 5, 6})
	f.Add([]byte{200, 60, 50, 40, 30})
	names := hostNames()
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || len(in) > 10 {
			return
		}
		args := make([]string, 0, len(in))
		for _, b := range in[1:] {
			args = append(args, hostile[int(b)%len(hostile)])
		}
		callHost(t, names[int(in[0])%len(names)], args)
	})
}

// TestMemoryStaysFlat: the memory of requests is released.
func TestMemoryStaysFlat(t *testing.T) {
	testmachine.Long(t)
	const requests = 10_000
	r, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.NewWorker(t.Context(), WorkerOptions{
		Name: "worker.js", Isolates: 1, Limits: Limits{CPU: time.Second},
		Code: []byte(`export default { async fetch(request, env, ctx) {
			const body = await request.text();
			await new Promise((done) => setTimeout(done, 0));
			ctx.waitUntil(crypto.subtle.digest("SHA-256", new TextEncoder().encode(body)));
			const { readable, writable } = new TransformStream();
			const writer = writable.getWriter();
			ctx.waitUntil(writer.write(new TextEncoder().encode(body + new URL(request.url).pathname)).then(() => writer.close()));
			return new Response(readable, { headers: { "x-a": "b" } });
		} }`),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		w.Close(context.Background())
		_ = r.Close(context.Background())
	}()
	serve := func(n int) {
		for range n {
			rec := httptest.NewRecorder()
			if _, err := w.Serve(
				rec, httptest.NewRequest(http.MethodPost, "/path", strings.NewReader(strings.Repeat("x", 2000))),
			); err != nil || rec.Body.Len() != 2005 {
				t.Fatalf("%v, %d bytes", err, rec.Body.Len())
			}
		}
	}
	measure := func() (goHeap uint64, jsHeap int64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		// Snapshot collects garbage before it takes an image.
		if _, err := w.slots[0].isolate.Snapshot(engine.NewScope(t.Context(), 0, nil)); err != nil {
			t.Fatal(err)
		}
		err := w.slots[0].isolate.Do(engine.NewScope(t.Context(), 0, nil), func(vm *engine.VM) error {
			jsHeap = vm.HeapUsed()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return m.HeapAlloc, jsHeap
	}
	serve(500)
	goBefore, jsBefore := measure()
	serve(requests)
	goAfter, jsAfter := measure()
	const slack = 1 << 20
	if goAfter > goBefore+slack || jsAfter > jsBefore+slack {
		t.Errorf(
			"after %d requests Go holds %d bytes (before: %d), JavaScript %d (before: %d)", requests, goAfter, goBefore,
			jsAfter, jsBefore,
		)
	}
	t.Logf("Go %d → %d, JavaScript %d → %d bytes", goBefore, goAfter, jsBefore, jsAfter)
}
