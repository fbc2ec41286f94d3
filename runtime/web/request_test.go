package web_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// The attributes of a request that are not sent (Fetch standard, 5.4).
func TestRequestAttributes(t *testing.T) {
	const all = `const seen = (r) => [r.mode, r.credentials, r.cache, r.referrer, r.referrerPolicy, r.integrity, r.keepalive, r.destination,
		r.duplex, r.isReloadNavigation, r.isHistoryNavigation];
		const given = { mode: "no-cors", credentials: "omit", cache: "no-store", referrer: "", referrerPolicy: "origin", integrity: "x",
			keepalive: 1, duplex: "half", window: null, priority: "low" };
		`
	const silent, said = `["cors","same-origin","default","about:client","","",false,"","half",false,false]`, `["no-cors","omit","no-store",
		"","origin","x",true,"","half",false,false]`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"an incoming request", all + `return seen(request)`, silent},
		{"a new request", all + `return seen(new Request("https://a.test"))`, silent},
		{"all members given", all + `return seen(new Request("https://a.test", given))`, said},
		{"a copy of a request", all + `return seen(new Request(new Request("https://a.test", given)))`, said},
		{"a request as the init", all + `return seen(new Request("https://a.test", new Request("https://b.test", given)))`, said},
		{"a clone", all + `return seen(new Request("https://a.test", given).clone())`, said},
		{
			"a copy with other members",
			all + `return seen(new Request(new Request("https://a.test", given), {
				mode: "cors", keepalive: false, credentials: "include" }))`,
			`["cors","include","no-store","","origin","x",false,"","half",false,false]`,
		},
		{"a request after another", all + `new Request("https://a.test", given); return seen(new Request("https://a.test"))`, silent},
		{
			"referrers",
			`return ["about:client", "https://b.test/x", ""].map((referrer) => new Request("https://a.test", { referrer }).referrer)`,
			`["about:client","about:client",""]`,
		},
		{"a malformed referrer", `new Request("https://a.test", { referrer: "http://:bad" })`, `/TypeError: Invalid URL/`},
		{"mode navigate", `new Request("https://a.test", { mode: "navigate" })`, `/TypeError: .* cannot be "navigate"/`},
		{"an unknown mode", `new Request("https://a.test", { mode: "sideways" })`, `/TypeError: Invalid mode value: "sideways"/`},
		{
			"unknown credentials",
			`new Request("https://a.test", { credentials: true })`,
			`TypeError: Invalid credentials value: "true" is not "omit", "same-origin" or "include"`,
		},
		{
			"an unknown referrer policy",
			`new Request("https://a.test", { referrerPolicy: "none" })`,
			`/TypeError: Invalid referrerPolicy value: "none"/`,
		},
		{"duplex full", `new Request("https://a.test", { duplex: "full" })`, `TypeError: Invalid duplex value: "full" is not "half"`},
		{"an unknown priority", `new Request("https://a.test", { priority: "most" })`, `/TypeError: Invalid priority value: "most"/`},
		{"cache force-cache", `new Request("https://a.test", { cache: "force-cache" })`, `TypeError: Unsupported cache mode: force-cache`},
		{"a window", `new Request("https://a.test", { window: {} })`, `TypeError: Request constructor: the window can only be null`},
		{
			"the order in which members are read",
			`const read = [], names = ("window signal referrerPolicy referrer redirect priority mode method keepalive integrity headers " +
				"duplex credentials cf cache body").split(" ");
			const init = {}; for (const name of names) Object.defineProperty(init, name, { get() { read.push(name); return undefined; } });
			new Request("https://a.test", init); return read.join(" ") === names.reverse().join(" ")`,
			`true`,
		},
		{
			"lengths of functions",
			`return [Request.length, Response.length, Headers.length, Response.json.length, Response.redirect.length, fetch.length,
				FormData.length, FormData.prototype.append.length, FormData.prototype.set.length]`,
			`[1,0,0,1,1,1,0,2,2]`,
		},
		{
			"mode of another object",
			`return Object.getOwnPropertyDescriptor(Request.prototype, "mode").get.call({})`,
			`TypeError: Illegal invocation: this is not a Request`,
		},
		{
			"isReloadNavigation of another object",
			`return Object.getOwnPropertyDescriptor(Request.prototype, "isReloadNavigation").get.call({})`,
			`TypeError: Illegal invocation: this is not a Request`,
		},
	})
}

// A body's blob has the serialized type, not the original text (Fetch standard, 5.3, blob and formData): values keep
// their case, which those that Blob and slice are given lose (File API, 3.1 and 3.3.1).
func TestBlobType(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"parameters keep their case",
			`const seen = []; for (const type of ["Text/Plain;Charset=GBK", "a/b;c=\"D e\"", "a/b;c=\u00c9"]) seen.push((await new Response(
				"x", { headers: { "content-type": type } }).blob()).type); return seen`,
			`["text/plain;charset=GBK","a/b;c=\"D e\"","a/b;c=\"\u00c9\""]`,
		},
		{
			"a boundary keeps its case",
			`const body = "--Ab\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--Ab--\r\n";
				const blob = await new Response(body, { headers: { "content-type": "multipart/form-data; boundary=Ab" } }).blob();
				return (await new Response(blob).formData()).get("a")`,
			`"b"`,
		},
		{
			"types of files in a form",
			`const file = async (type) => (await new Response("--Ab\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n" +
				type + "\r\nb\r\n--Ab--\r\n", { headers: { "content-type": "multipart/form-data; boundary=Ab" }
				}).formData()).get("a").type; return Promise.all(["Content-Type: Text/HTML; Charset=GBK\r\n", "",
				"Content-Type: t/\u00e9\r\n", "Content-Type: t/\u0001\r\n"].map(file))`,
			`["Text/HTML; Charset=GBK","text/plain","",""]`,
		},
		{
			"a blob in a form",
			`const blob = await new Response("x", { headers: { "content-type": "a/b;c=D" } }).blob(); const form = new FormData();
				form.append("a", blob); return [structuredClone(blob).type, form.get("a").type, structuredClone(form.get("a")).type,
				new Response(blob).headers.get("content-type"), (await new Response(form).text()).includes("Content-Type: a/b;c=D\r\n")]`,
			`["a/b;c=D","a/b;c=D","a/b;c=D","a/b;c=D",true]`,
		},
		{
			"slices and copies of a blob",
			`const blob = await new Response("x", { headers: { "content-type": "a/b;c=D" } }).blob();
				return [blob.slice().type, blob.slice(0, 1, "A/B").type, blob.slice(0, 1, "a/\u00e9").type, blob.slice(0, 1, null).type,
				new Blob([blob]).type, new Blob([], { type: "a/b;c=D" }).type, new File([], "f", blob).type]`,
			`["","a/b","","null","","a/b;c=d","a/b;c=d"]`,
		},
		{
			"types in other spellings",
			`const seen = []; for (const type of ["Text/Plain; Charset=\"x\" ;a", "image/png", "nothing", ""]) seen.push((
				await new Response("x", { headers: { "content-type": type } }).blob()).type); return seen`,
			`["text/plain;charset=x","image/png","",""]`,
		},
		{"a body without a type", `return (await new Response(new Uint8Array(2)).blob()).type`, `""`},
	})
}

// The second branch of a clone has chunks of its own (Fetch standard, 2.2.4).
func TestCloneHasItsOwnChunks(t *testing.T) {
	const source = `const pulled = []; const from = (...chunks) => new Response(new ReadableStream({
			pull(c) { pulled.push(pulled.length); if (chunks.length === 0) c.close();
				else if (chunks[0] instanceof Error) c.error(chunks[0]); else c.enqueue(chunks.shift()); },
			cancel(reason) { pulled.push(reason); },
		}, { highWaterMark: 0 }));
		const bytes = new Uint8Array([1, 2]);
		`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"both branches have the bytes",
			source + `const r = from(bytes), c = r.clone(), a = r.body.getReader(), b = c.body.getReader();
			const [x, y] = [(await a.read()).value, (await b.read()).value];
				return [x === bytes, y !== bytes, [...y], (await a.read()).done, (await b.read()).done]`,
			`[true,true,[1,2],true,true]`,
		},
		{
			"a chunk changed by one reader",
			source + `const r = from(bytes), c = r.clone(); const { value } = await r.body.getReader().read(); value[0] = 9;
				return [...await c.bytes()]`,
			`[1,2]`,
		},
		{
			"a chunk transferred by one reader",
			source + `const r = from(bytes), c = r.clone(); const { value } = await r.body.getReader().read();
				structuredClone(value.buffer, { transfer: [value.buffer] }); return [...await c.bytes()]`,
			`[1,2]`,
		},
		{
			"both bodies read whole",
			source + `const r = from(bytes, bytes.slice()), c = r.clone(); const all = await Promise.all([r.bytes(), c.bytes()]);
				return all.map((b) => [...b])`,
			`[[1,2,1,2],[1,2,1,2]]`,
		},
		{
			"a source that fails",
			source + `const r = from(new Error("source")), c = r.clone();
				return Promise.all([r, c].map((x) => x.text().catch((e) => e.message)))`,
			`["source","source"]`,
		},
		{
			"a chunk that cannot be cloned",
			source + `const r = from(() => {}), c = r.clone(); return Promise.all([r, c].map((x) => x.text().catch((e) => e.name)))`,
			`["DataCloneError","DataCloneError"]`,
		},
		{
			"both branches cancelled",
			source + `const r = from(bytes), c = r.clone(); await Promise.all([r.body.cancel("one"), c.body.cancel("two")]);
				return pulled.at(-1)`,
			`["one","two"]`,
		},
		{
			"one branch cancelled",
			source + `const r = from(bytes), c = r.clone(); await Promise.race([r.body.cancel("one"), 0]); return [...await c.bytes()]`,
			`[1,2]`,
		},
		{
			"no more is pulled than is read",
			source + `const r = from(bytes, bytes.slice()), c = r.clone(); const reader = c.body.getReader(); await reader.read();
				return pulled.length <= 2`,
			`true`,
		},
	})
}

// Reading a body never calls properties that code adds to Object.prototype.
func TestThenOnObjectPrototype(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"then of Object.prototype",
			`const r = new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("hello")); c.close(); } }));
			Object.prototype.then = (resolve) => { delete Object.prototype.then; resolve({ done: false, value: new Uint8Array([65]) }); };
			const text = await r.text(); delete Object.prototype.then; return text`,
			`"hello"`,
		},
	})
}

// Options of the standard that production refuses give a warning, once for each kind.
func TestRequestCautions(t *testing.T) {
	for _, c := range []struct{ name, init, want string }{
		{"redirect error", `{ redirect: "error" }`, `production refuses redirect: "error"`},
		{"cache default", `{ cache: "default" }`, `production refuses cache: "default"`},
		{"cache reload", `{ cache: "reload" }`, `production refuses cache: "reload"`},
		{"integrity", `{ integrity: "sha256-x" }`, "production refuses integrity"},
		{"an unknown method", `{ method: "FOO" }`, "production refuses the method FOO"},
		{"what production takes", `{ redirect: "manual", cache: "no-store", integrity: "", method: "PURGE" }`, ""},
		{"a request", `new Request("https://b.test/")`, ""},
		{"a lower-case method", `{ redirect: "follow", cache: "no-cache", method: "patch" }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			made := `new Request("https://a.test/", ` + c.init + `);`
			w := webtest.Serve(t, webtest.Handler(made+made+`return new Response();`), web.Options{})
			w.Get("/")
			if got := w.Lines(); strings.Count(got, "production refuses") != min(len(c.want), 1) || !strings.Contains(got, c.want) {
				t.Errorf("%s: the console has %q", c.init, got)
			}
		})
	}
}
