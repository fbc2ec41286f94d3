package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// A pipe writes no chunk in the call of enqueue() that gives it, and loses none
// for that: https://streams.spec.whatwg.org/#readable-stream-pipe-to
func TestPipe(t *testing.T) {
	const piped = `let give; const seen = [], sink = { write(c) { seen.push(c) }, close() { seen.push("closed") }, abort(e) {
		seen.push("aborted " + e) } };
		const source = (extra) => new ReadableStream({ start(c) { give = c }, cancel(e) { seen.push("cancelled " + e) }, ...extra }, {
			highWaterMark: 0 });
		const rest = () => new Promise((r) => setTimeout(r, 0)); `
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"pipeTo of a value that is not a stream",
			`const out = []; for (const to of [[], [undefined], [null], [{}]]) out.push(await new ReadableStream().pipeTo(...to).catch((
				e) => e.name)); return [...out, ReadableStream.prototype.pipeTo.length, ReadableStream.prototype.pipeTo.name]`,
			`["TypeError", "TypeError", "TypeError", "TypeError", 1, "pipeTo"]`,
		},
		{
			"a chunk enqueued",
			piped + `source().pipeTo(new WritableStream(sink)); await rest(); give.enqueue(1); seen.push("enqueued"); await rest();
				return seen`,
			`["enqueued", 1]`,
		},
		{
			"a chunk pulled",
			piped + `source({ pull(c) { c.enqueue(1); seen.push("pulled"); c.close() } }).pipeTo(new WritableStream(sink)); await rest();
				return seen`,
			`["pulled", 1, "closed"]`,
		},
		{
			"a byte stream",
			piped + `source({ type: "bytes" }).pipeTo(new WritableStream(sink)); await rest(); give.enqueue(new Uint8Array([7]));
				seen.push("enqueued"); await rest(); return seen.map(String)`,
			`["enqueued", "7"]`,
		},
		{
			"a chunk before the close",
			piped + `const p = source().pipeTo(new WritableStream(sink)); await rest(); give.enqueue(1); give.close(); await p;
				return seen`,
			`[1, "closed"]`,
		},
		{
			"a chunk before an error",
			piped + `const p = source().pipeTo(new WritableStream(sink)); await rest(); give.enqueue(1); give.error("broken");
				return [await p.catch((e) => e), ...seen]`,
			`["broken", 1, "aborted broken"]`,
		},
		{
			"a chunk before an abort",
			piped + `const a = new AbortController(), p = source().pipeTo(new WritableStream(sink), { signal: a.signal }); await rest();
				give.enqueue(1); a.abort("no"); return [await p.catch((e) => e), ...seen]`,
			`["no", 1, "aborted no", "cancelled no"]`,
		},
		{
			"a sink that fails",
			piped + `let stop; sink.start = (c) => { stop = c };
				const p = source().pipeTo(new WritableStream(sink), { preventCancel: true }); await rest(); give.enqueue(1);
				stop.error("full"); return [await p.catch((e) => e), await rest(), ...seen]`,
			`["full", null]`,
		},
		{
			"preventClose",
			piped + `const s = source(), p = s.pipeTo(new WritableStream(sink), { preventClose: true }); await rest();
				for (const c of [1, 2, 3]) give.enqueue(c); give.close(); await p; return [s.locked, ...seen]`,
			`[false, 1, 2, 3]`,
		},
		{
			"a pipe of many transforms",
			`let s = new ReadableStream({ async start(c) { await null; for (const n of [1, 2, 3]) c.enqueue(n); c.close() } });
				const seen = [];
			for (let n = 0; n < 300; n++) s = s.pipeThrough(new TransformStream());
				await s.pipeTo(new WritableStream({ write(c) { seen.push(c) } })); return seen`,
			`[1, 2, 3]`,
		},
	})
}

// A subclass may have fields of any name; the state of streams cannot be seen or changed.
func TestStreamFields(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"_reader of a ReadableStream",
			`class S extends ReadableStream { constructor() { super({ start(c) { c.enqueue("a"); c.close() } });
				this._reader = { mine: 1 } } }
				const s = new S(), out = [s.locked, "_state" in s]; for await (const x of s) out.push(x); return [...out, s._reader]`,
			`[false, false, "a", { "mine": 1 }]`,
		},
		{
			"_writer of a WritableStream",
			`class W extends WritableStream { constructor(s) { super(s); this._writer = null } }
				const w = new W({}); await w.getWriter().write(1); return w._writer`,
			`null`,
		},
		{
			"_readable and _writable of a TransformStream",
			`class T extends TransformStream { constructor(t) { super(t); this._writable = "x"; this._readable = "y" } }
				const t = new T({}); return [typeof t.writable.getWriter, typeof t.readable.getReader, t._writable, t._readable]`,
			`["function", "function", "x", "y"]`,
		},
		{
			"_disturbed and _state",
			`class D extends ReadableStream { constructor() { super({ start(c) { c.enqueue(new TextEncoder().encode("ab")); c.close() } });
				this._disturbed = true; this._state = "mine" } }
				const d = new D(); return [await new Response(d).text(), d._state]`,
			`["ab", "mine"]`,
		},
		{
			"keys of fresh and used streams",
			`const body = new Response("x").body, out = [Reflect.ownKeys(body)]; await body.cancel();
				const s = new ReadableStream(), r = s.getReader(), w = new WritableStream(), t = new TransformStream();
				for (const o of [body, s, r, w, w.getWriter(), t, t.readable, t.writable]) out.push(Reflect.ownKeys(o)); return out.flat()`,
			`[]`,
		},
		{"a frozen stream", `const s = Object.freeze(new Response("x").body), r = s.getReader(); await r.read(); return s.locked`, `true`},
		{"a sealed stream that is new", `return new Response(Object.seal(new ReadableStream())).body.locked`, `false`},
		{
			"a proxy is not a stream, and its traps see nothing of one",
			`const seen = [], traps = new Proxy({}, { get: (_, name) => (target, key, ...rest) => { seen.push(name + " " + String(key));
				return Reflect[name](target, key, ...rest) } });
				const p = new Proxy(new ReadableStream(), traps), out = [];
				for (const f of [() => p.locked, () => p.getReader(), () => p.tee(), () => ReadableStream.prototype.getReader.call(p),
				  () => new Response(p)]) {
				  seen.length = 0; try { f(); out.push("taken") } catch (e) { out.push(e.name) }
				  out.push(...seen.filter((x) => x.includes("private")));
				}
				return out`,
			`["TypeError", "TypeError", "TypeError", "TypeError", "TypeError"]`,
		},
		{
			"a replaced hasOwnProperty sees nothing",
			`const { hasOwnProperty } = Object.prototype, seen = [];
				Object.prototype.hasOwnProperty = function (key) { seen.push(key); return hasOwnProperty.call(this, key) };
				try { new ReadableStream().getReader() } finally { Object.prototype.hasOwnProperty = hasOwnProperty } return seen`,
			`[]`,
		},
	})
}

// A branch of a tee that is left does not wait for the other one, and a Blob of many parts is copied once.
func TestBranchesAndParts(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a loop that leaves one branch",
			`const seen = [], source = () => new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close() } });
				const [a, b] = source().tee(); for await (const x of a) { seen.push(x); break } for await (const x of b) seen.push(x);
				return seen`,
			`["a", "a", "b"]`,
		},
		{
			"both branches cancelled",
			`let why; const [a, b] = new ReadableStream({ cancel(reasons) { why = reasons; return Promise.reject("no") } }).tee();
				await a.cancel("x"); return [why === undefined, await b.cancel("y").catch((e) => e), why]`,
			`[true, "no", ["x", "y"]]`,
		},
		{
			"a branch cancelled as the source fails",
			`const out = []; for (const type of [undefined, "bytes"]) { let c; const source = () => new ReadableStream({ type, start(x) {
				c = x } }).tee(), why = (p) => p.then(() => "ended", (e) => e); let [a, b] = source(); c.error("both");
				out.push(await Promise.all([a, b].map((x) => why(x.cancel())))); [a, b] = source(); c.error("one");
				out.push([await why(b.cancel()), await why(a.cancel())]); [a, b] = source(); const early = a.cancel(); c.error("late");
				out.push([await why(early), await why(b.cancel())]) } return out`,
			`[["both", "both"], ["one", "one"], ["ended", "late"], ["both", "both"], ["one", "one"], ["ended", "late"]]`,
		},
		{
			"a clone that is left",
			`const r = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([65])); c.close() } })), c = r.clone();
				for await (const x of c.body) break; return r.text()`,
			`"A"`,
		},
		{
			"a Blob of 40 MiB",
			`const blob = new Blob(Array.from({ length: 40 }, (_, i) => new Uint8Array(1 << 20).fill(i)));
				const bytes = new Uint8Array(await blob.arrayBuffer()); return [bytes.length, bytes[39 << 20]]`,
			`[41943040, 39]`,
		},
		{
			"parts of a Blob",
			`const bytes = new Uint8Array([65]), one = new Blob([bytes]), two = new Blob([bytes, "b"]), none = new Blob([]); bytes[0] = 66;
				return [await one.text(), await two.text(), await new Blob([one, two]).text(), none.size, await new Blob(["x"]).text()]`,
			`["A", "Ab", "AAb", 0, "x"]`,
		},
	})
}
