package runtime_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
)

// highest is the largest resident memory of the process since resetHighest, in bytes.
func highest(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatal("the system does not tell")
	return 0
}

func resetHighest(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("the system cannot begin to count anew: ", err)
	}
}

// gzipBomb returns size zeros, which gzip compresses to a thousandth.
func gzipBomb(t *testing.T, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.CopyN(w, zeroReader{}, size); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// appetites are bodies of handlers that have Go hold much for them; b is a gigabyte of
// zeros by gzip. Each responds with its result.
var appetites = map[string]struct {
	code string
	want string // in the answer or in the failure; "" for any, and those are tried by `make soak` alone
}{
	"gunzipSync":         {`zlib.gunzipSync(b)`, "its 128 MB of memory"},
	"gunzipSync of less": {`zlib.gunzipSync(b, { maxOutputLength: 5e6 })`, "ERR_BUFFER_TOO_LARGE"},
	"gunzipSync of more": {`zlib.gunzipSync(b, { maxOutputLength: 2 ** 31 })`, "its 128 MB of memory"},
	"gunzip of many": {
		`const g = () => new Promise((y, n) => zlib.gunzip(b, { maxOutputLength: 2 ** 31 }, (e, r) => (e ? n(e) : y(r.length))));
			await Promise.all(Array.from({ length: 20 }, g))`,
		"128 MB",
	},
	"gunzip of many halves": {
		`const half = zlib.gzipSync(Buffer.alloc(50e6));
			const g = () => new Promise((y, n) => zlib.gunzip(half, (e, r) => (e ? n(e) : y(r.length))));
			await Promise.all(Array.from({ length: 20 }, g))`,
		"128 MB",
	},
	"brotli of much": {
		`zlib.brotliCompressSync(new Uint8Array(3e7), {
			params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 24, [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }).length`,
		"",
	},
	"brotli streams": {
		`const all = []; for (let i = 0; i < 90; i++) { const s = zlib.createBrotliCompress({
			params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 24, [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } }); s.write("x".repeat(1e5));
			all.push(s) } await new Promise((y) => setTimeout(y, 300)); return new Response("done")`,
		"",
	},
	"zstd streams": {
		`const all = []; for (let i = 0; i < 90; i++) { const s = zlib.createZstdCompress({
			params: { [zlib.constants.ZSTD_c_compressionLevel]: 22 } }); s.write("x".repeat(1e5));
			all.push(s) } await new Promise((y) => setTimeout(y, 300)); return new Response("done")`,
		"",
	},
	"scrypt of many": {
		`const s = () => new Promise((y, n) => crypto.scrypt("a", "b", 64, {
			N: 2 ** 16, r: 8, p: 1, maxmem: 2 ** 30 }, (e, r) => (e ? n(e) : y(r.length))));
			await Promise.all(Array.from({ length: 6 }, s)); return new Response("done")`,
		"done",
	},
	"pbkdf2 of much": {
		`for (let i = 0; i < 5; i++) crypto.pbkdf2Sync("a", "b", 1, 64e6, "sha512").length; return new Response("done")`,
		"",
	},
	"shake of much": {
		`for (let i = 0; i < 5; i++) crypto.createHash("shake256", { outputLength: 64e6 }).digest().length; return new Response("done")`,
		"",
	},
	"random bytes": {`for (let i = 0; i < 20; i++) crypto.randomBytes(6e7).length; return new Response("done")`, "done"},
	"buffer to latin1": {
		`const u = Buffer.alloc(4e7, 0xe3); for (let i = 0; i < 10; i++) u.toString("latin1").length; return new Response("done")`,
		"done",
	},
	"buffer to hex": {
		`const u = Buffer.alloc(3e7, 0xe3); for (let i = 0; i < 10; i++) u.toString("hex").length; return new Response("done")`,
		"",
	},
	"buffer of base64": {
		`const s = "AAAA".repeat(1e7); for (let i = 0; i < 10; i++) Buffer.from(s, "base64").length; return new Response("done")`,
		"",
	},
	"texts of one": {
		`const v = "x".repeat(1e6); new Headers(Array.from({ length: 2e3 }, (_, i) => ["x" + i, v])); return new Response("done", {
			headers: Array.from({ length: 2e3 }, (_, i) => ["x" + i, v]) })`,
		"",
	},
	"fetch headers": {
		`const v = "x".repeat(1e6); await fetch("http://127.0.0.1:1/", { headers: Array.from({ length: 2e3 }, (_, i) => ["x" + i, v]) })`,
		"",
	},
	"decode latin": {
		`const u = new Uint8Array(4e7).fill(0xe3), d = new TextDecoder("windows-1252"); for (let i = 0; i < 10; i++) d.decode(u).length;
			return new Response("done")`,
		"done",
	},
	"decode multibyte": {
		`const u = new Uint8Array(3e7).fill(0x83), d = new TextDecoder("shift_jis"); for (let i = 0; i < 5; i++) d.decode(u).length;
			return new Response("done")`,
		"",
	},
	"atob": {`const s = "AAAA".repeat(1e7); for (let i = 0; i < 10; i++) atob(s).length; return new Response("done")`, ""},
	"digests at once": {
		`const u = new Uint8Array(5e7); await Promise.all(Array.from({ length: 40 }, () => crypto.subtle.digest("SHA-256", u)))`,
		"",
	},
	"encryption at once": {
		`const k = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt"]); const u = new Uint8Array(3e7);
			await Promise.all(Array.from({ length: 40 }, (_, i) => crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, k,
			u).then((r) => r.byteLength)))`,
		"",
	},
	"keys at once": {
		`await Promise.all(Array.from({ length: 8 }, () => crypto.subtle.generateKey({
			name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, false,
			["sign"]))); return new Response("done")`,
		"",
	},
	"decompression": {
		`let n = 0; for await (const c of new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"))) n += c.length;
			return new Response(String(n))`,
		"",
	},
	"decompressed to bytes": {`await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()`, ""},
	"rewriter's attribute": {
		`return new HTMLRewriter().on("p", { element(e) { const s = "x".repeat(1e7);
			for (let i = 0; i < 30; i++) e.before(s + i) } }).transform(new Response("<p>".repeat(10)))`,
		"",
	},
	"bodies at once": {
		`await Promise.all(Array.from({ length: 15 }, () => fetch("ORIGIN/50").then((r) => r.arrayBuffer()))); return new Response("done")`,
		"128 MB",
	},
	"bodies of gzip": {`await (await fetch("ORIGIN/bomb")).arrayBuffer()`, "128 M"},
	"bodies as text": {
		`await Promise.all(Array.from({ length: 8 }, () => fetch("ORIGIN/50").then((r) => r.text()))); return new Response("done")`,
		"128 MB",
	},
	// Each has a copy in the heap.
	"uploads at once": {
		`const u = new Uint8Array(3e7); await Promise.all(Array.from({ length: 15 }, () => fetch("ORIGIN/slow", {
			method: "POST", body: u }).then((r) => r.text()))); return new Response("done")`,
		"Array buffer allocation failed",
	},
	"form data": {
		`const f = new FormData(); const u = new Blob([new Uint8Array(2e7)]); for (let i = 0; i < 6; i++) f.append("f", u);
			await (await new Response(f).formData()).get("f").arrayBuffer(); return new Response("done")`,
		"",
	},
	"cached": {
		`for (let i = 0; i < 30; i++) await caches.default.put("http://x/" + i, new Response(new Uint8Array(15e6)));
			return new Response("done")`,
		"",
	},
	"answered": {`return new Response(new Uint8Array(1e8))`, ""},
	"collation": {
		`const a = "é".repeat(5e6); for (let i = 0; i < 3; i++) new Intl.Collator("de").compare(a, a + "x"); return new Response("done")`,
		"",
	},
	"segments": {
		`const s = "word and ".repeat(1e6); [...new Intl.Segmenter("en", { granularity: "word" }).segment(s)].length;
			return new Response("done")`,
		"",
	},
	"normalized": {`const s = "é".repeat(1e7); s.normalize("NFD").length; return new Response("done")`, ""},
	"console":    {`const s = "x".repeat(3e7); for (let i = 0; i < 20; i++) console.log(s); return new Response("done")`, ""},
	"json":       {`const s = "[" + "1,".repeat(1e7) + "1]"; await new Response(s).json(); return new Response("done")`, ""},
	"cloned":     {`const u = new Uint8Array(3e7); for (let i = 0; i < 20; i++) structuredClone(u); return new Response("done")`, "done"},
	"messages": {
		`const c = new MessageChannel(); for (let i = 0; i < 20; i++) c.port1.postMessage(new Uint8Array(3e7));
			return new Response("done")`,
		"",
	},
	"URL":         {`for (let i = 0; i < 3; i++) new URL("http://example.com/" + "ü".repeat(1e7)); return new Response("done")`, ""},
	"wasm memory": {`new WebAssembly.Memory({ initial: 3000 })`, ""},
	"big numbers": {`const n = 10n ** 1000000n; new Intl.NumberFormat("en").format(n).length; return new Response("done")`, ""},
}

// mostOutside is the memory that one request may add to the idle process: a heap of 128 MB, as much outside of it, and Go's garbage of
// that.
const mostOutside = 334 << 20

// TestAppetites: a request that makes Go hold memory in any way fails at the limit, the process stays within a bound, and the memory is
// released.
func TestAppetites(t *testing.T) {
	testmachine.Long(t)
	if testmachine.Raced() {
		t.Skip("the race detector's own memory would count")
	}
	bomb := gzipBomb(t, 1<<30)
	origin := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/50":
			_, _ = io.CopyN(rw, zeroReader{}, 50e6)
		case "/bomb":
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb)
		case "/slow":
			time.Sleep(300 * time.Millisecond)
			_, _ = io.Copy(io.Discard, r.Body)
		}
	}))
	defer origin.Close()
	var code strings.Builder
	code.WriteString("import zlib from 'node:zlib'; import crypto$ from 'node:crypto'; import { Buffer } from " +
		"'node:buffer';\nconst crypto = new Proxy(crypto$, { get: (o, k) => o[k] ?? globalThis.crypto[k] });\nconst all = {\n")
	names := make([]string, 0, len(appetites))
	for name, a := range appetites {
		names = append(names, name)
		code.WriteString("\"" + name + "\": async (b) => { " + strings.ReplaceAll(a.code, "ORIGIN", origin.URL) + " },\n")
	}
	slices.Sort(names)
	code.WriteString(`};
		export default { async fetch(request) {
			const name = request.headers.get("appetite");
			if (name === null) return new Response("fine");
			try { return await all[name](new Uint8Array(await request.arrayBuffer())) ?? new Response("nothing refused") }
			catch (e) { return new Response(e.name + " " + e.code + " " + e.message, { status: 500 }) }
		} }`)
	for _, name := range names {
		if appetites[name].want == "" && os.Getenv("PAGES_SOAK") == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, err := start(t, code.String(), pagesruntime.WorkerOptions{
				Isolates: 1, NodeJS: true, Limits: pagesruntime.Limits{CPU: 20 * time.Second, SubRequests: 100},
				Console: func(pagesruntime.Line) {}, Web: web.Options{AllowFetch: []string{"127.0.0.1"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close(t.Context())
			ask := func(name string, body []byte) (string, error) {
				r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
				if name != "" {
					r.Header.Set("Appetite", name)
				}
				rec := httptest.NewRecorder()
				_, err := w.Serve(discardMost{rec}, r)
				return rec.Body.String(), err
			}
			if _, err := ask("", nil); err != nil {
				t.Fatal(err)
			}
			debug.FreeOSMemory()
			idle := resident()
			resetHighest(t)
			got, err := ask(name, bomb)
			if err != nil {
				got = err.Error()
			}
			peak := highest(t) - idle
			t.Logf("%d MB over %d MB: %.200s", peak>>20, idle>>20, got)
			if peak > mostOutside {
				t.Errorf("the process took %d MB more", peak>>20)
			}
			if !strings.Contains(got, appetites[name].want) {
				t.Errorf("got %q, want %q", got, appetites[name].want)
			}
			if text, err := ask("", nil); err != nil || text != "fine" {
				t.Errorf("the next request: %q, %v", text, err)
			}
		})
	}
}

// discardMost keeps the first bytes of an answer.
type discardMost struct{ *httptest.ResponseRecorder }

func (d discardMost) Write(b []byte) (int, error) {
	_, err := d.ResponseRecorder.Write(b[:min(len(b), 4096)])
	return len(b), err
}
