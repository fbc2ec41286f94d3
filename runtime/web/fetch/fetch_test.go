package fetch_test

import (
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestFetch(t *testing.T) {
	url, _ := webtest.Backend(t)
	snippets, allow := webtest.At(url, []webtest.Snippet{
		{
			"a response",
			`const r = await fetch("{B}/echo?a=1"); return [r.status, r.statusText, r.ok, r.url, r.redirected, r.type,
				r.headers.get("x-two"), r.headers.getSetCookie(), await r.text()]`,
			`[200,"OK",true,"{B}/echo?a=1",false,"basic","1, 2",["a=1","b=2"],"GET /echo?a=1 ct= auth= cookie= ua= len=0 body="]`,
		},
		{
			"a POST with text",
			`return await (await fetch("{B}/echo", { method: "POST", body: "text", headers: { authorization: "x", cookie: "c" } })).text()`,
			`"POST /echo ct=text/plain;charset=UTF-8 auth=x cookie=c ua= len=4 body=text"`,
		},
		{
			"a PUT with bytes",
			`return await (await fetch("{B}/echo", { method: "PUT", body: new Uint8Array([65]), headers: {
				"user-agent": "me", "content-length": "99", host: "evil.test" } })).text()`,
			`"PUT /echo ct= auth= cookie= ua=me len=1 body=A"`,
		},
		{
			"a stream as the body",
			`return await (await fetch("{B}/echo", { method: "POST",
				body: ReadableStream.from([new Uint8Array([65]), new Uint8Array([66])]) })).text()`,
			`"POST /echo ct= auth= cookie= ua= len=-1 body=AB"`,
		},
		{
			"a stream with text as the body",
			`return await (await fetch("{B}/echo", { method: "POST", body: ReadableStream.from(["é", new Uint8Array([66])]) })).text()`,
			`"POST /echo ct= auth= cookie= ua= len=-1 body=éB"`,
		},
		{
			"a copy of the incoming request",
			`return await (await fetch(new Request("{B}/echo", request))).text()`,
			`"POST /echo ct=application/json auth= cookie= ua=Go-http-client/1.1 len=13 body={\"sent\":true}"`,
		},
		{
			"a body that fails",
			`return await (await fetch("{B}/echo", { method: "POST",
				body: new ReadableStream({ pull() { throw new Error("source") } }) })).text().catch(e => e.name)`,
			`/source/`,
		},
		{
			"a body of fixed length",
			`const { readable, writable } = new FixedLengthStream(2); const w = writable.getWriter(); w.write(new Uint8Array([65, 66]));
				w.close(); return (await (await fetch("{B}/echo", { method: "POST", body: readable })).text()).slice(-13)`,
			`"len=2 body=AB"`,
		},
		{
			"a form",
			`const f = new FormData(); f.append("a", "1"); const r = await fetch("{B}/echo", { method: "POST", body: f });
				return (await r.text()).includes('name="a"')`,
			`true`,
		},
		{
			"a redirect of POST with 302",
			`const r = await fetch("{B}/to?status=302&url=/echo", { method: "POST", body: "x" });
				return [r.redirected, r.url, await r.text()]`,
			`[true,"{B}/echo","GET /echo ct= auth= cookie= ua= len=0 body="]`,
		},
		{
			"a redirect of POST with 307",
			`const r = await fetch("{B}/to?status=307&url=/echo", { method: "POST", body: "x" }); return await r.text()`,
			`"POST /echo ct=text/plain;charset=UTF-8 auth= cookie= ua= len=1 body=x"`,
		},
		{
			"a redirect of PUT with 303",
			`const r = await fetch("{B}/to?status=303&url=/echo", { method: "PUT", body: "x" }); return (await r.text()).slice(0, 9)`,
			`"GET /echo"`,
		},
		{
			"a redirect of a stream",
			`await fetch("{B}/to?status=308&url=/echo", { method: "POST", body: new Response("x").body })`,
			`/TypeError: .* its body is a stream, which cannot be sent again/`,
		},
		{
			"a redirect to another origin",
			`const r = await fetch("{B}/to?status=302&url={C}/echo", {
				headers: { authorization: "secret", cookie: "secret", accept: "a/b" } }); return await r.text()`,
			`"GET /echo ct= auth= cookie= ua= len=0 body="`,
		},
		{
			"a redirect within the origin",
			`const r = await fetch("{B}/to?status=302&url=/echo", { headers: { authorization: "kept" } }); return await r.text()`,
			`"GET /echo ct= auth=kept cookie= ua= len=0 body="`,
		},
		{
			"redirect manual",
			`const r = await fetch("{B}/to?status=301&url=/echo", { redirect: "manual" });
				return [r.status, r.headers.get("location"), r.redirected]`,
			`[301,"/echo",false]`,
		},
		{
			"redirect error",
			`await fetch("{B}/to?status=301&url=/echo", { redirect: "error" })`,
			`/TypeError: .* was redirected, and redirect is "error"/`,
		},
		{"fragments of a redirect and its target", `return (await fetch("{B}/to?status=302&url=/echo%23mine#theirs")).url`, `"{B}/echo"`},
		{"the fragment of a redirected request", `return (await fetch("{B}/to?status=302&url=/echo#theirs")).url`, `"{B}/echo"`},
		{"the fragment of a request", `return (await fetch("{B}/none#part")).url`, `"{B}/none"`},
		{
			"the stack of an error",
			`try { await fetch("ftp://a.test/"); } catch (e) {
				return e.stack.split("\n").filter((l) => !l.includes("pages:")).length > 1 }`,
			`true`,
		},
		{"a redirect to a file", `await fetch("{B}/to?status=302&url=file:///etc/passwd")`, `/TypeError: .* neither http: nor https:/`},
		{"a redirect to a malformed URL", `await fetch("{B}/to?status=302&url=http://[bad")`, `/TypeError: .* malformed URL/`},
		{"redirects without end", `await fetch("{B}/loop")`, `TypeError: Too many redirects: fetch followed 20`},
		{
			"gzip",
			`const r = await fetch("{B}/gzip"); return [await r.text(), r.headers.get("content-encoding")]`,
			`["unzipped br, gzip","gzip"]`,
		},
		{
			"ranges are not compressed",
			`const r = []; for (const headers of [{ range: "bytes=0-" }, { Range: "bytes=0-", "accept-encoding": "gzip" }]) r.push(await (
				await fetch("{B}/gzip", { headers })).text()); return r`,
			`["unzipped identity","unzipped gzip"]`,
		},
		{"deflate", `return await (await fetch("{B}/deflate")).text()`, `"inflated"`},
		{
			"encodeResponseBody manual",
			`const manual = { encodeResponseBody: "manual" }, asked = new Request("{B}/deflate", manual), r = [];
				for (const given of [["{B}/deflate", manual], [asked, manual], [asked], [asked, {}], ["{B}/deflate", asked],
				[new Request(asked, manual)]]) r.push(
				(await (await fetch(...given)).bytes())[0]); return r`,
			`[120,120,105,105,105,105]`,
		},
		{
			"an unknown encodeResponseBody",
			`new Request("{B}/deflate", { encodeResponseBody: "never" })`,
			`TypeError: encodeResponseBody: unexpected value: never`,
		},
		{
			"two codings",
			`const r = await fetch("{B}/twice"); return [await r.text(), r.headers.get("content-encoding")]`,
			`["unpacked","deflate, gzip"]`,
		},
		{"status 204", `const r = await fetch("{B}/none"); return [r.status, r.body, await r.text()]`, `[204,null,""]`},
		{"HEAD", `const r = await fetch("{B}/echo", { method: "HEAD" }); return [r.status, r.body]`, `[200,null]`},
		{
			"a body that is cut off",
			`const r = await fetch("{B}/cut"); await r.text()`,
			`/Error: Network connection lost\. The body could not be read: unexpected EOF/`,
		},
		{
			"aborted before reading",
			`const c = new AbortController(); const r = await fetch("{B}/slow", { signal: c.signal }); c.abort(); await r.text()`,
			`AbortError: The operation was aborted`,
		},
		{
			"aborted while reading",
			`const c = new AbortController(); const r = await fetch("{B}/slow", { signal: c.signal }); const read = r.body.getReader();
				await read.read(); c.abort("mine"); await read.read()`,
			`mine`,
		},
		{
			"aborted while cached",
			`const c = new AbortController(); const r = await fetch("{B}/slow", { signal: c.signal });
				const kept = caches.default.put("https://c.test/", r); c.abort(); await kept`,
			`AbortError: The operation was aborted`,
		},
		{"aborted before fetching", `await fetch("{B}/echo", { signal: AbortSignal.abort() })`, `AbortError: The operation was aborted`},
		{
			"an upload aborted before",
			`let why = "none"; const body = new ReadableStream({ cancel(reason) { why = reason; } });
			fetch("{B}/echo", { method: "POST", body, signal: AbortSignal.abort("early") }).catch(() => {}); return why`,
			`"early"`,
		},
		{
			"an upload aborted later",
			`const c = new AbortController(); let told; const why = new Promise((resolve) => { told = resolve; });
			const body = new ReadableStream({ cancel: told });
			const answer = fetch("{B}/echo", { method: "POST", body, signal: c.signal }).catch((e) => e); c.abort("late");
				return [await answer, await why]`,
			`["late","late"]`,
		},
		{
			"aborted with the body there",
			`const c = new AbortController(); const r = await fetch("{B}/fixed", { signal: c.signal }); const read = r.body.getReader();
				c.abort("mine"); return [await read.read().catch((e) => e), await read.closed.catch((e) => e)]`,
			`["mine","mine"]`,
		},
		{
			"integrity",
			`return await (await fetch("{B}/fixed", { integrity: "sha256-mSqTRVxx/t02rJu8Q5lSwEHPYURZWEcq9Hkmm42HNRM=" })).text()`,
			`"fixed"`,
		},
		{
			"integrity of several digests",
			`return await (await fetch(new Request("{B}/fixed", {
				integrity: "md5-x sha256-AAAA sha256-mSqTRVxx/t02rJu8Q5lSwEHPYURZWEcq9Hkmm42HNRM" }))).text()`,
			`"fixed"`,
		},
		{
			"cache modes",
			`const r = new Request("{B}/cache", { cache: "no-store" }),
				sent = [r.clone(), { cache: "no-cache" }, { cache: "reload", headers: { pragma: "x" } }, {
				cache: "no-cache", headers: { "cache-control": "max-age=5" } }, { cache: "default" }];
			const seen = []; for (const init of sent) seen.push(await (await fetch(init instanceof Request ? init : "{B}/cache",
				init instanceof Request ? undefined : init)).text()); return [seen, [...r.headers]]`,
			`[["[no-cache] [no-cache]","[] [max-age=0]","[x] [no-cache]","[] [max-age=5]","[] []"],[]]`,
		},
		{
			"wrong integrity",
			`await fetch("{B}/fixed", { integrity: "sha256-AAAA" })`,
			`/TypeError: fetch to .* the response does not match the integrity "sha256-AAAA"/`,
		},
		{
			"wrong integrity of the strongest",
			`await fetch("data:,fixed", {
				integrity: "sha512-mSqTRVxx/t02rJu8Q5lSwEHPYURZWEcq9Hkmm42HNRM= sha256-mSqTRVxx/t02rJu8Q5lSwEHPYURZWEcq9Hkmm42HNRM=" })`,
			`/TypeError: .* integrity/`,
		},
		{
			"a cancelled body",
			`const r = await fetch("{B}/slow"); const read = r.body.getReader(); const first = await read.read(); await read.cancel();
				return new TextDecoder().decode(first.value)`,
			`"begun"`,
		},
		{"immutable headers", `const r = await fetch("{B}/echo"); r.headers.set("a", "b")`, `TypeError: Can't modify immutable headers.`},
		{
			"a copy of a response",
			`const r = await fetch("{B}/echo"); const copy = new Response(r.body, r); copy.headers.set("a", "b");
				return [copy.headers.get("a"), copy.status, (await copy.text()).slice(0, 3)]`,
			`["b",200,"GET"]`,
		},
		{
			"an unknown scheme",
			`await fetch("ftp://a.test/")`,
			`TypeError: Fetch API cannot load: ftp://a.test/ (only http: and https: URLs can be fetched)`,
		},
		{
			"a data: URL",
			`const r = await fetch("data:,a%20b%FF"); return [r.status, r.headers.get("content-type"), await r.text()]`,
			`[200,"text/plain;charset=US-ASCII","a b` + "\ufffd" + `"]`,
		},
		{
			"a data: URL in base64",
			`const r = await fetch("data:image/PNG;a=b;base64, aGk#x"); return [r.url, r.headers.get("content-type"), await r.text()]`,
			`["data:image/PNG;a=b;base64, aGk","image/png;a=b","hi"]`,
		},
		{"a request of a data: URL", `return await (await fetch(new Request("data:;charset=x;base64,aGk="))).text()`, `"hi"`},
		{"malformed base64", `await fetch("data:;base64,a===")`, `/TypeError: Fetch API cannot load: .* malformed/`},
		{"a data: URL without a comma", `await fetch("data:nothing")`, `/TypeError: Fetch API cannot load: .* malformed/`},
		{"a relative URL", `await fetch("/relative")`, `TypeError: Invalid URL: "/relative"`},
		{
			"a URL with credentials",
			`await fetch("https://user:pass@a.test/")`,
			`/TypeError: Request constructor: the URL .* holds a user name or password/`,
		},
		{"stray percent signs", `return (await (await fetch("{B}/echo?x=%zz&%")).text()).slice(0, 21)`, `"GET /echo?x=%zz&% ct="`},
		{"fetch without an argument", `await fetch()`, `TypeError: fetch: 1 argument required, but only 0 present`},
		{
			"three at once",
			`const all = await Promise.all([1, 2, 3].map(n => fetch("{B}/echo?n=" + n).then(r => r.text())));
				return all.map(s => s.slice(0, 13))`,
			`["GET /echo?n=1","GET /echo?n=2","GET /echo?n=3"]`,
		},
	})
	webtest.Try(t, web.Options{AllowFetch: allow, SubRequests: 50}, snippets)
}

func TestFetchPassedOn(t *testing.T) {
	url, _ := webtest.Backend(t)
	const code = `const path = new URL(request.url).pathname; return fetch("%s" + path, request);`
	w := webtest.Serve(t, webtest.Handler(fmt.Sprintf(code, url)), web.Options{AllowFetch: []string{"127.0.0.1"}})
	for path, want := range map[string]string{"/echo": "GET /echo ", "/gzip": "unzipped ", "/deflate": "inflated"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		if _, body := w.Do(r); !strings.HasPrefix(body, want) {
			t.Errorf("%s: %q", path, body)
		}
	}
	if resp, _ := w.Get("/none"); resp.StatusCode != http.StatusNoContent {
		t.Errorf("%v", resp)
	}
	resp, err := http.Get(w.URL + "/cut")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the client took %q for all", b)
	}
}

// TestFetchPassedOnEncoded passes bytes on as they were encoded: the answer
// itself, one made of it, and one that a cache kept, whose content it is.
func TestFetchPassedOnEncoded(t *testing.T) {
	url, _ := webtest.Backend(t)
	const code = `const r = await fetch("%s/deflate", { encodeResponseBody: "manual" }), { pathname } = new URL(request.url);
		if (pathname === "/itself") return r;
		const made = new Response(r.body, r); made.headers.set("cache-control", "max-age=60");
		if (pathname === "/made") return made;
		await caches.default.put("https://a.test/", made); return caches.default.match("https://a.test/");`
	w := webtest.Serve(t, webtest.Handler(fmt.Sprintf(code, url)), web.Options{AllowFetch: []string{"127.0.0.1"}})
	for _, path := range []string{"/itself", "/made", "/cached"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		r.Header.Set("Accept-Encoding", "deflate")
		resp, body := w.Do(r)
		z, err := zlib.NewReader(strings.NewReader(body))
		if err != nil {
			t.Errorf("%s: %v %q", path, err, body)
			continue
		}
		if b, err := io.ReadAll(z); err != nil || string(b) != "inflated" || resp.Header.Get("Content-Encoding") != "deflate" {
			t.Errorf("%s: %v %q, %v", path, resp.Header, b, err)
		}
	}
}

func TestSubRequests(t *testing.T) {
	url, hits := webtest.Backend(t)
	const count = `let ok = 0, why = ""; for (let i = 0; i < 4; i++) { try { await (await fetch("%s")).text();
		ok++ } catch (e) { why = String(e) } } return Response.json([ok, why]);`
	const message = "Error: Too many subrequests: limits.subRequests allows 3 for one request, redirects counted"
	for _, c := range []struct {
		path, want string
		mode       web.LimitMode
		hits       int64
	}{
		{"/none", `[3,"` + message + `"]`, "", 3},
		{"/to?status=302&url=/none", `[1,"` + message + `"]`, web.LimitEnforce, 3},
		{"/none", `[4,""]`, web.LimitWarn, 4},
		{"/none", `[4,""]`, web.LimitOff, 4},
	} {
		t.Run(fmt.Sprint(c.path, " ", c.mode), func(t *testing.T) {
			hits.Store(0)
			w := webtest.Serve(t, webtest.Handler(fmt.Sprintf(count, url+c.path)), web.Options{
				SubRequests: 3, LimitMode: c.mode, AllowFetch: []string{"127.0.0.1"},
			})
			if _, body := w.Get("/"); body != c.want || hits.Load() != c.hits {
				t.Errorf("%s %s: %s, %d hits", c.path, c.mode, body, hits.Load())
			}
			if warned := strings.Contains(w.Lines(), "Too many subrequests"); warned != (c.mode == web.LimitWarn) {
				t.Errorf("console %q", w.Lines())
			}
		})
	}
}

func TestFetchSelf(t *testing.T) {
	code := webtest.Handler(`
		const url = new URL(request.url);
		if (url.pathname === "/leaf") return new Response(request.method + " leaf " + await request.text());
		if (url.pathname === "/stream") return new Response(ReadableStream.from([new Uint8Array([65]), new Uint8Array([66])]));
		if (url.pathname === "/deep") { const r = await fetch(request.url); return new Response(await r.text(), r); }
		if (url.pathname === "/agent") return new Response(String(request.headers.get("user-agent")));
		const r = await fetch(new URL(url.searchParams.get("to"), url), { method: "POST", body: "sent" });
		return new Response(await r.text(), r);`)
	var w *webtest.Worker
	w = webtest.Serve(t, code, web.Options{
		StrictlyPublic: true, IsSelf: func(host string) bool { return strings.HasPrefix(host, "127.0.0.1:") },
		Self: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.ServeHTTP(rw, r) }),
	})
	for path, want := range map[string]string{
		"/?to=/leaf": "POST leaf sent", "/?to=/stream": "AB", "/deep": "Subrequest depth limit exceeded", "/?to=/agent": "null",
	} {
		if _, body := w.Get(path); !strings.Contains(body, want) {
			t.Errorf("%s: %q", path, body)
		}
	}
	closed := webtest.Serve(t, code, web.Options{IsSelf: func(string) bool { return true }})
	if _, body := closed.Get("/?to=/leaf"); !strings.Contains(body, "global_fetch_strictly_public") {
		t.Errorf("without the flag: %q", body)
	}
}

// TestFetchSelfWide: the requests that follow from a visitor's are bounded, also where each makes only a few.
func TestFetchSelfWide(t *testing.T) {
	var all atomic.Int64
	var w *webtest.Worker
	w = webtest.Serve(t, webtest.Handler(`
		const ask = async () => { const r = await fetch(request.url); return r.text(); };
		const [a, b] = await Promise.all([ask(), ask()].map((p) => p.catch(String)));
		return new Response(a.startsWith("Error: Too many") ? a : b);`), web.Options{
		StrictlyPublic: true, IsSelf: func(string) bool { return true },
		Self: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if all.Add(1) <= 2000 {
				w.ServeHTTP(rw, r)
			}
		}),
	})
	const want = "Error: Too many subrequests: the site fetched itself 1000 times within one visitor's request"
	for range 2 { // each visitor's request has its own
		if _, body := w.Get("/"); all.Swap(0) != 1000 || body != want {
			t.Errorf("got %q", body)
		}
	}
}

func TestFetchIsGuarded(t *testing.T) {
	url, hits := webtest.Backend(t)
	port := url[strings.LastIndex(url, ":"):]
	var snippets []webtest.Snippet
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "0", "0.0.0.0", "[::]", "[::1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "LOCALHOST", "localhost.",
		"①②⑦.0.0.1", "127。0。0。1", "127.0.0.1.", "127.000.000.001", "foo@127.0.0.1", "[::1%25lo]",
		"169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "192.0.0.192", "169.254.170.2", "10.0.0.1", "192.168.1.1", "172.16.0.1",
	} {
		snippets = append(snippets, webtest.Snippet{
			host,
			fmt.Sprintf("await fetch(%q)", "http://"+host+port+"/none"),
			`/^(Error: fetch to .* is refused: its address (.* )?(belongs to|is on)|TypeError: Invalid URL|` +
				`TypeError: .* holds a user name)/`,
		})
	}
	for _, port := range []string{"0", "22", "25", "6379"} {
		snippets = append(snippets, webtest.Snippet{
			"port " + port,
			fmt.Sprintf("await fetch(%q)", "http://1.1.1.1:"+port),
			`/^Error: .*port ` + port + ` is blocked/`,
		})
	}
	webtest.Try(t, web.Options{}, snippets)
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached a private address", n)
	}
}
