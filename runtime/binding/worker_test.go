package binding_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// scripts are Worker code by name: each is the body of an async function of
// env and request whose value the Worker answers as JSON.
type script struct {
	name, code, want string
}

// worker runs the scripts in one Worker that has all bindings, and returns what
// answers "/?name" and the lines the Worker logged.
func worker(t testing.TB, rt *pagesruntime.Runtime, scripts []script) (ask func(name string, body io.Reader) string, logged func() []string) {
	t.Helper()
	answer, logged := answering(t, rt, scripts)
	ask = func(name string, body io.Reader) string {
		rec, err := answer(name, body)
		if err != nil {
			return "failed: " + err.Error()
		}
		return rec.Body.String()
	}
	return ask, logged
}

// answering is worker with whole answers.
func answering(t testing.TB, rt *pagesruntime.Runtime, scripts []script) (answer func(name string, body io.Reader) (*httptest.ResponseRecorder, error), logged func() []string) {
	t.Helper()
	var code strings.Builder
	code.WriteString("const scripts = {\n")
	for _, s := range scripts {
		fmt.Fprintf(&code, "%q: async (env, request) => {%s},\n", s.name, s.code)
	}
	code.WriteString(`};
const refused = async (promise) => { try { return await promise; } catch (e) { return e.name + ": " + e.message; } };
export default { async fetch(request, env) {
  const name = decodeURIComponent(new URL(request.url).search.slice(1));
  try {
    const value = await scripts[name](env, request);
    return value instanceof Response ? value : Response.json(value === undefined ? "undefined" : value);
  } catch (e) { return Response.json("thrown " + e.name + ": " + e.message + (e.code === undefined ? "" : " [" + e.code + "]")); }
} };`)
	var (
		mu    sync.Mutex
		lines []string
	)
	w := open(t, rt, pagesruntime.WorkerOptions{
		Name: "worker.js", Code: []byte(code.String()), Bindings: bindings(t),
		Console: func(l pagesruntime.Line) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, l.Level+" "+l.Text)
		},
	})
	answer = func(name string, body io.Reader) (*httptest.ResponseRecorder, error) {
		r := httptest.NewRequest(http.MethodPost, "http://site.localhost/?"+url.PathEscape(name), body)
		if r.ContentLength > 0 {
			r.Header.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10)) // as a server leaves it
		}
		rec := httptest.NewRecorder()
		_, err := w.Serve(rec, r)
		return rec, err
	}
	logged = func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), lines...)
	}
	return answer, logged
}

// open starts a Worker that is closed when the test ends.
func open(t testing.TB, rt *pagesruntime.Runtime, o pagesruntime.WorkerOptions) *pagesruntime.Worker {
	t.Helper()
	w, err := rt.NewWorker(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Second)
		defer cancel()
		w.Close(ctx)
	})
	return w
}

// bindings are real ones, in a temporary folder.
func bindings(t testing.TB) *binding.Set {
	t.Helper()
	clock := func() time.Time { return time.UnixMilli(1_700_000_000_000) }
	storage := binding.OpenStorage(t, t.TempDir(), clock)
	return &binding.Set{
		Storage: map[string]*binding.Storage{"BUCKET": storage},
		Images:  map[string]*binding.Images{"IMAGES": binding.NewImages(binding.ImagesOptions{})},
		Assets:  map[string]http.Handler{"ASSETS": http.HandlerFunc(assets)},
		Secrets: map[string]string{"API_KEY": "s3cret", "EMPTY": ""},
	}
}

// assets is a small site.
func assets(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/style.css":
		w.Header().Set("Content-Type", "text/css")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		_, _ = io.WriteString(w, "body{}"+r.Header.Get("X-Extra"))
	case "/large.bin":
		for range 300 {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1000))
		}
	case "/measured.txt":
		w.Header().Set("Content-Length", "8")
		_, _ = io.WriteString(w, "measured")
	case "/page.html":
		http.Redirect(w, r, "/page?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
	case "/page":
		_, _ = io.WriteString(w, "page "+r.URL.RawQuery)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/same":
		w.WriteHeader(http.StatusNotModified)
	case "/broken":
		panic(http.ErrAbortHandler)
	default:
		http.NotFound(w, r)
	}
}

// TestWorker runs Worker code against every binding.
func TestWorker(t *testing.T) {
	rt, err := pagesruntime.Open(t.Context(), pagesruntime.Options{})
	if err != nil {
		t.Fatalf("%v (run: go run ./cmd/artifacts)", err)
	}
	defer func() {
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	t.Run("secrets", func(t *testing.T) { answers(t, rt, secretScripts) })
	t.Run("storage", func(t *testing.T) { answers(t, rt, storageScripts) })
	t.Run("lengths", func(t *testing.T) { testLengths(t, rt) })
	t.Run("assets", func(t *testing.T) { answers(t, rt, assetScripts) })
	t.Run("images", func(t *testing.T) { testImages(t, rt) })
}

func answers(t *testing.T, rt *pagesruntime.Runtime, scripts []script) {
	t.Helper()
	ask, _ := worker(t, rt, scripts)
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			if got := ask(s.name, strings.NewReader("the request's body")); got != s.want {
				t.Errorf("got  %s\nwant %s", got, s.want)
			}
		})
	}
}

var secretScripts = []script{
	{"values", `return [env.API_KEY, env.EMPTY, typeof env.NONE, Object.keys(env).sort()]`, `["s3cret","","undefined",["API_KEY","ASSETS","BUCKET","EMPTY","IMAGES"]]`},
}

const large = `const big = new Uint8Array(1_500_000).map((_, i) => i % 251);`

var storageScripts = []script{
	{
		"put and get text", `
			const o = await env.BUCKET.put("t", "grüße");
			const g = await env.BUCKET.get("t");
			return [o.key, o.size, o.etag, o.httpEtag, o.uploaded.toISOString(), o.storageClass, o.checksums.toJSON(), o.checksums.md5.byteLength, o.range, await g.text(), g.bodyUsed, g.range]`,
		`["t",7,"fee40dc24d0ad6a90c608052aa4e9e66","\"fee40dc24d0ad6a90c608052aa4e9e66\"","2023-11-14T22:13:20.000Z","Standard",{"md5":"fee40dc24d0ad6a90c608052aa4e9e66"},16,null,"grüße",true,{"offset":0,"length":7}]`,
	},
	{
		"values", `
			const text = async (value) => { await env.BUCKET.put("v", value); return (await env.BUCKET.get("v")).text(); };
			return [await text(""), await text(null), await text(new TextEncoder().encode("view").subarray(1)), await text(new TextEncoder().encode("buf").buffer),
				await text(new Blob(["bl", "ob"])), await text(new Response("stream").body), await text("\ud800")]`,
		`["","","iew","buf","blob","stream","�"]`,
	},
	{"request body", `await env.BUCKET.put("r", request.body); return (await env.BUCKET.get("r")).text()`, `"the request's body"`},
	{
		"other values", `return [await refused(env.BUCKET.put("v", 5)), await refused(env.BUCKET.put("v", {})), await refused(env.BUCKET.put("v"))]`,
		`["TypeError: The value must be a string, an ArrayBuffer, a view of one, a Blob, a ReadableStream or null","TypeError: The value must be a string, an ArrayBuffer, a view of one, a Blob, a ReadableStream or null","TypeError: The value must be a string, an ArrayBuffer, a view of one, a Blob, a ReadableStream or null"]`,
	},
	{
		"large", large + `
			const o = await env.BUCKET.put("l", new Blob([big]));
			const same = (a) => a.byteLength === big.byteLength && a.every((v, i) => v === big[i]);
			const whole = await (await env.BUCKET.get("l")).bytes();
			const buffer = await (await env.BUCKET.get("l")).arrayBuffer();
			const streamed = new Uint8Array(await new Response((await env.BUCKET.get("l")).body).arrayBuffer());
			const part = await (await env.BUCKET.get("l", { range: { offset: 500_000, length: 200_000 } })).bytes();
			return [o.size, same(whole), buffer.byteLength, same(streamed), part.byteLength, part[0] === big[500_000]]`,
		`[1500000,true,1500000,true,200000,true]`,
	},
	{
		"body is read once", `
			await env.BUCKET.put("once", "x");
			const g = await env.BUCKET.get("once");
			await g.text();
			const s = await env.BUCKET.get("once");
			s.body.getReader();
			return [await refused(g.text()), await refused(s.text())]`,
		`["TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.","TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice."]`,
	},
	{
		"json and blob", `
			await env.BUCKET.put("j", '{"a":1}', { httpMetadata: { contentType: "application/json" } });
			const b = await (await env.BUCKET.get("j")).blob();
			return [await (await env.BUCKET.get("j")).json(), b.type, b.size, await refused(env.BUCKET.put("j", "{").then(() => env.BUCKET.get("j")).then((o) => o.json()).catch((e) => { throw new Error(e.name); }))]`,
		`[{"a":1},"application/json",7,"Error: SyntaxError"]`,
	},
	{
		"metadata", `
			await env.BUCKET.put("m", "x", { httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(0), contentLanguage: "de" }, customMetadata: { b: "1", a: "ü" }, storageClass: "InfrequentAccess" });
			const o = await env.BUCKET.head("m");
			const headers = new Headers();
			o.writeHttpMetadata(headers);
			return [[...headers], Object.entries(o.customMetadata), o.httpMetadata.cacheExpiry instanceof Date, o.storageClass]`,
		`[[["content-language","de"],["content-type","text/plain"],["expires","Thu, 01 Jan 1970 00:00:00 GMT"]],[["b","1"],["a","ü"]],true,"InfrequentAccess"]`,
	},
	{
		"metadata of headers", `
			await env.BUCKET.put("m", "x", { httpMetadata: new Headers({ "Content-Type": "a/b", "Cache-Control": "no-store", "X-Other": "1", "Expires": "Thu, 01 Jan 1970 00:00:01 GMT" }) });
			return (await env.BUCKET.head("m")).httpMetadata`,
		`{"contentType":"a/b","cacheControl":"no-store","cacheExpiry":"1970-01-01T00:00:01.000Z"}`,
	},
	{
		"checksums", `
			const sha = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("x"));
			const o = await env.BUCKET.put("c", "x", { sha256: sha });
			return [Object.keys(o.checksums.toJSON()), await refused(env.BUCKET.put("c", "y", { sha256: sha })).then((e) => e.split("\n")[0]),
				await refused(env.BUCKET.put("c", "y", { md5: "00", sha1: "11" })), await refused(env.BUCKET.put("c", "y", { md5: "zz".repeat(16) })), await refused(env.BUCKET.put("c", "y", { sha1: sha })),
				await refused(env.BUCKET.put("c", "y", { md5: "00".repeat(16), sha1: "00".repeat(20) }))]`,
		`[["md5","sha256"],"Error: put: The SHA-256 checksum you specified did not match what we received.","TypeError: MD5 is 32 hex characters, not 2","TypeError: Provided MD5 wasn't a valid hex string","TypeError: SHA-1 is 20 bytes, not 32","TypeError: You cannot specify multiple hashing algorithms."]`,
	},
	{"absent", `return [await env.BUCKET.get("none"), await env.BUCKET.head("none"), await env.BUCKET.delete("none"), await env.BUCKET.delete(["none", "nor"])]`, `[null,null,null,null]`},
	{
		"conditions", `
			const o = await env.BUCKET.put("if", "x");
			const g = await env.BUCKET.get("if", { onlyIf: { etagDoesNotMatch: o.etag } });
			const h = await env.BUCKET.get("if", { onlyIf: new Headers({ "If-None-Match": o.httpEtag }) });
			return [g.body, g.constructor.name, h.body, await env.BUCKET.put("if", "y", { onlyIf: { etagMatches: "no" } }), (await env.BUCKET.put("if", "y", { onlyIf: { etagMatches: o.etag } })).size,
				await refused(env.BUCKET.get("if", { onlyIf: { etagMatches: o.httpEtag } })), (await env.BUCKET.get("if", { onlyIf: { uploadedAfter: new Date(0) } })).body !== undefined]`,
		`[null,"R2Object",null,null,1,"TypeError: Conditional ETag should not be wrapped in quotes (\"9dd4e461268c8034f5c8564e155c67a6\").",true]`,
	},
	{
		"ranges", `
			await env.BUCKET.put("n", "0123456789");
			const at = async (range) => (await env.BUCKET.get("n", { range })).text();
			return [await at({ offset: 2, length: 3 }), await at({ suffix: 2 }), await at(new Headers({ Range: "bytes=7-" })), await refused(at({ offset: 20 })), await refused(at({ offset: -1 })),
				await refused(at({ suffix: 1, offset: 1 })), await refused(at({ length: 1.5 }))]`,
		`["234","89","789","Error: get: The requested range is not satisfiable (10039)","RangeError: Invalid range. Starting offset (-1) must be greater than or equal to 0.","TypeError: Suffix is incompatible with offset.","RangeError: Invalid range. Length (1.5) must be an integer, not floating point."]`,
	},
	{
		"list", `
			for (const key of ["p/a", "p/b/c", "p/b/d"]) await env.BUCKET.put(key, key, { customMetadata: { k: key } });
			const plain = await env.BUCKET.list({ prefix: "p/" });
			const split = await env.BUCKET.list({ prefix: "p/", delimiter: "/", include: ["customMetadata"] });
			const first = await env.BUCKET.list({ prefix: "p/", limit: 1 });
			const second = await env.BUCKET.list({ prefix: "p/", limit: 5, cursor: first.cursor });
			const bare = () => plain.objects[0].writeHttpMetadata(new Headers());
			return [plain.objects.map((o) => o.key), plain.truncated, "cursor" in plain, plain.objects[0].customMetadata === undefined, split.objects.map((o) => o.customMetadata.k), split.delimitedPrefixes,
				first.truncated, second.objects.map((o) => o.key), await refused((async () => bare())()), await refused(env.BUCKET.list({ limit: 0 })), await refused(env.BUCKET.list({ include: ["x"] }))]`,
		`[["p/a","p/b/c","p/b/d"],false,false,true,["p/a"],["p/b/"],true,["p/b/c","p/b/d"],"TypeError: HTTP metadata unknown for key ` + "`p/a`" + `. Did you forget to add 'httpMetadata' to ` + "`include`" + ` when listing?","Error: list: MaxKeys params must be positive integer <= 1000. (10022)","RangeError: Unsupported include value x"]`,
	},
	{"delete many", `
			await env.BUCKET.put("d1", "x"); await env.BUCKET.put("d2", "x");
			await env.BUCKET.delete(["d1", "d2"]);
			return [await env.BUCKET.head("d1"), await env.BUCKET.head("d2")]`, `[null,null]`},
	{
		"multipart", `
			const up = await env.BUCKET.createMultipartUpload("mp", { customMetadata: { a: "1" } });
			const part = await up.uploadPart(1, new Blob(["part one"]));
			const again = env.BUCKET.resumeMultipartUpload("mp", up.uploadId);
			const o = await again.complete([part]);
			const g = await env.BUCKET.get("mp");
			return [up.key, part.partNumber, o.etag.endsWith("-1"), o.customMetadata, await g.text(), await refused(up.abort()) ?? "ok", await refused(up.uploadPart(2, "x")), await refused(up.uploadPart(0, "x"))]`,
		`["mp",1,true,{"a":"1"},"part one","ok","Error: uploadPart: The specified multipart upload does not exist. (10024)","Error: uploadPart: Part number must be between 1 and 10000 (inclusive). (10029)"]`,
	},
	{
		"broken stream", `
			await env.BUCKET.put("bs", "before");
			let n = 0;
			const fixed = new FixedLengthStream(30);
			new ReadableStream({ pull(c) { if (n++ < 2) c.enqueue(new Uint8Array(10)); else c.error(new Error("cut off")); } }).pipeTo(fixed.writable).catch(() => {});
			return [await refused(env.BUCKET.put("bs", fixed.readable)), await (await env.BUCKET.get("bs")).text()]`,
		`["Error: cut off","before"]`,
	},
	{
		"known lengths", `
			await env.BUCKET.put("len", "0123456789");
			const part = await env.BUCKET.get("len", { range: { length: 4 } });
			const copy = await env.BUCKET.put("copy", part.body);
			const asset = (await env.ASSETS.fetch("http://x/measured.txt")).body;
			const fixed = (length, bytes) => {
				const { readable, writable } = new FixedLengthStream(length), writer = writable.getWriter();
				writer.write(new Uint8Array(bytes)).then(() => writer.close()).catch(() => {});
				return readable;
			};
			return [copy.size, (await env.BUCKET.put("k", new Response("abcd").body)).size, (await env.BUCKET.put("k", asset)).size,
				(await env.BUCKET.put("k", fixed(3, 3))).size, await refused(env.BUCKET.put("k", fixed(4, 3))), (await env.BUCKET.head("k")).size]`,
		`[4,4,8,3,"TypeError: FixedLengthStream did not see all expected bytes before close().",3]`,
	},
	{
		"unknown lengths", `
			await env.BUCKET.put("un", "before");
			const own = () => new ReadableStream({ start(c) { c.enqueue(new Uint8Array(3)); c.close(); } });
			const all = [own(), new Response(own()).body, new Response("a").body.pipeThrough(new IdentityTransformStream())];
			const up = await env.BUCKET.createMultipartUpload("un");
			const errors = await Promise.all([...all.map((stream) => refused(env.BUCKET.put("un", stream))), refused(up.uploadPart(1, own()))]);
			return [errors.length, [...new Set(errors)], await (await env.BUCKET.get("un")).text()]`,
		`[4,["TypeError: Provided readable stream must have a known length (request/response body or readable half of FixedLengthStream)"],"before"]`,
	},
	{"errors", `await env.BUCKET.put("", "x")`, `"thrown Error: put: The specified object name is not valid. (10020) [10020]"`},
	{"encryption", `await env.BUCKET.get("x", { ssecKey: "00" })`, `"thrown TypeError: ssecKey is not supported by this runtime: objects cannot be encrypted with a key of your own"`},
	{"answer with a body", `
			await env.BUCKET.put("served", "served body", { httpMetadata: { contentType: "text/x" } });
			return new Response((await env.BUCKET.get("served")).body)`, `served body`},
}

// testLengths answers with bodies that come from bindings: how long they are is
// known.
func testLengths(t *testing.T, rt *pagesruntime.Runtime) {
	answer, _ := answering(t, rt, []script{
		{name: "storage", code: `await env.BUCKET.put("k", "0123456789"); return new Response((await env.BUCKET.get("k")).body)`},
		{name: "range", code: `await env.BUCKET.put("k", "0123456789"); return new Response((await env.BUCKET.get("k", { range: { suffix: 3 } })).body)`},
		{name: "large", code: `await env.BUCKET.put("k", new Uint8Array(300000)); return new Response((await env.BUCKET.get("k")).body)`},
		{name: "asset", code: `return new Response((await env.ASSETS.fetch("http://x/measured.txt")).body)`},
		{name: "chunked", code: `return refused(env.BUCKET.put("k", request.body))`},
		{name: "unknown", code: `return new Response((await env.ASSETS.fetch("http://x/large.bin")).body)`},
	})
	for name, want := range map[string]string{"storage": "10", "range": "3", "large": "300000", "asset": "8", "unknown": ""} {
		rec, err := answer(name, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := rec.Header().Get("Content-Length"); got != want || (want != "" && strconv.Itoa(rec.Body.Len()) != want) {
			t.Errorf("%s: Content-Length %q of %d bytes, want %q", name, got, rec.Body.Len(), want)
		}
	}
	rec, err := answer("chunked", io.MultiReader(strings.NewReader("chunked")))
	if err != nil || !strings.HasPrefix(rec.Body.String(), `"TypeError: Provided readable stream must have a known length`) {
		t.Errorf("chunked: %s %v", rec.Body, err)
	}
}

var assetScripts = []script{
	{"text", `
			const r = await env.ASSETS.fetch("https://any.host/style.css", { headers: { "X-Extra": "!" } });
			return [r.status, r.headers.get("content-type"), r.headers.getSetCookie(), await r.text()]`, `[200,"text/css",["a=1","b=2"],"body{}!"]`},
	{"url and request", `
			const a = await env.ASSETS.fetch(new URL("/style.css", request.url));
			const b = await env.ASSETS.fetch(new Request("http://x/style.css", { method: "HEAD" }));
			return [await a.text(), b.status, b.body]`, `["body{}",200,null]`},
	{"large", `const r = await env.ASSETS.fetch("http://x/large.bin"); return (await r.arrayBuffer()).byteLength`, `300000`},
	{"cancelled", `const r = await env.ASSETS.fetch("http://x/large.bin"); await r.body.cancel(); return "ok"`, `"ok"`},
	{"method", `const r = await env.ASSETS.fetch("http://x/style.css", { method: "POST", body: "x" }); return [r.status, r.headers.get("allow")]`, `[405,"GET, HEAD"]`},
	{
		"redirects", `
			const followed = await env.ASSETS.fetch("http://x/page.html?q=1");
			const manual = await env.ASSETS.fetch("http://x/page.html", { redirect: "manual" });
			const passed = await env.ASSETS.fetch(new Request(new Request("http://x/page.html", request), { method: "GET", body: null }));
			const made = await env.ASSETS.fetch(new Request("http://x/page.html"));
			return [await followed.text(), manual.status, manual.headers.get("location"), passed.status, made.status, await refused(env.ASSETS.fetch("http://x/loop")), await refused(env.ASSETS.fetch("http://x/loop", { redirect: "error" }))]`,
		`["page q=1",307,"/page?",307,200,"TypeError: ASSETS.fetch: too many redirects","TypeError: ASSETS.fetch: there was a redirect and the request's redirect mode is \"error\""]`,
	},
	{"not found", `return (await env.ASSETS.fetch("http://x/none")).status`, `404`},
	{"not modified", `const r = await env.ASSETS.fetch("http://x/same"); return [r.status, r.body]`, `[304,null]`},
	{"broken", `await env.ASSETS.fetch("http://x/broken")`, `"thrown Error: the assets handler stopped: net/http: abort Handler"`},
	{"passed on", `return env.ASSETS.fetch("http://x/style.css")`, `body{}`},
}

func testImages(t *testing.T, rt *pagesruntime.Runtime) {
	scripts := []script{
		{"info", `return env.IMAGES.info(request.body)`, ""},
		{
			"resize", `
			const r = await env.IMAGES.input(request.body).transform({ width: 8 }).transform({ rotate: 90 }).output({ format: "image/webp" });
			const response = r.response({ headers: { "x-a": "1" } });
			return [r.contentType(), response.headers.get("content-type"), response.headers.get("x-a"), await env.IMAGES.info(response.body).then((i) => [i.format, i.width, i.height])]`,
			`["image/webp","image/webp","1",["image/webp",4,8]]`,
		},
		{
			"draw", `
			const bytes = await request.bytes();
			const small = env.IMAGES.input(bytes).transform({ width: 4 });
			const r = await env.IMAGES.input(bytes).draw(small, { left: 0, top: 0 }).draw(new Blob([bytes]), { opacity: 0.5 }).output({ format: "image/png" });
			return [await env.IMAGES.info(r.image()).then((i) => i.width), await refused(small.output({ format: "image/png" }))]`,
			`[16,"Error: IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once"]`,
		},
		{"base64", `
			const text = (await request.bytes()).toBase64();
			const r = await env.IMAGES.input(new Response(text).body, { encoding: "base64" }).output({ format: "image/gif" });
			return (await new Response(r.image({ encoding: "base64" })).text()).slice(0, 5)`, `"R0lGO"`},
		{"not an image", `return env.IMAGES.info(new Response("hello").body)`, `"thrown Error: IMAGES_INFO_ERROR 9412: The input is not an image [9412]"`},
		{"not bytes", `return env.IMAGES.info("hello")`, `"thrown TypeError: The image must be a ReadableStream, a Blob, an ArrayBuffer or a view of one"`},
		{
			"format", `return env.IMAGES.input(request.body).output({ format: "image/avif" })`,
			`"thrown Error: IMAGES_TRANSFORM_ERROR 9520: Writing \"image/avif\" is not supported by this runtime; use image/webp, image/jpeg, image/png or image/gif [9520]"`,
		},
		{"hosted", `return env.IMAGES.hosted`, `"thrown Error: IMAGES_TRANSFORM_ERROR 9520: hosted images are not offered by this platform [9520]"`},
		{"warning", `await env.IMAGES.input(request.body).transform({ sharpen: 3 }).output({ format: "image/png" }); return "ok"`, `"ok"`},
	}
	m := image.NewNRGBA(image.Rect(0, 0, 16, 8))
	m.SetNRGBA(3, 3, color.NRGBA{255, 0, 0, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]any{"format": "image/png", "fileSize": b.Len(), "width": 16, "height": 8})
	if err != nil {
		t.Fatal(err)
	}
	ask, logged := worker(t, rt, scripts)
	for _, s := range scripts {
		got := ask(s.name, bytes.NewReader(b.Bytes()))
		if s.name == "info" {
			var a, z any
			if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal(info, &z) != nil || fmt.Sprint(a) != fmt.Sprint(z) {
				t.Errorf("info: %s, want %s", got, info)
			}
			continue
		}
		if got != s.want {
			t.Errorf("%s: got  %s\nwant %s", s.name, got, s.want)
		}
	}
	if lines := logged(); len(lines) != 1 || lines[0] != `warn IMAGES: transform option "sharpen" has no effect in this runtime` {
		t.Errorf("logged %q", lines)
	}
}
