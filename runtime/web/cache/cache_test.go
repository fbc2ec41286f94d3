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

// What the caches keep, and what they give: as the platform does.
func TestCache(t *testing.T) {
	const tools = `const cache = caches.default, url = "https://c.test/" + crypto.randomUUID(), day = { "cache-control": "max-age=86400" };
const kept = async (init, body = "x", headers = {}) => { await cache.put(new Request(url, { headers }), new Response(body, init));
		const r = await cache.match(url); return r ? r.status : "none"; };
const seen = async (headers = {}, method = "GET", options) => { const r = await cache.match(new Request(url, { headers, method }), options);
		return r && [r.status, await r.text(), r.headers.get("content-range")]; };
`
	cases := []webtest.Snippet{
		{
			"statuses",
			`const out = {}; for (const status of [200, 201, 204, 301, 302, 303, 404, 410, 500, 503]) { await cache.delete(url);
				out[status] = await kept({ status, headers: day }, status === 204 ? null : "x"); } return out;`,
			`{"200":200,"201":"none","204":"none","301":301,"302":302,"303":303,"404":404,"410":410,"500":"none","503":"none"}`,
		},
		{"no cache-control", `return kept({});`, `"none"`},
		{"public", `return kept({ headers: { "cache-control": "public" } });`, `"none"`},
		{"private", `return kept({ headers: { "cache-control": "private, max-age=60" } });`, `"none"`},
		{"no-store", `return kept({ headers: { "cache-control": "max-age=60, no-store" } });`, `"none"`},
		{"no-cache", `return kept({ headers: { "cache-control": "no-cache, max-age=60" } });`, `"none"`},
		{"max-age=0", `return kept({ headers: { "cache-control": "max-age=0" } });`, `"none"`},
		{"s-maxage over max-age", `return kept({ headers: { "cache-control": "s-maxage=60, max-age=0" } });`, `200`},
		{"a malformed max-age", `return kept({ headers: { "cache-control": "max-age=junk" } });`, `"none"`},
		{"an age over max-age", `return kept({ headers: { ...day, age: "90000" } });`, `"none"`},
		{"expires", `return kept({ headers: { expires: new Date(Date.now() + 60000).toUTCString() } });`, `200`},
		{"a malformed expires", `return kept({ headers: { expires: "0" } });`, `"none"`},
		{"last-modified", `return kept({ headers: { "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT" } });`, `200`},
		{"a cookie", `return kept({ headers: { ...day, "set-cookie": "a=b" } });`, `"none"`},
		{
			"a private cookie",
			`await kept({ headers: { "cache-control": "max-age=60, private=set-cookie", "set-cookie": "a=b" } });
				return (await cache.match(url)).headers.has("set-cookie");`,
			`false`,
		},
		{"a request with authorization", `return kept({ headers: day }, "x", { authorization: "a" });`, `"none"`},
		{
			"authorization and public",
			`return kept({ headers: { "cache-control": "public, max-age=60" } }, "x", { authorization: "a" });`,
			`200`,
		},
		{
			"headers of a hit",
			`await kept({ headers: { ...day, etag: '"e"', "x-a": "b", "content-length": "1" } }, "body");
				const r = await cache.match(url), date = r.headers.get("date"), near = Math.abs(Date.now() - new Date(date)) < 60000 &&
				date.endsWith(" GMT"); return [[...r.headers].filter(([name]) => name !== "date"), near, r.statusText, r.url];`,
			`[[["age","0"],["cache-control","max-age=86400"],["cf-cache-status","HIT"],["content-length","4"],
				["content-type","text/plain;charset=UTF-8"],["etag","\"e\""],["x-a","b"]],true,"OK",""]`,
		},
		{
			"a date that was set",
			`await kept({ headers: { ...day, date: "Mon, 01 Jan 2024 00:00:00 GMT" } });
				return (await cache.match(url)).headers.get("date");`,
			`"Mon, 01 Jan 2024 00:00:00 GMT"`,
		},
		{
			"a second response that is not kept",
			`await kept({ headers: day }, "1"); await kept({ headers: { "cache-control": "no-store" } }, "2"); return (await seen())[1];`,
			`"1"`,
		},
		{"a second response", `await kept({ headers: day }, "1"); await kept({ headers: day }, "2"); return (await seen())[1];`, `"2"`},
		{
			"a stream of bytes",
			`await kept({ headers: day }, ReadableStream.from([new Uint8Array([97]), new Uint8Array([98])]));
				return [await seen(), await seen()];`,
			`[[200,"ab",null],[200,"ab",null]]`,
		},
		{
			"a stream with text",
			`await cache.put(url, new Response(new ReadableStream({ start(c) { c.enqueue("é"); c.enqueue(new Uint8Array([33])); c.close();
				} }), { headers: day })); return (await seen())[1];`,
			`"é!"`,
		},
		{
			"the request's body",
			`await cache.put(url, new Response(request.body, { headers: day })); return (await seen())[1];`,
			`"{\"sent\":true}"`,
		},
		{
			"ranges",
			`await kept({ headers: day }, "0123456789"); return [await seen({ range: "bytes=2-4" }), await seen({ range: "bytes=-3" }),
				await seen({ range: "bytes=8-" }), await seen({ range: "bytes=20-" }), await seen({ range: "junk" }),
				await seen({ range: "bytes=0-1,3-4" })];`,
			`[[206,"234","bytes 2-4/10"],[206,"789","bytes 7-9/10"],[206,"89","bytes 8-9/10"],[416,"","bytes */10"],[416,"","bytes */10"],
				[200,"0123456789",null]]`,
		},
		{
			"conditions",
			`await kept({ headers: { ...day, etag: '"e"', "last-modified": "Wed, 21 Oct 2020 07:28:00 GMT" } }); const all = [];
		for (const h of [{ "if-none-match": '"e"' }, { "if-none-match": 'W/"e"' }, { "if-none-match": '"x"' }, { "if-none-match": "*" }, {
			"if-modified-since": "Wed, 21 Oct 2020 07:28:00 GMT" }, { "if-modified-since": "Wed, 21 Oct 2019 07:28:00 GMT" }, {
			"if-none-match": '"x"', "if-modified-since": "Wed, 21 Oct 2022 07:28:00 GMT" }]) all.push((await seen(h))[0]); return all;`,
			`[304,304,200,304,304,200,200]`,
		},
		{
			"conditions by status",
			`const all = []; for (const status of [200, 203, 301, 404, 410]) { await kept({ status, headers: { ...day, etag: '"e"' } });
				all.push((await seen({ "if-none-match": '"e"' }))[0]); } return all;`,
			`[304,304,301,404,410]`,
		},
		{
			"methods and addresses",
			`await kept({ headers: day }); return [await seen({}, "HEAD"), await seen({}, "POST"),
				(await seen({}, "POST", { ignoreMethod: true }))[0], !!await cache.match(url + "#x"), !!await cache.match(url + "?x")];`,
			`[null,null,200,true,false]`,
		},
		{
			"delete",
			`await kept({ headers: day }); return [await cache.delete(new Request(url, { method: "POST" })), await cache.delete(url),
				await cache.delete(url), await kept({ headers: day }),
				await cache.delete(new Request(url, { method: "POST" }), { ignoreMethod: true })];`,
			`[false,true,false,200,true]`,
		},
		{
			"named caches",
			`const a = await caches.open("a"); await a.put(url, new Response("A", { headers: day }));
				return [!!await a.match(url), !!await (await caches.open("a")).match(url), !!await (await caches.open("b")).match(url),
				!!await cache.match(url), caches.default === cache];`,
			`[true,true,false,false,true]`,
		},
		{"the body is used", `const r = new Response("x", { headers: day }); await cache.put(url, r); return r.bodyUsed;`, `true`},
		{
			"a body without end", // too large to be kept: no more of it is made than tells that
			`let made = 0, why; const endless = new ReadableStream({ pull(c) { made++; c.enqueue(new Uint8Array(2 ** 20));
				}, cancel(reason) { why = reason.message; } });
			await kept({ headers: day }, endless); return [made < 20, await seen(), why];`, `[true,null,
				"the answer is too large for a cache"]`,
		},
		{
			"headers of a hit are immutable",
			`await kept({ headers: day }); (await cache.match(url)).headers.set("a", "b");`,
			`TypeError: Can't modify immutable headers.`,
		},
		{
			"a POST",
			`await cache.put(new Request(url, { method: "POST" }), new Response("x"));`,
			`TypeError: Cannot cache response to non-GET request.`,
		},
		{
			"status 206",
			`await cache.put(url, new Response("x", { status: 206 }));`,
			`TypeError: Cannot cache response to a range request (206 Partial Content).`,
		},
		{
			"vary of everything",
			`await cache.put(url, new Response("x", { headers: { vary: "accept, *" } }));`,
			`TypeError: Cannot cache response with 'Vary: *' header.`,
		},
		{"status 304", `return [await cache.put(url, new Response(null, { status: 304 })), await seen()];`, `[null,null]`},
		{
			"a relative URL",
			`await cache.put("/relative", new Response("x"));`,
			`TypeError: Invalid URL. Cache API keys must be fully-qualified, valid URLs.`,
		},
		{
			"a URL with credentials",
			`await cache.match("https://u:p@a.test/");`,
			`TypeError: Invalid URL. Cache API keys must be fully-qualified, valid URLs.`,
		},
		{
			"ignoreSearch",
			`await cache.match(url, { ignoreSearch: true });`,
			`Error: The 'ignoreSearch' field on 'CacheQueryOptions' is not implemented.`,
		},
		{
			"put without a response",
			`await cache.put(url);`,
			`TypeError: Failed to execute 'put' on 'Cache': parameter 2 is not of type 'Response'.`,
		},
		{
			"a used body",
			`const r = new Response("x"); await r.text(); await cache.put(url, r);`,
			`/^TypeError: Body has already been used/`,
		},
		{"keys", `await cache.keys();`, `Error: Failed to execute 'keys' on 'Cache': the method is not implemented.`},
		{"has", `await caches.has("a");`, `Error: Failed to execute 'has' on 'CacheStorage': the method is not implemented.`},
		{"new Cache", `new Cache();`, `TypeError: Illegal constructor`},
	}
	for i := range cases {
		cases[i][1] = tools + cases[i][1]
	}
	webtest.Try(t, web.Options{}, cases)
}

// What is kept is kept for its time, and for the next request.
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

// The caches hold no more than they may; what was used last stays.
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

// What is cached is there for the next Worker, and after a restart.
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

// A database holds no more than memory does; after a restart what was stored
// first goes first.
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
