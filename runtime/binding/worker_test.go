package binding_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// scripts are Worker code by name: each is the body of an async function of
// env and request whose value the Worker answers as JSON.
type script struct {
	name, code, want string
}

// worker runs the scripts in one Worker with all bindings, and returns a function that requests "/?name", and the logged lines.
func worker(
	t testing.TB, e *enginetest.Engine, scripts []script,
) (ask func(name string, body io.Reader) string, logged func() []string) {
	t.Helper()
	answer, logged := newRequester(t, e, scripts)
	ask = func(name string, body io.Reader) string {
		rec, err := answer(name, body)
		if err != nil {
			return "failed: " + err.Error()
		}
		return rec.Body.String()
	}
	return ask, logged
}

// newRequester is worker with whole responses.
func newRequester(
	t testing.TB, e *enginetest.Engine, scripts []script,
) (answer func(name string, body io.Reader) (*httptest.ResponseRecorder, error), logged func() []string) {
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
	w := e.MustStart(t, pagesruntime.WorkerOptions{
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

// bindings are real ones, in a temporary folder.
func bindings(t testing.TB) *binding.Set {
	t.Helper()
	clock := func() time.Time { return time.UnixMilli(1_700_000_000_000) }
	storage := bucket(t, clock)
	return &binding.Set{
		R2:      map[string]*r2.Bucket{"BUCKET": storage},
		Images:  map[string]*images.Binding{"IMAGES": images.New(images.Options{})},
		Assets:  map[string]http.Handler{"ASSETS": http.HandlerFunc(assets)},
		Secrets: map[string]string{"API_KEY": "s3cret", "EMPTY": ""},
	}
}

// bucket is a new one, in a temporary folder.
func bucket(t testing.TB, clock func() time.Time) *r2.Bucket {
	t.Helper()
	db := database(t)
	db.SetMaxOpenConns(1) // nothing asks for a second while it holds one
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	storage, err := r2.New(t.Context(), db, root, clock)
	if err != nil {
		t.Fatal(err)
	}
	return storage
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
	case "/tagged":
		w.Header().Set("Etag", `"t"`)
		w.Header().Set("Cache-Control", "public, max-age=0, must-revalidate")
		_, _ = io.WriteString(w, "tagged")
	case "/same":
		w.WriteHeader(http.StatusNotModified)
	case "/broken":
		panic(http.ErrAbortHandler)
	default:
		http.NotFound(w, r)
	}
}

// TestWorker runs Worker code against every binding, in each engine.
func TestWorker(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		t.Run("secrets", func(t *testing.T) { runScripts(t, e, secretScripts, nil) })
		t.Run("storage", func(t *testing.T) { runScripts(t, e, storageScripts, storageInWorkerd) })
		t.Run("lengths", func(t *testing.T) { testLengths(t, e) })
		t.Run("assets", func(t *testing.T) { runScripts(t, e, assetScripts, assetsInWorkerd) })
		t.Run("images", func(t *testing.T) { testImages(t, e) })
	})
}

// runScripts compares the results of scripts; in workerd, with those of differences, since it has its own clients of bindings.
func runScripts(t *testing.T, e *enginetest.Engine, scripts []script, differences map[string]string) {
	t.Helper()
	ask, _ := worker(t, e, scripts)
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			if got, want := ask(s.name, strings.NewReader("the request's body")), s.wantIn(e, differences); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func (s script) wantIn(e *enginetest.Engine, differences map[string]string) string {
	if want, ok := differences[s.name]; ok && e.InWorkerd() {
		return want
	}
	return s.want
}

var secretScripts = []script{
	{
		"values", `return [env.API_KEY, env.EMPTY, typeof env.NONE, Object.keys(env).sort()]`,
		`["s3cret","","undefined",["API_KEY","ASSETS","BUCKET","EMPTY","IMAGES"]]`,
	},
}

var assetScripts = []script{
	{
		"text", `
			const r = await env.ASSETS.fetch("https://any.host/style.css", { headers: { "X-Extra": "!" } });
			return [r.status, r.headers.get("content-type"), r.headers.getSetCookie(), await r.text()]`,
		`[200,"text/css",["a=1","b=2"],"body{}!"]`,
	},
	{"url and request", `
			const a = await env.ASSETS.fetch(new URL("/style.css", request.url));
			const b = await env.ASSETS.fetch(new Request("http://x/style.css", { method: "HEAD" }));
			return [await a.text(), b.status, b.body]`, `["body{}",200,null]`},
	{"large", `const r = await env.ASSETS.fetch("http://x/large.bin"); return (await r.arrayBuffer()).byteLength`, `300000`},
	{"cancelled", `const r = await env.ASSETS.fetch("http://x/large.bin"); await r.body.cancel(); return "ok"`, `"ok"`},
	{
		"method", `
			const answers = [];
			for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "post"]) {
				const r = await env.ASSETS.fetch("http://x/style.css", { method });
				answers.push([r.status, r.statusText, r.headers.get("allow"), await r.text()].join()); }
			return [...new Set(answers)]`, `["405,Method Not Allowed,GET, HEAD,"]`,
	},
	{
		"as the platform answers", `
			const r = await env.ASSETS.fetch("http://x/page.html?q=1");
			return [String(env.ASSETS), r.url, r.redirected, r.statusText, r.type,
				await refused((async () => r.headers.set("a", "b"))()), new Response(r.body, r).headers.get("x-none")]`,
		`["[object Fetcher]","http://x/page?q=1",true,"OK","default","TypeError: Can't modify immutable headers.",null]`,
	},
	{
		"cache headers", `
			const ask = async (headers) => { const r = await env.ASSETS.fetch("http://x/tagged", { headers });
				return [r.status, r.headers.get("cache-control"), r.headers.get("cf-cache-status")]; };
			return [await ask({}), await ask({ Authorization: "x" }), await ask({ Range: "bytes=0-1" }),
				(await env.ASSETS.fetch("http://x/none")).headers.get("cf-cache-status")]`,
		`[[200,"public, max-age=0, must-revalidate","HIT"],[200,null,"HIT"],[200,null,"HIT"],null]`,
	},
	{
		"arguments", `
			const ask = (...given) => refused(env.ASSETS.fetch(...given).then((r) => r.text()));
			return [await ask(), await ask("/style.css").then((e) => e.slice(0, 22)), await ask("ftp://x/style.css"),
				await ask("data:text/plain,hi"), await ask("http://x/style.css", { body: "x" }).then((e) => e.split(":")[0]),
				await ask("http://x/style.css", { signal: AbortSignal.abort() }), await ask("https://x:8443/style.css?a#b"),
				(await env.ASSETS.fetch("http://x/%?a=%")).status]`,
		`["TypeError: Failed to execute 'fetch' on 'Fetcher': parameter 1 is not of type 'Request or string'.",` +
			`"TypeError: Invalid URL","TypeError: Fetch API cannot load: ftp://x/style.css","hi","TypeError",` +
			`"AbortError: The operation was aborted","body{}",404]`,
	},
	{
		"redirects", `
			const followed = await env.ASSETS.fetch("http://x/page.html?q=1");
			const manual = await env.ASSETS.fetch("http://x/page.html", { redirect: "manual" });
			const passed = await env.ASSETS.fetch(new Request(new Request("http://x/page.html", request), { method: "GET", body: null }));
			const made = await env.ASSETS.fetch(new Request("http://x/page.html"));
			return [await followed.text(), manual.status, manual.headers.get("location"), passed.status, made.status,
				await refused(env.ASSETS.fetch("http://x/loop")),
				await refused(env.ASSETS.fetch("http://x/loop", { redirect: "error" }))]`,
		`["page q=1",307,"/page?",307,200,"TypeError: ASSETS.fetch: too many redirects",` +
			`"TypeError: ASSETS.fetch: there was a redirect and the request's redirect mode is \"error\""]`,
	},
	{"not found", `return (await env.ASSETS.fetch("http://x/none")).status`, `404`},
	{"not modified", `const r = await env.ASSETS.fetch("http://x/same"); return [r.status, r.body]`, `[304,null]`},
	{
		"broken", `return (await env.ASSETS.fetch("http://x/broken")).status`,
		`"thrown Error: the assets handler stopped: net/http: abort Handler"`,
	},
	{"passed on", `return env.ASSETS.fetch("http://x/style.css")`, `body{}`},
}

// assetsInWorkerd are the results of scripts in workerd, whose own words these are; a handler that stops is a response.
var assetsInWorkerd = map[string]string{
	"redirects": `["page q=1",307,"/page?",307,200,"TypeError: Too many redirects.` + strings.Repeat("http://x/loop, ", 20) +
		`http://x/loop","TypeError: Invalid redirect value, must be one of \"follow\" or \"manual\" (\"error\" won't be ` +
		`implemented since it does not make sense at the edge; use \"manual\" and check the response status code)."]`,
	"broken": `500`,
}

// imagesInWorkerd are the same of images: the binding cannot refuse calls that its client does not send.
var imagesInWorkerd = map[string]string{
	"not bytes":  `"thrown Error: IMAGES_INFO_ERROR 9412: The input is not an image [9412]"`,
	"hosted":     `{}`,
	"taken once": `"thrown TypeError: This ReadableStream is currently locked to a reader."`,
	"text":       `{}`,
}

func testImages(t *testing.T, e *enginetest.Engine) {
	scripts := []script{
		{"info", `return env.IMAGES.info(request.body)`, ""},
		{
			"resize", `
			const r = await env.IMAGES.input(request.body).transform({ width: 8 }).transform({ rotate: 90 }).output(
				{ format: "image/webp" });
			const response = r.response({ headers: { "x-a": "1" } });
			return [r.contentType(), response.headers.get("content-type"), response.headers.get("x-a"),
				await env.IMAGES.info(response.body).then((i) => [i.format, i.width, i.height])]`,
			`["image/webp","image/webp","1",["image/webp",4,8]]`,
		},
		{
			"draw", `
			const bytes = await request.bytes();
			const small = env.IMAGES.input(bytes).transform({ width: 4 });
			const r = await env.IMAGES.input(bytes).draw(small, { left: 0, top: 0 }).draw(new Blob([bytes]), { opacity: 0.5 }).output(
				{ format: "image/png" });
			return [await env.IMAGES.info(r.image()).then((i) => i.width), await refused(small.output({ format: "image/png" }))]`,
			`[16,"Error: IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once"]`,
		},
		{"base64", `
			const text = (await request.bytes()).toBase64();
			const r = await env.IMAGES.input(new Response(text).body, { encoding: "base64" }).output({ format: "image/gif" });
			return (await new Response(r.image({ encoding: "base64" })).text()).slice(0, 5)`, `"R0lGO"`},
		{
			"line",
			`try { await env.IMAGES.info(new Response("hello").body); } catch (e) {
				return [e.code, e.stack.startsWith(String(e)), /worker\.js:\d+:\d+/.test(e.stack)]; }`,
			`[9412,true,true]`,
		},
		{
			"not an image", `return env.IMAGES.info(new Response("hello").body)`,
			`"thrown Error: IMAGES_INFO_ERROR 9412: The input is not an image [9412]"`,
		},
		{
			"not bytes", `return env.IMAGES.info("hello")`,
			`"thrown TypeError: The image must be a ReadableStream, a Blob, an ArrayBuffer or a view of one"`,
		},
		{
			"format", `return env.IMAGES.input(request.body).output({ format: "image/avif" })`,
			`"thrown Error: IMAGES_TRANSFORM_ERROR 9520: Writing \"image/avif\" is not supported by this runtime; use image/webp, ` +
				`image/jpeg, image/png or image/gif [9520]"`,
		},
		{
			"hosted", `return env.IMAGES.hosted`,
			`"thrown Error: IMAGES_TRANSFORM_ERROR 9520: hosted images are not offered by this platform [9520]"`,
		},
		{
			"warning",
			`await env.IMAGES.input(request.body).transform({ segment: "foreground" }).output({ format: "image/png" }); return "ok"`,
			`"ok"`,
		},
		{
			"consumed", `
			const bytes = await request.bytes(), input = () => env.IMAGES.input(bytes), drawn = input(), refusals = [];
			input().draw(drawn);
			for (const again of [async () => input().draw(drawn), () => drawn.output({ format: "image/png" })]) refusals.push(
				await refused(again()));
			const self = input();
			refusals.push(await refused((async () => self.draw(self).output({ format: "image/png" }))()));
			return [refusals.length, ...new Set(refusals)]`,
			`[3,"Error: IMAGES_TRANSFORM_ERROR 9525: ImageTransformer consumed; you may only call .output() or draw a transformer once"]`,
		},
		{
			"taken once", `
			const bytes = await request.bytes(), made = () => env.IMAGES.input(bytes).output({ format: "image/png" });
			const a = await made(), b = await made(), c = await made();
			const size = (await a.response().bytes()).length, text = await new Response(b.image({ encoding: "base64" })).text();
			await new Response(c.image()).bytes();
			return [size === Uint8Array.fromBase64(text).length, await refused((async () => a.response())()),
				await refused(new Response(c.image({ encoding: "base64" })).text()).then((e) => e.split(":")[0]), a.contentType()]`,
			`[true,"TypeError: This ReadableStream is disturbed (has already been read from), and cannot be used as a body.",` +
				`"TypeError","image/png"]`,
		},
		{
			"every option", `
			const bytes = await request.bytes();
			const t = { width: 40, height: 30, fit: "pad", gravity: { x: 0.5, y: 0 }, background: "#fff", blur: 1,
				border: { color: "red", width: 1 }, brightness: 1.1, contrast: 0.9, flip: "h", gamma: 1.2, rotate: 90, saturation: 0.5,
				sharpen: 1, trim: { top: 1, border: { keep: 1 } } };
			const o = { opacity: 0.5, repeat: "x", composite: "over", top: 0, left: 0 };
			const r = await env.IMAGES.input(bytes).transform(t).draw(env.IMAGES.input(bytes).transform({ trim: "border" }), o).output(
				{ format: "image/jpeg", quality: "80", background: "#ffffff", anim: false });
			const { format, width, height } = await env.IMAGES.info(r.image());
			return [format, width, height]`,
			`["image/jpeg",42,32]`,
		},
		{
			"options refused", `
			const bytes = await request.bytes(), ask = (t, o) => refused(
				(async () => env.IMAGES.input(bytes).transform(t).output(o))()), png = { format: "image/png" };
			return [await ask({ width: "40" }, png), await ask({ fit: "stretch" }, png), await ask({ rotate: 45 }, png),
				await ask({}, { format: "image/bmp" }), await ask({}, { format: {} }),
				await ask({}, { format: "image/jpeg", quality: 0 }), await ask({}).then((e) => e.split(":")[0])]`,
			`["Error: IMAGES_TRANSFORM_ERROR 9401: the options of transform are not valid: \"width\" cannot be a string",` +
				`"Error: IMAGES_TRANSFORM_ERROR 9401: fit \"stretch\" is none of [\"scale-down\" \"contain\" \"cover\" \"crop\" ` +
				`\"pad\" \"squeeze\"]","Error: IMAGES_TRANSFORM_ERROR 9401: rotate 45 is none of 0, 90, 180, 270",` +
				`"Error: IMAGES_TRANSFORM_ERROR 9520: Writing \"image/bmp\" is not supported by this runtime; use image/webp, ` +
				`image/jpeg, image/png or image/gif","Error: IMAGES_TRANSFORM_ERROR 9520: Writing \"[object Object]\" is not ` +
				`supported by this runtime; use image/webp, image/jpeg, image/png or image/gif",` +
				`"Error: IMAGES_TRANSFORM_ERROR 9401: quality 0 is not from 1 to 100","TypeError"]`,
		},
		{
			"text", `return env.IMAGES.text("hello", { font: { url: "http://x/f.ttf" } })`,
			`"thrown Error: IMAGES_TRANSFORM_ERROR 9520: text() is not supported by this runtime [9520]"`,
		},
		{
			"svg",
			`return [await env.IMAGES.info(new Response("<svg xmlns='http://www.w3.org/2000/svg'/>").body),
				await refused(env.IMAGES.input(new Response("<svg xmlns='http://www.w3.org/2000/svg'/>").body).output(
					{ format: "image/png" }))]`,
			`[{"format":"image/svg+xml"},"Error: IMAGES_TRANSFORM_ERROR 9520: Transforming image/svg+xml is not supported by ` +
				`this runtime"]`,
		},
		{
			"info in base64",
			`return (await env.IMAGES.info(new Response((await request.bytes()).toBase64()).body, { encoding: "base64" })).width`,
			`16`,
		},
		{
			"raw pixels", `
			const bytes = await request.bytes(), sizes = [];
			for (const format of ["rgb", "rgba"]) { const r = await env.IMAGES.input(bytes).output({ format });
				sizes.push(r.contentType(), (await r.response().bytes()).length); }
			return sizes`, `["application/octet-stream",384,"application/octet-stream",512]`,
		},
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
	ask, logged := worker(t, e, scripts)
	for _, s := range scripts {
		got := ask(s.name, bytes.NewReader(b.Bytes()))
		if s.name == "info" {
			var a, z any
			if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal(info, &z) != nil || fmt.Sprint(a) != fmt.Sprint(z) {
				t.Errorf("info: %s, want %s", got, info)
			}
			continue
		}
		if want := s.wantIn(e, imagesInWorkerd); got != want {
			t.Errorf("%s: got  %s\nwant %s", s.name, got, want)
		}
	}
	if lines := logged(); len(lines) != 1 || lines[0] != `warn IMAGES: transform option "segment" has no effect in this runtime` {
		t.Errorf("logged %q", lines)
	}
}
