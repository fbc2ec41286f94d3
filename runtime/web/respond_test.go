package web_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestAnswerHeaders(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`
		const path = new URL(request.url).pathname;
		if (path === "/none") return new Response(null, { status: 204, headers: { "content-length": "5" } });
		if (path === "/bytes") return new Response(new Uint8Array(3), {
			headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"], ["connection", "x"], ["transfer-encoding", "y"], ["x-a", "1"],
			["vary", "b"], ["X-A", "2"], ["x-a", "3"]] });
		if (path === "/head") return new Response(null, { headers: { "content-length": "77" } });
		if (path === "/long") return new Response("abc", { headers: { "content-length": "9999" } });
		return new Response("text");`), web.Options{})
	resp, _ := w.Get("/none")
	if resp.StatusCode != http.StatusNoContent || resp.ContentLength != 0 {
		t.Errorf("204: %v", resp)
	}
	resp, body := w.Get("/bytes")
	if got := resp.Header["Set-Cookie"]; len(got) != 2 || len(body) != 3 || resp.Header["Content-Type"] != nil || resp.ContentLength != 3 {
		t.Errorf("bytes: %v", resp)
	}
	if got := resp.Header["X-A"]; len(got) != 1 || got[0] != "1, 2, 3" {
		t.Errorf("a name three times: %q", got)
	}
	if _, body := w.Get("/long"); body != "abc" {
		t.Errorf("content-length of a whole body: %q", body)
	}
	for path, want := range map[string]int64{"/head": 77, "/text": 4} {
		resp, body := w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodHead, w.URL+path, nil))
		if resp.ContentLength != want || body != "" {
			t.Errorf("HEAD %s: %v", path, resp)
		}
	}
}

// The body of a response to HEAD is not read: its stream is cancelled.
func TestHeadOfStream(t *testing.T) {
	w := webtest.Serve(t, `
		let cancelled = 0;
		export default { fetch(request) {
			if (request.method === "GET") return new Response(cancelled);
			const body = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1)); }, cancel() { cancelled++; } });
			return new Response(body, { headers: { "x-a": "b" } });
		} };`, web.Options{})
	resp, body := w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodHead, w.URL, nil))
	if body != "" || resp.Header.Get("X-A") != "b" {
		t.Errorf("%v %q", resp, body)
	}
	if !webtest.Eventually(t, func() bool { _, body := w.Get("/"); return body == "1" }) {
		t.Error("the stream goes on")
	}
}

// A stream of known length is sent with that length.
func TestLengthOfStream(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "from afar") }))
	defer other.Close()
	w := webtest.Serve(t, `export default { async fetch(request) {
		switch (new URL(request.url).pathname) {
		case "/text": return new Response(new Response("é").body);
		case "/fetched": return new Response((await fetch("`+other.URL+`")).body);
		case "/echo": return new Response(request.body);
		case "/fixed": { const { readable, writable } = new FixedLengthStream(3), w = writable.getWriter();
			w.write(new Uint8Array(3)).then(() => w.close()); return new Response(readable); }
		case "/own": return new Response(new Response("abc").body, { headers: { "content-length": "3" } });
		case "/unknown": return new Response(ReadableStream.from([new Uint8Array(5)]));
		case "/generator": return new Response((async function* () { yield new Uint8Array(2); yield new Uint8Array(4); })());
		}
	} };`, web.Options{AllowFetch: []string{"127.0.0.1"}})
	for _, c := range []struct {
		path         string
		length, size int64
	}{{"/text", 2, 2}, {"/fetched", 9, 9}, {"/echo", 7, 7}, {"/fixed", 3, 3}, {"/own", 3, 3}, {"/unknown", -1, 5}, {"/generator", -1, 6}} {
		t.Run(c.path, func(t *testing.T) {
			resp, body := w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+c.path, strings.NewReader("request")))
			if resp.ContentLength != c.length || int64(len(body)) != c.size {
				t.Errorf("%s: Content-Length %d of %d bytes", c.path, resp.ContentLength, len(body))
			}
		})
	}
}

func TestStreamedAnswer(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`
		const { readable, writable } = new TransformStream();
		const writer = writable.getWriter(), text = new TextEncoder();
		ctx.waitUntil((async () => {
			for (let i = 0; i < 3; i++) { await writer.write(text.encode(i + "\n")); await new Promise(r => setTimeout(r, 1)); }
			await writer.close();
		})());
		return new Response(readable, { headers: { "content-type": "text/event-stream" } });`), web.Options{})
	if resp, body := w.Get("/"); body != "0\n1\n2\n" || resp.ContentLength != -1 {
		t.Errorf("%v %q", resp, body)
	}
}

// A piece must reach the client before the next one is made.
func TestStreamIsFlushed(t *testing.T) {
	w := webtest.Serve(t, `
		let go;
		export default { async fetch(request) {
			if (new URL(request.url).pathname === "/go") { globalThis.gone = true; return new Response("went"); }
			let n = 0;
			return new Response(new ReadableStream({ async pull(c) {
				if (n++ === 0) return c.enqueue(new TextEncoder().encode("first\n"));
				while (!globalThis.gone) await new Promise(r => setTimeout(r, 1));
				c.enqueue(new TextEncoder().encode("second\n")); c.close();
			} }));
		} };`, web.Options{})
	resp, err := http.Get(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); line != "first\n" {
		t.Fatal(line, err)
	}
	w.Get("/go")
	if line, err := lines.ReadString('\n'); line != "second\n" {
		t.Fatal(line, err)
	}
}

func TestBrokenStreamIsNoWholeAnswer(t *testing.T) {
	for _, body := range []string{
		`let n = 0; return new Response(new ReadableStream({ pull(c) { if (n++) throw new Error("midway"); c.enqueue(new Uint8Array(10));
			} }))`,
		`return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(10)); } }))`,
	} {
		w := webtest.Serve(t, webtest.Handler(body), web.Options{})
		resp, err := http.Get(w.URL)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil {
			t.Errorf("%s: the client took %q for all", body, b)
		}
		var aborted *web.Aborted
		if webtest.Eventually(t, func() bool { return len(w.Errors()) == 1 }); !errors.As(w.Errors()[0], &aborted) {
			t.Errorf("%s: %v", body, w.Errors())
		}
	}
}

// The connection of a broken response is closed, also for the rest of the visitor's upload.
func TestBrokenStreamWhileTheBodyIsSent(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`let n = 0; return new Response(new ReadableStream({ pull(c) { if (n++) throw new Error("midway");
		c.enqueue(new Uint8Array(10)); } }))`), web.Options{})
	var panicked atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				panicked.Store(true)
			}
		}()
		w.ServeHTTP(rw, r)
	}))
	defer server.Close()
	sent, sender := io.Pipe()
	defer sender.Close()
	resp, err := http.Post(server.URL, "text/plain", sent)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("the client took the response for whole")
	}
	server.Close()
	if panicked.Load() {
		t.Error("the handler panicked")
	}
}

func TestContentEncoding(t *testing.T) {
	w := webtest.Serve(t, webtest.Handler(`
		const headers = { "content-encoding": "gzip" };
		if (request.url.endsWith("/manual")) return new Response(new Uint8Array([1, 2]), { headers, encodeBody: "manual" });
		return new Response("plain text", { headers });`), web.Options{})
	get := func(path, accept string) (webtest.Reply, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		r.Header.Set("Accept-Encoding", accept)
		return w.Do(r)
	}
	resp, body := get("/", "gzip")
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); string(b) != "plain text" || err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("gzip: %v %q", resp, b)
	}
	if resp, body := get("/", "identity"); body != "plain text" || resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("identity: %v %q", resp, body)
	}
	if _, body := get("/manual", "gzip"); body != "\x01\x02" {
		t.Errorf("manual: %q", body)
	}
}
