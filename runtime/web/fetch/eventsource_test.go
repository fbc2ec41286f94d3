package fetch_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestEventSourceShape(t *testing.T) {
	webtest.Shapes(t, "EventSource/1 < EventTarget: CLOSED:2 CONNECTING:0 OPEN:1 close/0 onerror= onmessage= onopen= readyState url "+
		"withCredentials static CLOSED:2 static CONNECTING:0 static OPEN:1 static from/1")
}

// Event streams, by the rules of the HTML standard.
func TestEventSourceParsing(t *testing.T) {
	const read = `const read = (...pieces) => new Promise((done) => {
  const seen = [], source = EventSource.from(new ReadableStream({
    start(c) { for (const p of pieces) c.enqueue(typeof p === "string" ? new TextEncoder().encode(p) : p); c.close(); } }));
  for (const type of ["message", "mine"]) source.addEventListener(type, (e) => seen.push([e.type, e.data, e.lastEventId]));
  source.onerror = () => done(seen);
});`
	cases := []webtest.Snippet{
		{"a message", `return read("data: a\n\n");`, `[["message","a",""]]`},
		{"line ends", `return read("data:a\r\rdata: b\r\n\r\n");`, `[["message","a",""],["message","b",""]]`},
		{"a line end in two pieces", `return read("data:a\r", "\ndata: b\r", "\n\r\n");`, `[["message","a\nb",""]]`},
		{"a byte order mark", `return read("\ufeffdata: bom\n\n");`, `[["message","bom",""]]`},
		{
			"comments and unknown fields",
			`return read(":comment\ndata\ndata:\n\ndata:  two\nunknown: x\n\n");`,
			`[["message","\n",""],["message"," two",""]]`,
		},
		{
			"events and ids",
			`return read("event: mine\nid: 7\ndata: x\n\ndata: y\n\nid\ndata: z\n\n");`,
			`[["mine","x","7"],["message","y","7"],["message","z",""]]`,
		},
		{"an id with NUL", `return read("id: 1\u0000\ndata: x\n\nevent: mine\n\ndata: y\n\n");`, `[["message","x",""],["message","y",""]]`},
		{"a message without an end", `return read("data: lost");`, `[]`},
		{
			"a character in two pieces",
			`const e = new TextEncoder().encode("data: é\n\n"); return read(e.slice(0, 7), e.slice(7));`,
			`[["message","é",""]]`,
		},
		{
			"members",
			`const s = EventSource.from(new ReadableStream()); const before = s.readyState; s.close();
				return [before, s.readyState, s.url, s.withCredentials];`,
			`[0,2,"",false]`,
		},
		{"from a string", `EventSource.from("x");`, `/^TypeError/`},
		{"no URL", `new EventSource();`, `/^TypeError/`},
		{"a malformed URL", `new EventSource("nope");`, `/^SyntaxError/`},
	}
	for i := range cases {
		cases[i][1] = read + cases[i][1]
	}
	webtest.Try(t, web.Options{}, cases)
}

// A stream that ends is opened again at its last event; a refused one is not.
func TestEventSourceConnects(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusNoContent)
			return
		case "/html":
			w.Header().Set("Content-Type", "text/html")
		default:
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		fmt.Fprintf(w, "retry: 1\nid: next\ndata: %s %s\n\n", r.Header.Get("Accept"), r.Header.Get("Last-Event-Id"))
	}))
	defer server.Close()
	webtest.Try(t, web.Options{AllowFetch: []string{strings.TrimPrefix(server.URL, "http://")}}, []webtest.Snippet{
		{
			"a stream opened again",
			`const seen = [], source = new EventSource("` + server.URL + `/"); seen.push(source.readyState);
		await new Promise((done) => { source.onopen = () => seen.push("open", source.readyState);
			source.onerror = () => seen.push("error", source.readyState);
			source.onmessage = (e) => { seen.push(e.data, e.origin === new URL(source.url).origin); if (seen.length > 6) done(); }; });
		source.close(); return [seen, source.readyState];`,
			`[[0,"open",1,"text/event-stream ",true,"error",0,"open",1,"text/event-stream next",true],2]`,
		},
		{
			"status 204",
			`const source = new EventSource("` + server.URL + `/refused"); await new Promise((done) => { source.onerror = done; });
				return source.readyState;`,
			`2`,
		},
		{
			"an HTML page",
			`const source = new EventSource("` + server.URL + `/html"); await new Promise((done) => { source.onerror = done; });
				return source.readyState;`,
			`2`,
		},
	})
}
