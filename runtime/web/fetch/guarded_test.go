package fetch_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// ways are the ways of a Worker to reach a URL. Each returns the error's text, or "reached".
const ways = `
const text = (e) => String(e?.message ?? e);
const ways = {
  fetch: (url) => fetch(url).then(() => "reached", text),
  found: (url, hop) => fetch(hop + "/to?status=302&url=" + encodeURIComponent(url)).then(() => "reached", text),
  kept: (url, hop) => fetch(hop + "/to?status=307&url=" + encodeURIComponent(url), { method: "POST", body: "x" }).then(() => "reached",
    text),
  again: (url, hop) => fetch(hop + "/to?status=301&url=" + encodeURIComponent(hop + "/to?status=308&url=" +
    encodeURIComponent(url))).then(() => "reached", text),
  upgrade: (url) => fetch(url, { headers: { upgrade: "websocket" } }).then(() => "reached", text),
  socket: (url) => new Promise((resolve) => {
    try {
      const ws = new WebSocket(url.replace(/^http/, "ws"));
      ws.addEventListener("open", () => resolve("reached"));
      ws.addEventListener("error", (e) => resolve(text(e)));
    } catch (e) { resolve(text(e)); }
  }),
  events: (url) => new Promise((resolve) => {
    try {
      const source = new EventSource(url);
      source.onopen = () => { source.close(); resolve("reached"); };
      source.onerror = () => { source.close(); resolve("the address of an EventSource is refused"); };
    } catch (e) { resolve(text(e)); }
  }),
};`

// deniedHosts are hosts that no Worker reaches, with a port in the place of {P}.
func deniedHosts(t *testing.T, port string) (hosts []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hosts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "# ") {
			hosts = append(hosts, strings.ReplaceAll(line, "{P}", port))
		}
	}
	return hosts
}

var refusals = []string{
	"is refused: its address", "is refused: port", "Invalid URL", "The url is invalid", "The URL is invalid",
	"The url fragment must be empty", "malformed URL", "holds a user name", "is refused",
}

func isRefusal(text string) bool {
	return slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(text, r) })
}

// A denied address is refused before a packet is sent, in any spelling and by any way of the Worker. An exception for one port or hop opens
// no other.
func TestGuardedWays(t *testing.T) {
	var hits atomic.Int64
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	t.Cleanup(victim.Close)
	port := victim.URL[strings.LastIndex(victim.URL, ":"):]
	hop, _ := webtest.Backend(t)
	w := webtest.Serve(t, ways+webtest.Handler(`
		const { way, urls, hop } = await request.json(), all = await Promise.all(urls.map((url) => ways[way](url, hop)));
		return new Response(all.join("\n"));`), web.Options{AllowFetch: []string{strings.TrimPrefix(hop, "http://")}, SubRequests: 1000})
	var urls []string
	for _, host := range deniedHosts(t, port) {
		urls = append(urls, "http://"+host)
	}
	urls = append(urls, "https://127.0.0.1"+port, "https://localhost"+port)
	run := func(way, urls string) string {
		body := strings.NewReader(fmt.Sprintf(`{"way":%q,"hop":%q,"urls":%s}`, way, hop, urls))
		_, got := w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/", body))
		return got
	}
	for _, way := range []string{"fetch", "found", "kept", "again", "upgrade", "socket", "events"} {
		t.Run(way, func(t *testing.T) {
			for batch := range slices.Chunk(urls, 24) { // a request has so many WebSockets
				body := run(way, quoted(batch))
				texts := strings.Split(body, "\n")
				if len(texts) != len(batch) {
					t.Fatalf("%s: %q", way, body)
				}
				for i, text := range texts {
					if !isRefusal(text) {
						t.Errorf("%s of %s: %s", way, batch[i], text)
					}
				}
			}
		})
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached a denied address", n)
	}
	if body := run("fetch", quoted([]string{hop + "/none"})); body != "reached" {
		t.Errorf("the allowed host: %s", body)
	}
}

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		fmt.Fprintf(&b, "%s%q", map[bool]string{true: "["}[i == 0], s)
		b.WriteString(map[bool]string{true: "]", false: ","}[i == len(list)-1])
	}
	return b.String()
}

// No other scheme is fetched, at once or after a redirect.
func TestGuardedSchemes(t *testing.T) {
	url, _ := webtest.Backend(t)
	var list []webtest.Snippet
	for _, target := range []string{
		"file:///etc/passwd", "unix:///var/run/docker.sock", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "http+unix://%2Frun%2Fx/",
		"ws://127.0.0.1/", "wss://127.0.0.1/",
		"blob:https://a.test/x", "about:blank", "chrome://x/", "javascript:alert(1)", "jar:http://a.test!/", "view-source:http://a.test",
		"//127.0.0.1/", "/x", "mailto:a@b.test",
	} {
		list = append(list, webtest.Snippet{
			target,
			fmt.Sprintf("await fetch(%q)", target),
			`/TypeError: (Fetch API cannot load|Invalid URL|fetch to "http.unix.* invalid URL escape)/`,
		})
	}
	for _, target := range []string{
		"file:///etc/passwd", "data:,x", "javascript:alert(1)", "ftp://127.0.0.1/", "unix:///x", "ws://127.0.0.1/", "http://[bad",
		"about:blank",
	} {
		list = append(list, webtest.Snippet{"redirect to " + target, fmt.Sprintf(`await fetch("{B}/to?status=302&url=" +
			encodeURIComponent(%q))`, target), `/TypeError: .* was redirected to/`})
	}
	list = append(list, webtest.Snippet{
		"redirects without end", `await fetch("{B}/loop")`, `TypeError: Too many redirects: fetch followed 20`,
	})
	list, allow := webtest.At(url, list)
	webtest.Try(t, web.Options{AllowFetch: allow, SubRequests: 50}, list)
}

// The headers of a fetch are the Worker's, the framing and the connection are not.
func TestFetchHeaders(t *testing.T) {
	var seen atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen.Store(fmt.Sprintf("%s %s host=%s te=%v len=%d close=%v trailer=%v %v body=%s",
			r.Method, r.RequestURI, r.Host, r.TransferEncoding, r.ContentLength, r.Close, r.Trailer, r.Header, b))
		fmt.Fprint(w, seen.Load())
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	list, allow := webtest.At(server.URL, []webtest.Snippet{
		{
			"headers of the connection",
			`return await (await fetch("{B}/", { method: "POST", body: "four", headers: {
				host: "evil.test", connection: "close, x-kept", "content-length": "400", "transfer-encoding": "chunked", te: "trailers",
				trailer: "x", upgrade: "h2c", "keep-alive": "1", "proxy-authorization": "p", "proxy-connection": "q",
				"proxy-authenticate": "r", expect: "100-continue", "cf-connecting-ip": "1.2.3.4", "x-kept": "1" } })).text()`,
			`"POST / host=` + host + ` te=[] len=4 close=false trailer=map[] ` +
				`map[Accept-Encoding:[br, gzip] Content-Length:[4] Content-Type:[text/plain;charset=UTF-8] X-Kept:[1]] body=four"`,
		},
		{
			"malformed values",
			`const all = [];
				for (const value of ["a\r\nx: y", "a\nb", "a\rb", "a\0b"]) for (const make of [(v) => new Headers({ a: v }),
				(v) => new Request("{B}", { headers: [["a", v]] }), (v) => new Headers().append("a", v)]) {
				try { make(value); all.push(value); } catch (e) { if (!(e instanceof TypeError)) all.push(e); } } return all`,
			`[]`,
		},
		{
			"malformed names",
			`const all = []; for (const name of ["a b", "a:b", "a\r\nb", "a\n", "é", "a\0"]) { try { new Headers([[name, "v"]]);
				all.push(name); } catch (e) { if (!(e instanceof TypeError)) all.push(e); } } return all`,
			`[]`,
		},
		{
			"malformed methods",
			`const all = [];
				for (const method of ["GET /x HTTP/1.1\r\nA:b\r\n\r\nGET", "A B", "", "GÉT", "A\n", "CONNECT", "TRACE", "track"]) {
				try { await fetch("{B}/", { method }); all.push(method); } catch (e) { if (!(e instanceof TypeError)) all.push(e);
				} } return all`,
			`[]`,
		},
		{
			"line ends in a URL",
			`return (await (await fetch("{B}/a b\r\nc\t%0d%0a?d e\r\nf")).text()).split(" host")[0]`,
			`"GET /a%20bc%0d%0a?d%20ef"`,
		},
		// Sent, on a connection of its own; this server does not take them.
		{
			"control characters in a value",
			`const r = await fetch("{B}/", { headers: { a: "\x01\x7f" } }); return [r.status, await r.text()]`,
			`[400,"400 Bad Request"]`,
		},
	})
	webtest.Try(t, web.Options{AllowFetch: allow}, list)
}

// A request has a number of subrequests, with any outcome and in any order.
func TestSubRequestsAreExact(t *testing.T) {
	url, hits := webtest.Backend(t)
	for _, c := range []struct {
		name  string
		limit int
		code  string // gives how many came through
		hits  int64
	}{
		{
			"the default",
			0,
			`(await Promise.allSettled(Array.from({ length: 21 },
				() => fetch("{B}/none")))).filter((r) => r.status === "fulfilled").length === 20`,
			20,
		},
		{
			"all at once",
			50,
			`(await Promise.allSettled(Array.from({ length: 60 },
				() => fetch("{B}/none")))).filter((r) => r.status === "fulfilled").length === 50`,
			50,
		},
		{
			"refused connections",
			50,
			`(await Promise.allSettled(Array.from({ length: 51 },
				() => fetch("http://127.0.0.1:1/")))).filter((r) => /Too many subrequests/.test(r.reason)).length === 1`,
			0,
		},
		{
			"redirects",
			50,
			`(await Promise.allSettled(Array.from({ length: 30 },
				() => fetch("{B}/to?status=302&url=/none")))).filter((r) => r.status === "fulfilled").length <= 25`,
			50,
		},
		{
			"a redirect twice",
			4,
			`(await fetch("{B}/to?status=302&url=" + encodeURIComponent("/to?status=302&url=/none"))).status === 204 &&
				(await Promise.allSettled([fetch("{B}/none"),
				fetch("{B}/none")])).map((r) => r.status).sort().join() === "fulfilled,rejected"`,
			4,
		},
		{
			"upgrades",
			2,
			`await (async () => { await fetch("{B}/none"); await fetch("{B}/none", { headers: { upgrade: "websocket" } }).catch(() => {});
				return fetch("{B}/none").then(() => false, (e) => e.message.includes("Too many subrequests")); })()`,
			2,
		},
		{
			"data: URLs",
			2,
			`await (async () => { await fetch("{B}/none"); await fetch("data:,x"); await fetch("{B}/none");
				return fetch("{B}/none").then(() => false, () => true); })()`,
			2,
		},
		{
			"an aborted request",
			1,
			`await (async () => { const c = new AbortController(); const p = fetch("{B}/slow", { signal: c.signal }).catch(() => {});
				c.abort(); await p; return fetch("{B}/none").then(() => false, () => true); })()`,
			-1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			hits.Store(0)
			w := webtest.Serve(t, webtest.Handler(`return new Response(String(`+strings.ReplaceAll(c.code, "{B}", url)+`));`), web.Options{
				AllowFetch: []string{"127.0.0.1:1", strings.TrimPrefix(url, "http://")}, SubRequests: c.limit,
			})
			if _, body := w.Get("/"); body != "true" || c.hits >= 0 && hits.Load() != c.hits {
				t.Errorf("%d: %s: %s, %d hits", c.limit, c.code, body, hits.Load())
			}
		})
	}
}

// Answers without end, or that grow without end, take no memory without end.
func TestAnswersAreBounded(t *testing.T) {
	testmachine.Unraced(t)
	const gigabyte = 1 << 30
	zeros := make([]byte, 1<<20)
	mux := http.NewServeMux()
	mux.HandleFunc("/gigabyte", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(gigabyte))
		for range gigabyte / len(zeros) {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range gigabyte / len(zeros) {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		z.Close()
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	mux.HandleFunc("/heads", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 4000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("v", 100))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w := webtest.Serve(t, webtest.Handler(`
		const { path, read } = Object.fromEntries(new URL(request.url).searchParams), url = "`+server.URL+`" + path;
		try {
			if (read === "abort") await (await fetch(url, { signal: AbortSignal.timeout(50) })).text();
			else if (read === "first") { const r = await fetch(url); await r.body.getReader().read(); await 0; }
			else await (await fetch(url))[read]();
			return new Response("read");
		} catch (error) { return new Response(error.name + ": " + error.message); }`), web.Options{
		AllowFetch: []string{strings.TrimPrefix(server.URL, "http://")},
	})
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	for query, want := range map[string]string{
		"?path=/gigabyte&read=text": "", "?path=/gigabyte&read=arrayBuffer": "", "?path=/endless&read=bytes": "",
		"?path=/endless&read=json": "",
		"?path=/bomb&read=text":    "", "?path=/bomb&read=blob": "", "?path=/drip&read=abort": "TimeoutError",
		"?path=/drip&read=first": "read", "?path=/endless&read=first": "read",
		"?path=/heads&read=text": "Error: Network connection lost.",
	} {
		t.Run(query, func(t *testing.T) {
			_, body := w.Get("/" + query)
			if want == "" && (body == "read" || body == "") || !strings.HasPrefix(body, want) {
				t.Errorf("%s: %s", query, body)
			}
			t.Log(query, body)
		})
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 900<<20 {
		t.Errorf("the process grew by %d MB", grown>>20)
	}
}
