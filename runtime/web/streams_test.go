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
			"pipeTo of what is no stream",
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
