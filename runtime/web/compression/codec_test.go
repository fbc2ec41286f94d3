package compression_test

import (
	"runtime"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// TestDecompressionLeftOpen ends requests whose DecompressionStream waits for more input: their decoders end with them, on any thread.
func TestDecompressionLeftOpen(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`
		const packed = await new Response(new Blob(["text"]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
		const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter();
		await writer.write(packed.subarray(0, 12));
		return new Response("open");`), web.Options{})
	before := runtime.NumGoroutine()
	for range 50 {
		if _, body := w.Get("/"); body != "open" {
			t.Fatal(body)
		}
	}
	if after := runtime.NumGoroutine(); after > before+25 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}
