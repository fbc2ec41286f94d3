package compression_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// through are the helpers of the snippets here.
const through = `const pass = (data, stream) => new Response(new Blob([data]).stream().pipeThrough(stream)).bytes();
const thrown = (p) => p.then((v) => "no error: " + v, (e) => e.name + ": " + e.message),
	formats = ["gzip", "deflate", "deflate-raw", "brotli"];
`

func TestCompressionStreams(t *testing.T) {
	snippets := []webtest.Snippet{
		{"there and back", `const out = [];
		for (const format of formats) {
			for (const size of [0, 1, 1000, 200000]) {
				const data = new Uint8Array(size).map((_, i) => i >> 3);
				const packed = await pass(data, new CompressionStream(format));
				const back = await pass(packed, new DecompressionStream(format));
				out.push(back.length === size && back.every((b, i) => b === data[i]) && (size < 1000 || packed.length < size));
			}
		}
		return out.every((ok) => ok)`, `true`},
		{
			"one piece of output",
			`const packer = new CompressionStream("gzip"), writer = packer.writable.getWriter(), reader = packer.readable.getReader();
				writer.write(new Uint8Array(9)); writer.close();
			const { value } = await reader.read(); return [(await pass(value, new DecompressionStream("gzip"))).length,
				(await reader.read()).done]`,
			`[9,true]`,
		},
		{
			"text as input",
			`const packer = new CompressionStream("gzip"), writer = packer.writable.getWriter(); writer.write("h\u00e9");
				writer.write("llo"); writer.close();
			return new Response(packer.readable.pipeThrough(new DecompressionStream("gzip"))).text()`,
			`"h\u00e9llo"`,
		},
		{
			"gzip heads",
			`const heads = []; for (let i = 0; i < 2; i++) heads.push([...(await pass("x", new CompressionStream("gzip"))).slice(0,
				10)].join(" ")); return heads`,
			`["31 139 8 0 0 0 0 0 0 3","31 139 8 0 0 0 0 0 0 3"]`,
		},
		{"one byte at a time", `const packed = await pass("Hello, Hello, Hello", new CompressionStream("gzip")), out = [];
		const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter();
		(async () => { for (const byte of packed) await writer.write(new Uint8Array([byte])); await writer.close(); })();
		for await (const piece of stream.readable) out.push(new TextDecoder().decode(piece));
		return [out.join(""), [...packed.subarray(0, 4)]]`, `["Hello, Hello, Hello",[31,139,8,0]]`},
		{
			"truncated and trailing data",
			`const out = [];
		for (const format of formats) {
			const packed = await pass("text", new CompressionStream(format));
			out.push(await thrown(pass(packed.subarray(0, -1), new DecompressionStream(format))),
				await thrown(pass(new Uint8Array([...packed, 0]), new DecompressionStream(format))),
				await thrown(pass(new Blob([packed, packed]), new DecompressionStream(format))),
					await thrown(pass("", new DecompressionStream(format))));
		}
		return out.every((e) => e.startsWith("TypeError: Trail") || e.startsWith("TypeError: Called") ||
			e.startsWith("TypeError: Decom")) && [out[0], out[1]]`,
			`["TypeError: Called close() on a decompression stream with incomplete data",
				"TypeError: Trailing bytes after end of compressed data"]`,
		},
		{
			"data that is not compressed",
			`return Promise.all(formats.map((format) => thrown(pass("certainly not compressed",
				new DecompressionStream(format)))).concat(formats.map((format) => thrown(pass(new Uint8Array(40).fill(255),
				new DecompressionStream(format))))))
			.then((all) => all.every((e) => /^TypeError: (Decompression failed|Called close)/.test(e)) || all)`,
			`true`,
		},
		// The bytes are those of the standards: RFC 1951 without a head, RFC 1950 and RFC 1952 with one.
		{
			"bytes of the standards",
			`const raw = await pass("abc", new CompressionStream("deflate-raw")),
				zlib = await pass("abc", new CompressionStream("deflate")), gz = await pass("abc", new CompressionStream("gzip"));
		return [zlib.toHex().slice(4, -8) === raw.toHex(), gz.toHex().slice(20, -16) === raw.toHex(), zlib.toHex().slice(-8),
			gz.toHex().slice(-16)]`,
			`[true,true,"024d0127","c241243503000000"]`,
		},
		{
			"a chunk that is a number",
			`const stream = new CompressionStream("gzip"), writer = stream.writable.getWriter();
				stream.readable.getReader().read().catch(() => {});
		return [await thrown(writer.write(5)), await thrown(writer.closed)]`,
			`["TypeError: The chunk is neither an ArrayBuffer nor a view","TypeError: The chunk is neither an ArrayBuffer nor a view"]`,
		},
		{
			"wrong arguments and receivers",
			`return [() => new CompressionStream(), () => new CompressionStream("zip"), () => CompressionStream("gzip"),
				() => CompressionStream.prototype.readable, () => Object.getOwnPropertyDescriptor(DecompressionStream.prototype,
				"writable").get.call(new CompressionStream("gzip"))].map((f) => { try { return f(); } catch (e) { return e.name; } })
			.concat(String(new DecompressionStream("gzip")), CompressionStream.length, Object.keys(CompressionStream.prototype))`,
			`["TypeError","TypeError","TypeError","TypeError","TypeError","[object DecompressionStream]",1,"readable","writable"]`,
		},
		// A cancelled or aborted stream ends on both sides.
		{
			"cancel and abort",
			`const one = new CompressionStream("gzip"), a = one.writable.getWriter(); a.write(new Uint8Array(10)).catch(() => {});
				await one.readable.cancel(new RangeError("enough"));
		const two = new DecompressionStream("gzip"), b = two.writable.getWriter(); await b.abort(new RangeError("no more"));
		return [await thrown(a.closed), await thrown(two.readable.getReader().read())]`,
			`["RangeError: enough","RangeError: no more"]`,
		},
		{
			"too many streams",
			`const open = []; for (let i = 0; i < 101; i++) { const stream = new CompressionStream("gzip");
				open.push(pass(new Uint8Array(1), { writable: stream.writable, readable: stream.readable })); }
		await Promise.all(open);
		const waiting = []; for (let i = 0; i < 101; i++) { const stream = new CompressionStream("gzip");
			stream.readable.getReader().read().catch(() => {}); waiting.push(stream.writable.getWriter().write(new Uint8Array(1))); }
		return thrown(Promise.all(waiting))`,
			`/RangeError: this request has 100 CompressionStreams/`,
		},
		{
			"a DataView as input",
			`const packed = await pass("abc", new CompressionStream("gzip")), view = new Uint8Array(packed.length + 4); view.set(packed, 2);
		return new TextDecoder().decode(await pass(new DataView(view.buffer, 2, packed.length), new DecompressionStream("gzip")))`,
			`"abc"`,
		},
	}
	for i := range snippets {
		snippets[i][1] = through + snippets[i][1]
	}
	webtest.Try(t, web.Options{}, snippets)
}

// A small input with a large output is decompressed only as fast as it is read.
func TestDecompressionBomb(t *testing.T) {
	w := webtest.Serve(t, `let size = 0, written = 0;
export default { async fetch(request) {
	const reading = request.body.pipeThrough(new DecompressionStream("gzip")).getReader();
	await reading.read();
	if (request.url.endsWith("/held")) { for (let i = 0; i < 200; i++) await 0; return new Response("held"); }
	for (;;) {
		const { done, value } = await reading.read();
		if (done) return new Response(String(size));
		size += value.byteLength;
	}
} };`, web.Options{})
	var bomb strings.Builder
	z := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 512 {
		if _, err := z.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	post := func(path string) (webtest.Reply, string) {
		return w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+path, strings.NewReader(bomb.String())))
	}
	if _, body := post("/held"); body != "held" {
		t.Errorf("%q", body)
	}
	w.Budget = 50 * time.Millisecond
	if resp, _ := post("/"); resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("decompressing half a gigabyte in 50 ms: %v", resp)
	}
	if _, ok := errors.AsType[*engine.KilledError](w.Errors()[len(w.Errors())-1]); !ok {
		t.Errorf("%v", w.Errors())
	}
	w.Budget = time.Minute
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, body := post("/"); body != "536838144" && !strings.HasPrefix(body, "5368") {
		t.Errorf("%q", body)
	}
	runtime.ReadMemStats(&after)
	if after.Sys > before.Sys+64<<20 {
		t.Errorf("memory grew by %d MiB", (after.Sys-before.Sys)>>20)
	}
}

// An answer in a coding is compressed for clients that take it; a body that is
// compressed already says so.
func TestContentEncodings(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`const { pathname, searchParams } = new URL(request.url), text = "plain text";
		const body = searchParams.has("stream") ? new Blob([text]).stream() : text;
		return new Response(body, { headers: { "content-encoding": pathname.slice(1) } });`), web.Options{})
	readers := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd": func(r io.Reader) (io.Reader, error) { return r, nil },
	}
	for coding, open := range readers {
		for _, query := range []string{"", "?stream"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/"+coding+query, nil)
			r.Header.Set("Accept-Encoding", "gzip, br")
			resp, body := w.Do(r)
			decoded, err := open(strings.NewReader(body))
			if err != nil {
				t.Fatal(coding, err)
			}
			if b, err := io.ReadAll(decoded); string(b) != "plain text" || err != nil || resp.Header.Get("Content-Encoding") != coding {
				t.Errorf("%s%s: %v %q %v", coding, query, resp, b, err)
			}
		}
	}
}

// A response to fetch is decoded; the content-length of an encoded one is not the length that
// is read.
func TestFetchDecodes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		coding := r.URL.Path[1:]
		w.Header().Set("Content-Encoding", coding)
		if coding == "br" {
			z := brotli.NewWriter(w)
			_, _ = io.WriteString(z, strings.Repeat("brotli ", 1000))
			_ = z.Close()
			return
		}
		_, _ = io.WriteString(w, "not so")
	}))
	t.Cleanup(server.Close)
	webtest.Try(t, web.Options{AllowFetch: []string{"127.0.0.1"}}, []webtest.Snippet{
		{
			"brotli",
			`const r = await fetch("` + server.URL + `/br"); const text = await r.text();
				return [text.length, text.slice(0, 7), r.headers.get("content-encoding"), Number(r.headers.get("content-length")) < 100]`,
			`[7000,"brotli ","br",true]`,
		},
		{
			"brotli piece by piece",
			`const r = await fetch("` + server.URL + `/br"); let n = 0; for await (const piece of r.body) n += piece.byteLength; return n`,
			`7000`,
		},
		{"an unknown coding", `return (await fetch("` + server.URL + `/zstd")).text()`, `"not so"`},
		{
			"two codings that are wrong",
			`await (await fetch("` + server.URL + `/br,gzip")).text()`,
			`/Error: Network connection lost\. The body could not be read/`,
		},
	})
}

// The platform's own transforms fill buffers of their readers, and take text.
func TestIdentityStreams(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"text and buffers",
			`const { readable, writable } = new IdentityTransformStream(), writer = writable.getWriter(); writer.write("abc");
				writer.write(new Uint8Array([100, 101]).buffer); writer.close();
		const reader = readable.getReader({ mode: "byob" }), out = []; let buffer = new ArrayBuffer(2);
		for (;;) { const { done, value } = await reader.read(new Uint8Array(buffer)); if (done) break;
			out.push(new TextDecoder().decode(value)); buffer = value.buffer; }
		return out`,
			`["ab","c","de"]`,
		},
		{
			"an aborted writer",
			`const stream = new IdentityTransformStream(); stream.writable.abort(new RangeError("stop"));
				return await stream.readable.getReader().read().catch(String)`,
			`"RangeError: stop"`,
		},
		{
			"a cancelled reader",
			`const stream = new IdentityTransformStream(), writer = stream.writable.getWriter();
				const lost = stream.readable.cancel(new RangeError("enough")); await lost; return await writer.write("x").catch(String)`,
			`"RangeError: enough"`,
		},
		{
			"a number as a chunk",
			`const stream = new IdentityTransformStream(), writer = stream.writable.getWriter();
				stream.readable.getReader().read().catch(() => {}); return await writer.write(1).catch((e) => e.name)`,
			`"TypeError"`,
		},
		{
			"a fixed length",
			`const { readable, writable } = new FixedLengthStream(4n), writer = writable.getWriter(); writer.write("ab");
				writer.write(new Uint8Array(0)); writer.write("cd"); writer.close();
				return (await new Response(readable).text()) +
				(await Promise.all([new FixedLengthStream(1) instanceof TransformStream,
				new FixedLengthStream(1) instanceof IdentityTransformStream]))`,
			`"abcdtrue,true"`,
		},
		{
			"more than a fixed length",
			`const stream = new FixedLengthStream(1), writer = stream.writable.getWriter();
				const read = new Response(stream.readable).text().catch(String); writer.write("ab").catch(() => {}); return await read`,
			`"TypeError: Attempt to write too many bytes through a FixedLengthStream."`,
		},
	})
}

// Production has no brotli: it is warned of, once.
func TestBrotliCaution(t *testing.T) {
	for code, want := range map[string]int{`new CompressionStream("brotli"); new DecompressionStream("brotli");`: 1, `new CompressionStream(
		"gzip");`: 0} {
		w := webtest.Serve(t, webtest.Handler(code+`return new Response();`), web.Options{})
		w.Get("/")
		if got := w.Lines(); strings.Count(got, "production refuses the format brotli") != want {
			t.Errorf("%s: the console has %q", code, got)
		}
	}
}
