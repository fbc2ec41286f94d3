package cache_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/cache"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestCacheShape(t *testing.T) {
	webtest.Shapes(t, "Cache/0: add/0 addAll/0 delete/1 keys/0 match/1 matchAll/0 put/2",
		"CacheStorage/0: default delete/0 has/0 keys/0 match/0 open/1")
}

// The caches store and return responses as on the platform.
func TestCache(t *testing.T) {
	webtest.Try(t, web.Options{}, webtest.ReadSnippets(t, filepath.Join("testdata", "snippets.txt")))
}

// A response stays for its lifetime, and for the next request.
func TestCacheExpires(t *testing.T) {
	var now atomic.Int64
	w := webtest.Serve(t, `export default { async fetch(request) {
	  const url = "https://c.test/";
	  if (request.method === "POST") { await caches.default.put(url, new Response("x", { headers: { "cache-control": "max-age=60" } }));
	    return new Response("put"); }
	  const found = await caches.default.match(url);
	  return new Response(found ? "age " + found.headers.get("age") : "none");
	} };`, web.Options{Now: func() time.Time { return time.Unix(1_800_000_000+now.Load(), 0) }})
	post := func() {
		t.Helper()
		if _, got := w.Do(httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/", nil)); got != "put" {
			t.Fatal(got)
		}
	}
	post()
	for _, c := range []struct {
		after int64
		want  string
	}{{0, "age 0"}, {59, "age 59"}, {60, "none"}, {61, "none"}} {
		now.Store(c.after)
		if _, got := w.Get("/"); got != c.want {
			t.Errorf("after %d s: %s, want %s", c.after, got, c.want)
		}
	}
}

// The caches hold no more than they may; the most recently used responses stay.
func TestCacheBound(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{{"the least used goes", `
	const put = (n, size) => caches.default.put("https://c.test/" + n,
		new Response(new Uint8Array(size), { headers: { "cache-control": "max-age=60" } }));
	const has = async (n) => !!await caches.default.match("https://c.test/" + n);
	const mega = 1 << 20;
	for (let n = 0; n < 5; n++) { await put(n, 15 * mega); await has(0); }
	await put("large", 17 * mega);
	return [await has(0), await has(1), await has(2), await has(4), await has("large")];`, `[true,false,true,true,false]`}})
}

// openCaches are caches in a database of the folder.
func openCaches(t testing.TB, dir string) *cache.Store {
	t.Helper()
	return cache.New(cache.Options{Open: func(context.Context) (*sql.DB, error) {
		const options = "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate"
		return sql.Open("sqlite", "file:"+filepath.Join(dir, "cache.db")+options)
	}})
}

// Cached responses stay for the next Worker, and after a restart.
func TestCachePersists(t *testing.T) {
	dir := t.TempDir()
	var now atomic.Int64
	o := web.Options{Now: func() time.Time { return time.Unix(1_800_000_000+now.Load(), 0) }}
	const code = `export default { async fetch(request) {
	  const { pathname, search } = new URL(request.url), cache = search ? await caches.open(search) : caches.default;
	  const url = "https://c.test" + pathname;
	  if (request.method === "PUT") { await cache.put(url, new Response(request.body, {
	    headers: { "cache-control": "max-age=60", "x-a": "é", etag: '"e"' } })); return new Response("put"); }
	  if (request.method === "DELETE") return new Response(String(await cache.delete(url)));
	  const found = await cache.match(new Request(url, { headers: request.headers }));
	  return found ? new Response(await found.arrayBuffer(), {
	    status: found.status === 304 ? 299 : found.status, headers: { age: found.headers.get("age"), etag: found.headers.get("etag") }
	    }) : new Response("none");
	} };`
	start := func() (*webtest.Worker, *cache.Store) {
		o := o
		o.Caches = openCaches(t, dir)
		return webtest.Serve(t, code, o), o.Caches
	}
	do := func(w *webtest.Worker, method, path, body string, header ...string) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, got := w.Do(r)
		return fmt.Sprint(resp.StatusCode, " ", got, " ", resp.Header.Get("Age"))
	}
	expect := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	binary := "\x00\xff" + strings.Repeat("x", 100_000)
	w, caches := start()
	do(w, "PUT", "/a", "one")
	do(w, "PUT", "/a", "two")
	do(w, "PUT", "/a?named", "named")
	do(w, "PUT", "/b", binary)
	do(w, "PUT", "/empty", "")
	do(w, "PUT", "/gone", "x")
	expect(do(w, "DELETE", "/gone", ""), "200 true ")
	expect(do(w, "DELETE", "/gone", ""), "200 false ")
	now.Store(10)
	do(w, "PUT", "/late", "late")
	// Another Worker with the same caches, as after an edit.
	o.Caches = caches
	expect(do(webtest.Serve(t, code, o), "GET", "/a", ""), "200 two 10")
	if err := caches.Close(); err != nil {
		t.Fatal(err)
	}

	w, caches = start()
	expect(do(w, "GET", "/a", ""), "200 two 10")
	expect(do(w, "GET", "/a", ""), "200 two 10")
	expect(do(w, "GET", "/a?named", ""), "200 named 10")
	expect(do(w, "GET", "/a?other", ""), "200 none ")
	expect(do(w, "GET", "/b", ""), "200 "+binary+" 10")
	expect(do(w, "GET", "/b", "", "Range", "bytes=1-3"), "206 \xffxx 10")
	expect(do(w, "GET", "/a", "", "If-None-Match", `"e"`), "299  10")
	expect(do(w, "GET", "/empty", ""), "200  10")
	expect(do(w, "GET", "/gone", ""), "200 none ")
	now.Store(60)
	expect(do(w, "GET", "/a", ""), "200 none ")
	if err := caches.Close(); err != nil {
		t.Fatal(err)
	}
	w, caches = start()
	expect(do(w, "GET", "/a", ""), "200 none ")
	expect(do(w, "GET", "/late", ""), "200 late 50")
	if err := caches.Close(); err != nil {
		t.Fatal(err)
	}
}

// A database holds no more than memory does; after a restart the oldest responses go first.
func TestCachePersistsBound(t *testing.T) {
	dir := t.TempDir()
	const code = `export default { async fetch(request) {
	  const { pathname } = new URL(request.url), url = "https://c.test" + pathname;
	  if (request.method === "PUT") { await caches.default.put(url,
	    new Response(new Uint8Array(15 << 20), { headers: { "cache-control": "max-age=60" } })); return new Response("put"); }
	  return new Response(String(!!await caches.default.match(url)));
	} };`
	var now atomic.Int64
	run := func(requests ...string) (answers string) {
		caches := openCaches(t, dir)
		w := webtest.Serve(t, code, web.Options{Caches: caches, Now: func() time.Time { return time.Unix(1_800_000_000, now.Add(1e6)) }})
		for _, request := range requests {
			method, path, _ := strings.Cut(request, " ")
			_, got := w.Do(httptest.NewRequestWithContext(t.Context(), method, w.URL+path, nil))
			answers += " " + got
		}
		if err := caches.Close(); err != nil {
			t.Fatal(err)
		}
		return answers
	}
	run("PUT /0", "PUT /1", "PUT /2", "PUT /3")
	if got := run("PUT /4", "GET /0", "GET /1", "GET /4"); got != " put false true true" {
		t.Errorf("after the fifth:%s", got)
	}
	if got := run("GET /0", "GET /1", "GET /2", "GET /3", "GET /4"); got != " false true true true true" {
		t.Errorf("after a restart:%s", got)
	}
}

// A database that cannot be used costs the restart, and nothing else.
func TestCacheWithoutDatabase(t *testing.T) {
	for name, open := range map[string]func(context.Context) (*sql.DB, error){
		"none":    func(context.Context) (*sql.DB, error) { return nil, errors.New("no room") },
		"damaged": func(context.Context) (*sql.DB, error) { return sql.Open("sqlite", "file:cache_test.go?mode=ro") },
	} {
		caches := cache.New(cache.Options{Open: open})
		w := webtest.Serve(t, `export default { async fetch() {
		  await caches.default.put("https://c.test/", new Response("x", { headers: { "cache-control": "max-age=60" } }));
		  return caches.default.match("https://c.test/");
		} };`, web.Options{Caches: caches})
		if _, got := w.Get("/"); got != "x" {
			t.Errorf("%s: %s", name, got)
		}
		if err := caches.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
