package wire_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// cacheDifferences are the results of caches in workerd that differ from the built-in engine's, each with the reason.
var cacheDifferences = map[string]struct{ workerd, why string }{
	"a body without end": {
		`[true,null,"Network connection lost."]`, "the service ends the connection, and workerd has its own words for that",
	},
}

// TestCachesOfWorkerd: the caches of a Worker in workerd store and return the same responses as those of the built-in engine.
func TestCachesOfWorkerd(t *testing.T) {
	snippets := webtest.ReadSnippets(t, filepath.Join("..", "..", "web", "cache", "testdata", "snippets.txt"))
	var code strings.Builder
	code.WriteString("const all = [\n")
	for _, s := range snippets {
		fmt.Fprintf(&code, "async (request) => { %s },\n", s[1])
	}
	code.WriteString(`];
export default { async fetch() {
  const rows = [];
  for (const [index, run] of all.entries()) {
    const request = new Request("http://site.localhost/path?q=1", { method: "POST", body: '{"sent":true}' });
    try { rows.push([String(index), JSON.stringify(await run(request)) ?? "undefined"]); }
    catch (error) { rows.push([String(index), String(error)]); }
  }
  return Response.json(rows);
} };`)
	store := cache.New(cache.Options{})
	t.Cleanup(func() { store.Close() })
	var calls recorder
	s := serve(t, wire.Options{Caches: cache.Handler(store, time.Now), Called: calls.add})
	got := table(t, inWorkerd(t, []byte(code.String()), s)("/"))
	met := map[string]bool{}
	for i, row := range snippets {
		known, differs := cacheDifferences[row[0]]
		met[row[0]] = true
		switch fits := webtest.Fits(got[i][1], row[2]); {
		case differs && fits:
			t.Errorf("%s: the difference is gone", row[0])
		case differs && got[i][1] != known.workerd, !differs && !fits:
			t.Errorf("%s\nworkerd gives %s\nthe isolate   %s", row[0], got[i][1], row[2])
		}
	}
	for name := range cacheDifferences {
		if !met[name] {
			t.Errorf("no snippet is named %q", name)
		}
	}
}

// TestCacheService: the service of caches as a client sees it, and the report of its calls.
func TestCacheService(t *testing.T) {
	var now time.Time
	store := cache.New(cache.Options{})
	t.Cleanup(func() { store.Close() })
	var calls recorder
	s := serve(t, wire.Options{
		Token: "secret", Called: calls.add,
		Caches: cache.Handler(store, func() time.Time { return now }),
	})
	const day = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\nConnection: close\r\nX-A: b\r\n\r\n"
	now = time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		name, line, body string
		headers          []string
		after            time.Duration
		want             string
	}{
		{"a miss", "GET http://c.test/a", "", nil, 0, "504 MISS  \"\" match /a"},
		{"a put", "PUT http://c.test/a", day + "body", nil, 0, "204   \"\" put /a"},
		{"a match", "GET http://c.test/a", "", nil, 10 * time.Second, "200 HIT 10 \"body\" match /a"},
		{"of another URL", "GET http://c.test/a?", "", nil, 0, "504 MISS  \"\" match /a?"},
		{"of another cache", "GET http://c.test/a", "", []string{"CF-Cache-Namespace: n%20%C3%BC"}, 0, "504 MISS  \"\" match n ü /a"},
		{"a part", "GET http://c.test/a", "", []string{"Range: bytes=1-2"}, 0, "206 HIT 10 \"od\" match /a"},
		{"no such part", "GET http://c.test/a", "", []string{"Range: bytes=9-"}, 0, "416 HIT 10 \"\" match /a"},
		{
			"a response that is not stored", "PUT http://c.test/b", "HTTP/1.1 500 No\r\n\r\n", nil, 0,
			"413   \"\" put /b the response for http://c.test/b is not kept: responses with status 500 are not kept",
		},
		{
			"too much", "PUT http://c.test/b", day + strings.Repeat("x", 16<<20+1), nil, 0,
			"413   \"\" put /b the response for http://c.test/b is not kept: it is larger than 16 MiB",
		},
		{"no head", "PUT http://c.test/b", "body", nil, 0, "400   \"the response to store has no head\\n\" put /b"},
		{
			"no encoding", "PUT http://c.test/b",
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nCache-Control: max-age=9\r\n\r\nplain", nil, 0,
			"400   \"the response to store broke off\\n\" put /b",
		},
		{"no URL", "GET /a", "", nil, 0, "400   \"the request names no URL, or no cache\\n\" match /a"},
		{
			"no name", "GET http://c.test/a", "",
			[]string{"CF-Cache-Namespace: %"},
			0,
			"400   \"the request names no URL, or no cache\\n\" match /a",
		},
		{"another method", "POST http://c.test/a", "", nil, 0, "405   \"a cache has GET, PUT and PURGE\\n\" POST /a"},
		{"its end", "GET http://c.test/a", "", nil, 50 * time.Second, "504 MISS  \"\" match /a"},
		{"another put", "PUT http://c.test/a", day, nil, 0, "204   \"\" put /a"},
		{"a delete", "PURGE http://c.test/a", "", nil, 0, "200   \"\" delete /a"},
		{"one more", "PURGE http://c.test/a", "", nil, 0, "404   \"\" delete /a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now = now.Add(c.after)
			status, header, body := exchange(t, s, post(c.line, "cache", c.body, c.headers...))
			last := calls.last()
			about := strings.TrimSpace(last.Binding + " " + strings.TrimPrefix(last.URL, "http://c.test"))
			got := strings.TrimSpace(fmt.Sprintf("%.3s %s %s %q %s %s %s", status, header.Get("CF-Cache-Status"), header.Get("Age"), body,
				last.Method, about, last.Err))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
