package wasm_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// everything instantiates the module m with something for each import, and gives
// the values of the list to all that is exported.
const everything = `import m from "./m.wasm";
	const W = WebAssembly;
	const guess = { tag: () => new W.Tag({ parameters: ["i32"] }), function: () => (...args) => args[0], memory: () => new W.Memory({
	initial: 1, maximum: 4 }), table: () => new W.Table({ element: "anyfunc", initial: 4 }), global: () => 0 };
	export default { async fetch(request) {
		const values = await request.json(), imports = {}, seen = [];
		for (const { module, name, kind } of W.Module.imports(m)) {
			imports[module] ??= {};
			try { imports[module][name] = guess[kind]() } catch (e) { seen.push(e) }
		}
		const use = (f) => { try { const x = f(); seen.push(x); return x } catch (e) { seen.push(e) } };
		const instance = use(() => new W.Instance(m, imports));
		for (const x of Object.values(instance?.exports ?? {})) {
			if (typeof x === "function") { use(() => x(...values)); use(() => x(...seen)); use(() => x(1, 2n, 3, 4n)) }
			if (x instanceof W.Memory) { use(() => x.grow(values[0])); use(() => new Uint8Array(x.buffer).fill(values[0]));
			use(() => x.grow(1)) }
			if (x instanceof W.Table) { use(() => x.set(values[0], values[1])); use(() => x.grow(values[0], seen.at(-1)));
			use(() => x.get(x.length - 1)) }
			if (x instanceof W.Global) { use(() => { x.value = values[0] }); use(() => x.value) }
		}
		return new Response("done");
	} }`

// FuzzModule: a module of any bytes is refused or runs within its bounds, with any arguments of its exports; the Worker responds, or ends
// at a limit.
func FuzzModule(f *testing.F) {
	for _, m := range [][]byte{
		echo, work, growing, sharing, bombs, state, throwing, catching, caseModule(legacyCases, true),
		caseModule(tableCases, false), module(),
	} {
		f.Add(m, `[1, "2", null, {"a": 3}, -5e300]`)
	}
	runtime, err := opened()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wasm []byte, values string) {
		if !json.Valid([]byte(values)) || len(wasm) > 4<<10 {
			return
		}
		w, err := runtime.NewWorker(t.Context(), pagesruntime.WorkerOptions{
			Name: "worker.js", Code: []byte(everything), Wasm: map[string][]byte{"./m.wasm": wasm}, Bindings: &binding.Set{}, Isolates: 1,
			Limits: pagesruntime.Limits{CPU: 100 * time.Millisecond},
		})
		if err != nil {
			if e, ok := err.(*pagesruntime.Error); !ok || e.Kind != pagesruntime.KindLoad { //nolint:errorlint // it is returned as it is
				t.Fatal(err)
			}
			return
		}
		defer w.Close(context.Background())
		for range 2 {
			answer, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(values))
			if _, err := w.Serve(answer, r); err == nil && answer.Body.String() != "done" {
				t.Fatalf("answered %q", answer.Body)
			} else if e, ok := err.(*pagesruntime.Error); err != nil && //nolint:errorlint // as above
				(!ok || e.Kind == pagesruntime.KindInternal) {
				t.Fatalf("failed: %v", err)
			}
		}
	})
}
