package node_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/web"
)

// newPeer answers the requests of a client.
func newPeer() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		head := map[string]string{}
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-") || name == "Authorization" || name == "Content-Type" || name == "Cookie" {
				head[name] = strings.Join(values, "|")
			}
		}
		_ = json.NewEncoder(w).Encode([]any{r.Method, r.RequestURI, head, r.ContentLength, string(body)})
	})
	mux.HandleFunc("/cookies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Set-Cookie"] = []string{"a=1; Path=/", "b=2"}
		w.Header()["X-Many"] = []string{"1", "2"}
		w.WriteHeader(http.StatusCreated)
	})
	mux.HandleFunc("/go", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/echo")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, "moved")
	})
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/same", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"1"`)
		w.WriteHeader(http.StatusNotModified)
	})
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "none", http.StatusNotFound) })
	mux.HandleFunc("/zipped", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, "plain")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "zipped")
		_ = z.Close()
	})
	mux.HandleFunc("/pieces", func(w http.ResponseWriter, r *http.Request) { // echoes each piece when it has come
		rc := http.NewResponseController(w)
		_ = rc.EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		_ = rc.Flush()
		piece := make([]byte, 1<<16)
		for {
			n, err := r.Body.Read(piece)
			_, _ = w.Write(piece[:n])
			_ = rc.Flush()
			if err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/begun", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
	})
	mux.HandleFunc("/drop", func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") })
	return mux
}

// hijack sends text in place of an answer and closes the connection.
func hijack(w http.ResponseWriter, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, text)
	_ = conn.Close()
}

// exchanges are the functions that testdata/exchanges.list uses.
const exchanges = `
import * as http from "node:http";
function hear(source, name, events, seen) {
  for (const event of events) source.on(event, (error) => seen.push([name, event, error?.code].filter(Boolean).join(" ")));
}
// The events of a request until it is closed; act gets it before it is sent.
function events(given, act = (req) => req.end(), read = (res) => res.resume()) {
  const seen = [];
  return new Promise((resolve) => {
    const req = http.request(...[given].flat());
    hear(req, "req", ["socket", "finish", "response", "timeout", "abort", "error", "close"], seen);
    req.on("response", (res) => { hear(res, "res", ["end", "aborted", "error", "close"], seen); read(res, req); });
    req.on("close", () => setTimeout(() => resolve(seen), 20));
    act(req);
  });
}
// The answer to a request: its status, its head without the headers that depend on the server, and its text.
function answer(given, act = (req) => req.end()) {
  return new Promise((resolve, reject) => {
    const req = http.request(...[given].flat(), async (res) => {
      let text = "";
      for await (const piece of res) text += piece;
      const { date, connection, "keep-alive": _, "transfer-encoding": __, "content-length": ___, ...head } = res.headers;
      resolve([res.statusCode, res.statusMessage, head, text.startsWith("[") ? JSON.parse(text) : text]);
    });
    req.on("error", reject);
    act(req);
  });
}
const to = (path, more) => ({ hostname: "127.0.0.1", port: new URL(at).port, path, ...more });
`

// TestClientExchanges sends requests to a server and compares the events with those of Node.js 22.
func TestClientExchanges(t *testing.T) {
	peer := httptest.NewServer(newPeer())
	defer peer.Close()
	code := exchanges + fmt.Sprintf("const at = %q;\n", peer.URL)
	table(t, "testdata/exchanges.list", code, pagesruntime.WorkerOptions{
		Web: web.Options{AllowFetch: []string{"127.0.0.1", "127.0.0.1:1"}},
	})
}

// TestClientIsFetch sees that a request is one of fetch: it is counted and
// guarded.
func TestClientIsFetch(t *testing.T) {
	peer := httptest.NewServer(newPeer())
	defer peer.Close()
	code := exchanges + fmt.Sprintf("const at = %q;\n", peer.URL) + `export default { async fetch() {
  const failure = (error) => error.message;
  const counted = await answer(at + "/missing");
  const refused = await answer("http://localhost:9999/").catch(failure);
  return Response.json([counted, refused, await answer(at + "/echo").catch(failure)]);
} };`
	w := start(t, code, pagesruntime.WorkerOptions{
		Web: web.Options{AllowFetch: []string{"127.0.0.1"}}, Limits: pagesruntime.Limits{SubRequests: 2},
	})
	got := get(t, w, "/")
	for _, want := range []string{
		`"none\n"`, `is refused: its address belongs to this machine; --allow-fetch`,
		`Too many subrequests: limits.subRequests allows 2`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestClientBody: a body that fetch would leave out is an error, and an empty piece of
// one is none.
func TestClientBody(t *testing.T) {
	peer := httptest.NewServer(newPeer())
	defer peer.Close()
	code := exchanges + fmt.Sprintf("const at = %q;\n", peer.URL) + `export default { async fetch() {
  const sent = (method, ...pieces) => answer(to("/echo", { method }),
    (req) => { for (const piece of pieces) req.write(piece); req.end(); }).then(([status]) => status, (error) => error.code);
  return Response.json([await sent("GET", "x"), await sent("HEAD", "x", "y"), await sent("GET", ""), await sent("DELETE", "x")]);
} };`
	w := start(t, code, pagesruntime.WorkerOptions{Web: web.Options{AllowFetch: []string{"127.0.0.1"}}})
	if got, want := get(t, w, "/"), `["ERR_HTTP_BODY_NOT_ALLOWED","ERR_HTTP_BODY_NOT_ALLOWED",200,200]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAbsentOptions: options that a Worker cannot fulfil are refused by name, after a check of their type; those without an effect here
// are taken.
func TestAbsentOptions(t *testing.T) {
	w := start(t, `import { createServer, request } from "node:http";
const tried = (f) => { try { f(); return "taken"; } catch (e) { return e.code + ": " + e.message; } };
const asked = (options) => tried(() => request({ host: "a.test", ...options }).on("error", () => {}).destroy());
export default { fetch() { return Response.json([
  asked({ lookup() {} }), asked({ createConnection() {} }), asked({ socketPath: "/x" }), asked({ maxHeaderSize: 1 }),
    asked({ lookup: 1 }).slice(0, 20),
  tried(() => createServer({ maxHeaderSize: 1 })), tried(() => createServer({ keepAliveTimeout: 1 })),
  tried(() => createServer({ keepAliveTimeout: -1 })).slice(0, 16),
  asked({ localAddress: "127.0.0.1", family: 4, insecureHTTPParser: false }),
  tried(() => createServer({ requestTimeout: 0, noDelay: true })),
].join("\n").split("\n")); } };`, pagesruntime.WorkerOptions{})
	refused := func(name string) string {
		return "ERR_OPTION_NOT_IMPLEMENTED: the option " + name +
			" of node:http cannot be set in a Worker: the platform manages connections, header limits " +
			"and informational responses; remove it"
	}
	want := []string{
		refused("lookup"), refused("createConnection"), refused("socketPath"), refused("maxHeaderSize"), "ERR_INVALID_ARG_TYPE",
		refused("maxHeaderSize"), refused("keepAliveTimeout"), "ERR_OUT_OF_RANGE", "taken", "taken",
	}
	var got []string
	if err := json.Unmarshal([]byte(get(t, w, "/")), &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v:\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
