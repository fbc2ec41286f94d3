package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// TestWithoutFlag sees nothing of Node.js in a Worker that has not asked for it.
func TestWithoutFlag(t *testing.T) {
	rt, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	w, err := rt.NewWorker(t.Context(), pagesruntime.WorkerOptions{Name: "worker.js", Bindings: &binding.Set{}, Code: []byte(`
export default { async fetch() {
  const names = ["process", "Buffer", "global", "setImmediate", "clearImmediate"].filter((name) => name in globalThis);
  const timer = setTimeout(() => {}, 1);
  const module = await import("node:" + "buffer").then(() => "imported", (e) => e.message);
  return Response.json([names, typeof timer, Symbol.for("pages.node") in globalThis, module]);
} };`)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(context.Background()) })
	if got, want := get(t, w, "/"), `[[],"number",false,"no such module \"node:buffer\""]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestEnvironment finds the site's secrets in process.env, as text.
func TestEnvironment(t *testing.T) {
	w := start(t, `export const early = process.env.API_KEY;
export default { fetch() { return Response.json([early, process.env.API_KEY, Object.keys(process.env)]); } };`,
		pagesruntime.WorkerOptions{Bindings: &binding.Set{Secrets: map[string]string{"API_KEY": "k1"}}})
	if got, want := get(t, w, "/"), `["k1","k1",["API_KEY"]]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLongDelays sets timers far in the future, as the platform does and the timers of a Worker without the flag.
func TestLongDelays(t *testing.T) {
	w := start(t, `export default { async fetch() {
  const seen = [];
  for (const delay of [Infinity, 2 ** 31, 2 ** 32 + 1]) {
    setTimeout(() => seen.push(delay), delay);
    setInterval(() => seen.push(delay), delay);
    scheduler.wait(delay).then(() => seen.push(delay));
  }
  for (const delay of [NaN, -Infinity, 0.9, undefined]) setTimeout(() => seen.push(String(delay)), delay);
  await new Promise((done) => setTimeout(done, 20));
  return Response.json(seen);
} };`, pagesruntime.WorkerOptions{Bindings: &binding.Set{}})
	if got, want := get(t, w, "/"), `["NaN","-Infinity","0.9","undefined"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestContexts keeps the contexts of requests apart that are answered at the
// same time by one isolate, also after one of them enters without leaving.
func TestContexts(t *testing.T) {
	w := start(t, `import { AsyncLocalStorage } from "node:async_hooks";
const storage = new AsyncLocalStorage();
const step = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default { async fetch(request) {
  const { searchParams } = new URL(request.url), id = searchParams.get("id");
  const before = storage.getStore() ?? "none";
  const work = async () => {
    const seen = [];
    for (let i = 0; i < 5; i++) {
      await step((Number(id) * 7 + i) % 4);
      seen.push(storage.getStore());
    }
    return seen.every((x) => x === id) ? "kept" : "mixed up: " + seen;
  };
  if (Number(id) % 3 === 0) {
    storage.enterWith(id);
    return new Response(before + " " + await work());
  }
  return new Response(before + " " + await storage.run(id, work));
} };`, pagesruntime.WorkerOptions{Isolates: 1})
	var all sync.WaitGroup
	for id := range 24 {
		all.Go(func() {
			if got := get(t, w, fmt.Sprintf("/?id=%d", id)); got != "none kept" {
				t.Errorf("request %d: %s", id, got)
			}
		})
	}
	all.Wait()
}

// TestAbsent: a function that a Worker lacks throws when it is called, not before.
func TestAbsent(t *testing.T) {
	w := start(t, `import fs, { readFileSync } from "node:fs";
import { connect as session } from "node:http2";
import { spawn } from "node:child_process";
import { connect } from "node:net";
export default { fetch() {
  return Response.json([() => readFileSync("/x"), () => fs.readFileSync("/x"), () => session(), () => spawn("ls"), () => connect(5432),
    () => process.exit(1)].map((f) => {
    try { return f(); } catch (e) { return [e.code, e.message]; }
  }));
} };`, pagesruntime.WorkerOptions{})
	got := get(t, w, "/")
	for _, want := range []string{
		`["ERR_METHOD_NOT_IMPLEMENTED","fs.readFileSync of Node.js is not available in a Worker: a Worker has no file system; import ` +
			`the file, read it with env.ASSETS.fetch, or keep it in env.BUCKET"]`,
		`http2.connect of Node.js is not available in a Worker: use fetch`,
		`child_process.spawn of Node.js is not available in a Worker: a Worker cannot start processes`,
		`net.connect of Node.js is not available in a Worker: a Worker has no sockets; use fetch, a client over HTTP, or ` +
			`the database binding env.DB`,
		`"ERR_WORKER_UNSUPPORTED_OPERATION","process.exit(1) was called`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestPristine runs digests, buffers and contexts made at the top level in
// isolates that start over before every request.
func TestPristine(t *testing.T) {
	w := start(t, `import { createHash, createHmac } from "node:crypto";
import { AsyncLocalStorage } from "node:async_hooks";
const begun = createHash("sha256").update("x".repeat(100_000)), keyed = createHmac("sha1", "k"), table = Buffer.from("abc"),
  storage = new AsyncLocalStorage();
let requests = 0;
export default { fetch: () => storage.run(++requests, async () => {
  await 0;
  return Response.json([storage.getStore(), begun.copy().update("y").digest("hex").slice(0, 8),
    keyed.update("z").digest("hex").slice(0, 8), table.toString("base64")]);
}) };`, pagesruntime.WorkerOptions{Pristine: true})
	const want = `[1,"0e62db7e","e958350a","YWJj"]`
	for range 3 {
		if got := get(t, w, "/"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestBounds gives operations more than they may cost.
func TestBounds(t *testing.T) {
	w := start(t, `import * as crypto from "node:crypto";
import * as zlib from "node:zlib";
const bomb = () => { let b = Buffer.alloc(1 << 20); for (let i = 0; i < 3; i++) b = zlib.gzipSync(Buffer.concat(Array(16).fill(b)));
  return b; };
export default { fetch() {
  return Response.json([
    () => crypto.pbkdf2Sync("p", "s", 2 ** 31 - 1, 64, "sha512"),
    () => crypto.scryptSync("p", "s", 64, { N: 2 ** 20, r: 8, p: 1, maxmem: 2 ** 40 }),
    () => crypto.generateKeyPairSync("rsa", { modulusLength: 65536 }),
    () => crypto.generatePrimeSync(100_000),
    () => Buffer.alloc(2 ** 40),
    () => zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(1 << 20)), { maxOutputLength: 1000 }),
    () => crypto.createPublicKey({ key: Buffer.alloc(1 << 16, 0x30), format: "der", type: "spki" }),
  ].map((f) => { try { f(); return "done"; } catch (e) { return e.name + " " + e.code; } }));
} };`, pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: 5 * time.Second}})
	want := `["RangeError ERR_OUT_OF_RANGE","RangeError ERR_CRYPTO_INVALID_SCRYPT_PARAMS","RangeError ERR_OUT_OF_RANGE",` +
		`"RangeError ERR_OUT_OF_RANGE","RangeError ERR_OUT_OF_RANGE","RangeError ERR_BUFFER_TOO_LARGE","Error ERR_OSSL_UNSUPPORTED"]`
	if got := get(t, w, "/"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// BenchmarkStart measures the cost of imports at a Worker's start.
func BenchmarkStart(b *testing.B) {
	for _, module := range []string{"", "buffer", "events", "async_hooks", "crypto", "util", "stream", "zlib", "http"} {
		b.Run("import "+module, func(b *testing.B) {
			rt, err := opened()
			if err != nil {
				b.Fatal(err)
			}
			code := "export default { fetch() { return new Response('') } };"
			if module != "" {
				code = `import * as m from "node:` + module + `"; globalThis.m = m; ` + code
			}
			for b.Loop() {
				w, err := rt.NewWorker(b.Context(), pagesruntime.WorkerOptions{
					Name: "w.js", Code: []byte(code), NodeJS: true, Bindings: &binding.Set{},
				})
				if err != nil {
					b.Fatal(err)
				}
				w.Close(context.Background())
			}
		})
	}
}
