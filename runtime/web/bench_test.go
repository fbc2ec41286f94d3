package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// BenchmarkServe is the whole way of a request from the exchange to the written
// answer, without HTTP.
func BenchmarkServe(b *testing.B) {
	for name, code := range map[string]string{
		"text": `export default { fetch() { return new Response("hello"); } };`,
		"json": `export default { async fetch(request) { const url = new URL(request.url);
			return Response.json({ path: url.pathname, q: url.searchParams.get("q") }, {
			headers: { "x-a": "1", "cache-control": "no-store" } }); } };`,
		"timer":  `export default { async fetch(request) { await new Promise(r => setTimeout(r, 0)); return new Response("x"); } };`,
		"stream": `export default { fetch() { return new Response(ReadableStream.from([new Uint8Array(100), new Uint8Array(100)])); } };`,
		"pipe": `export default { fetch() {
			const source = new ReadableStream({ start(c) { for (let i = 0; i < 50; i++) c.enqueue(new Uint8Array(100)); c.close(); } });
			return new Response(source.pipeThrough(new TransformStream()).pipeThrough(new IdentityTransformStream())); } };`,
		"body": `export default { async fetch() { let r = new Response("hello"); for (let i = 0; i < 20; i++) r = new Response(r.body, r);
			return new Response(await r.text()); } };`,
		"read": `export default { async fetch() { let n = 0;
			const source = { i: 0, pull(c) { if (this.i++ === 100) c.close(); else c.enqueue(this.i); } };
			for await (const x of new ReadableStream(source)) n += x;
			return new Response(String(n)); } };`,
		"headers": `export default { fetch(request) { return new Response(null, {
			headers: { a: request.headers.get("user-agent"), b: request.headers.get("accept") } }); } };`,
	} {
		b.Run(name, func(b *testing.B) {
			w, err := webtest.Start(b, code, web.Options{})
			if err != nil {
				b.Fatal(err)
			}
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://a.test/path/to?q=1", nil)
			r.Header.Set("User-Agent", "bench")
			r.Header.Set("Accept", "text/html")
			b.ReportAllocs()
			for b.Loop() {
				x := web.NewExchange(discard{}, r)
				scope := engine.NewScope(b.Context(), 0, x)
				if err := w.Host.Serve(w.Isolate, scope, x); err != nil {
					b.Fatal(err)
				}
				<-x.Done()
				scope.End(nil)
			}
		})
	}
}

// discard is a ResponseWriter that keeps nothing.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
func (discard) Flush()                      {}
