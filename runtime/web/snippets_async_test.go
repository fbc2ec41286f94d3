package web_test

import (
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

func TestStreams(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a TransformStream",
			`const { readable, writable } = new TransformStream({ transform(c, k) { k.enqueue(c * 2) } }); const w = writable.getWriter();
				w.write(1); w.write(2); w.close(); const out = []; for await (const c of readable) out.push(c); return out`,
			`[2,4]`,
		},
		{
			"tee",
			`const [a, b] = new Response("tee").body.tee(); return [await new Response(a).text(), await new Response(b).text()]`,
			`["tee","tee"]`,
		},
		{
			"a BYOB reader",
			`const r = new Response("abcdef").body.getReader({ mode: "byob" }); const { value } = await r.read(new Uint8Array(3));
				return new TextDecoder().decode(value)`,
			`"abc"`,
		},
		{
			"pipeThrough and pipeTo",
			`let out = ""; await request.body.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write(c) { out += c } }));
				return out`,
			`"{\"sent\":true}"`,
		},
		{
			"a source that throws",
			`const s = new ReadableStream({ pull(c) { throw new Error("pulled") } }); return await new Response(s).text()`,
			`Error: pulled`,
		},
		{"the desired size of a writer", `const w = new WritableStream().getWriter(); return w.desiredSize`, `1`},
		{
			"a cancelled body",
			`const s = new Response("abc").body; const out = [s.locked, s instanceof ReadableStream, Object.keys(s).length, String(s)];
				await s.cancel(); const r = s.getReader(); out.push(s.locked, (await r.read()).done); return out`,
			`[false,true,0,"[object ReadableStream]",true,true]`,
		},
		{
			"a reader made by its constructor",
			`const s = new Response("abc").body, r = new ReadableStreamDefaultReader(s), first = await r.read(), second = await r.read();
				await r.closed; return [first.value.length, second.done]`,
			`[3,true]`,
		},
		{
			"iteration and pipe",
			`let n = 0; for await (const c of new Response("abc").body) n += c.length;
				await new Response("de").body.pipeTo(new WritableStream({ write(c) { n += c.length } })); return n`,
			`5`,
		},
		{
			"a body passed on twice",
			`const a = new Response("passed on"), b = new Response(a.body, { status: 201 }), c = new Response(b.body);
				return [await c.text(), a.bodyUsed, b.bodyUsed, c.bodyUsed, a.body.locked, c.body.locked,
				await a.text().catch((e) => e.name)]`,
			`["passed on",true,true,true,true,true,"TypeError"]`,
		},
		{
			"the request's body passed on",
			`const a = new Response(request.body), b = new Response(a.body);
				return [await b.json(), request.bodyUsed, await request.text().catch((e) => e.name)]`,
			`[{"sent":true},true,"TypeError"]`,
		},
		{
			"a body that was read in part",
			`const a = new Response("abc"), r = a.body.getReader({ mode: "byob" }); const { value } = await r.read(new Uint8Array(2));
				r.releaseLock(); try { new Response(a.body) } catch (e) { return [value.length, e.name] }`,
			`[2,"TypeError"]`,
		},
		{
			"a stream that is locked meanwhile",
			`const s = new Response("abc").body, r = new Response(s), reader = s.getReader();
				return [await r.text().catch((e) => e.name), new TextDecoder().decode((await reader.read()).value)]`,
			`["TypeError","abc"]`,
		},
		{
			"asynchronous generators as bodies",
			`async function* pieces() { yield new TextEncoder().encode("one "); await null; yield new TextEncoder().encode("two");
				} return [await new Response(pieces()).text(),
				await new Request("https://a.test", { method: "POST", body: pieces() }).text(),
				new Response(pieces()).headers.get("content-type")]`,
			`["one two","one two",null]`,
		},
		{
			"an iterator that is left",
			`let left = 0; const body = { async *[Symbol.asyncIterator]() { try { for (;;) yield new Uint8Array(1); } finally { left++;
				} } }; const r = new Response(body), reader = r.body.getReader(); await reader.read(); await reader.cancel(); return left`,
			`1`,
		},
		{
			"a generator of text",
			`return await new Response((async function* () { yield "text"; })()).text()`,
			`TypeError: This ReadableStream did not return bytes. A piece is a string: encode text, with a TextEncoder or a ` +
				`TextEncoderStream.`,
		},
		{
			"buffers and views as pieces",
			`const of = (...pieces) => new Response(new ReadableStream({ start(c) { pieces.forEach((p) => c.enqueue(p)); c.close();
				} })).text(); const hi = new TextEncoder().encode("hi");
				return [await of(hi.buffer, new DataView(hi.buffer, 1)), await of({}).catch(String)]`,
			`["hii","TypeError: This ReadableStream did not return bytes."]`,
		},
		{
			"a generator that throws",
			`return await new Response((async function* () { throw new RangeError("mine"); })()).text()`,
			`RangeError: mine`,
		},
		{"an array of pieces", `return await new Response([new Uint8Array([104]), new Uint8Array([105])]).text()`, `"hi"`},
		{
			"objects as text",
			`class Own extends Array { toString() { return "own";
				} } return [await new Response(new Own()).text(), await new Response(Object("boxed")).text(), await new Response({}).text(),
				await new Response(7).text()]`,
			`["own","boxed","[object Object]","7"]`,
		},
		{
			"a FixedLengthStream that is short",
			`const { readable, writable } = new FixedLengthStream(2); const w = writable.getWriter();
				w.write(new Uint8Array(1)).catch(() => {}); w.close().catch(() => {}); await new Response(readable).bytes()`,
			`TypeError: FixedLengthStream did not see all expected bytes before close().`,
		},
		{
			"an IdentityTransformStream",
			`const { readable, writable } = new IdentityTransformStream(); const w = writable.getWriter();
				w.write(new TextEncoder().encode("same")); w.close(); return await new Response(readable).text()`,
			`"same"`,
		},
		{
			"readers and strategies",
			`return [typeof ReadableStreamBYOBReader, typeof ByteLengthQueuingStrategy,
				new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark]`,
			`["function","function",3]`,
		},
	})
}

func TestEventsAndAbort(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"listeners and objects",
			`const t = new EventTarget(), out = []; t.addEventListener("x", e => out.push(e.type, e.target === t, e.detail));
				t.addEventListener("x", { handleEvent() { out.push("object") } }, { once: true });
				t.dispatchEvent(new CustomEvent("x", { detail: 7 })); t.dispatchEvent(new CustomEvent("x")); return out`,
			`["x",true,7,"object","x",true,null]`,
		},
		{
			"preventDefault",
			`const t = new EventTarget(); t.addEventListener("x", e => e.preventDefault());
				return [t.dispatchEvent(new Event("x", { cancelable: true })), t.dispatchEvent(new Event("x"))]`,
			`[false,true]`,
		},
		{
			"stopImmediatePropagation",
			`const t = new EventTarget(), out = []; t.addEventListener("x", e => { out.push(1); e.stopImmediatePropagation() });
				t.addEventListener("x", () => out.push(2)); t.dispatchEvent(new Event("x")); return out`,
			`[1]`,
		},
		{
			"a listener with a signal",
			`const t = new EventTarget(), c = new AbortController(); let n = 0; t.addEventListener("x", () => n++, { signal: c.signal });
				t.dispatchEvent(new Event("x")); c.abort(); t.dispatchEvent(new Event("x")); return n`,
			`1`,
		},
		{
			"AbortController",
			`const c = new AbortController(), out = []; c.signal.onabort = e => out.push(e.type, e.isTrusted);
				c.signal.addEventListener("abort", () => out.push("listener")); c.abort(); c.abort();
				return [out, c.signal.aborted, c.signal.reason.name, c.signal.reason instanceof DOMException]`,
			`[["abort",true,"listener"],true,"AbortError",true]`,
		},
		{"throwIfAborted", `AbortSignal.abort("why").throwIfAborted()`, `why`},
		{
			"AbortSignal.any",
			`const c = new AbortController(); const s = AbortSignal.any([c.signal, new AbortController().signal]); c.abort(5);
				return [s.aborted, s.reason]`,
			`[true,5]`,
		},
		{
			"AbortSignal.timeout of an invalid time",
			`const end = (ms) => new Promise((r) => { const s = AbortSignal.timeout(ms); s.onabort = () => r(s.reason.name) });
				return Promise.all([-1, NaN, undefined, null, "1"].map(end).concat([Infinity, 2 ** 53].map((ms) =>
					Promise.race([end(ms), scheduler.wait(20).then(() => "waits")]))))`,
			`["TimeoutError","TimeoutError","TimeoutError","TimeoutError","TimeoutError","waits","waits"]`,
		},
		{
			"AbortSignal.timeout",
			`const s = AbortSignal.timeout(1); await new Promise(r => s.addEventListener("abort", r)); return s.reason.name`,
			`"TimeoutError"`,
		},
		{"new AbortSignal", `new AbortSignal()`, `TypeError: Illegal constructor`},
		{
			"Event's constants",
			`return [typeof EventTarget.prototype.constructor, Event.AT_TARGET, new Event("a").eventPhase,
				Object.keys(Event.prototype).includes("type")]`,
			`["function",2,0,true]`,
		},
	})
}

func TestTimers(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"the order of delays",
			`const out = []; setTimeout(() => out.push("b"), 60); setTimeout(x => out.push(x), 30, "a"); setTimeout(() => out.push("0"), 0);
				await new Promise(r => setTimeout(r, 70)); return out`,
			`["0","a","b"]`,
		},
		{
			"timers of one delay",
			`const out = []; for (let i = 0; i < 5; i++) setTimeout(() => out.push(i)); await new Promise(r => setTimeout(r)); return out`,
			`[0,1,2,3,4]`,
		},
		{
			"microtasks between timers",
			`const out = []; setTimeout(() => { Promise.resolve().then(() => out.push("micro")); out.push(1) });
				setTimeout(() => out.push(2)); await new Promise(r => setTimeout(r, 1)); return out`,
			`[1,"micro",2]`,
		},
		{
			"an interval",
			`let n = 0; await new Promise(done => { const id = setInterval(() => { if (++n === 3) { clearInterval(id);
				setTimeout(done, 5) } }, 1) }); return n`,
			`3`,
		},
		{
			"a cleared timer",
			`let hit = false; const id = setTimeout(() => { hit = true }, 1); clearTimeout(id); clearTimeout(undefined);
				await new Promise(r => setTimeout(r, 5)); return [hit, typeof id]`,
			`[false,"number"]`,
		},
		{"code in a string", `setTimeout("code")`, `TypeError: setTimeout: the callback is not a function (code in a string is not run)`},
		{
			"a timer that throws",
			`setTimeout(() => { throw new Error("later") }); await new Promise(r => setTimeout(r, 2)); return "on"`,
			`"on"`,
		},
		{
			"performance.now",
			`const a = performance.now(); await new Promise(r => setTimeout(r, 3)); const b = performance.now();
				return [b - a >= 2.9, performance.timeOrigin > 1e12]`,
			`[true,true]`,
		},
	})
}

func TestCrypto(t *testing.T) {
	const key = `const k = await crypto.subtle.importKey("raw", new TextEncoder().encode("key"), { name: "HMAC", hash: "SHA-256" }, true,
		["sign", "verify"]); const hex = b => new Uint8Array(b).toHex();`
	const text = `const data = new TextEncoder().encode("The quick brown fox jumps over the lazy dog");`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"randomUUID", `return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())`, `true`},
		{
			"getRandomValues",
			`const a = crypto.getRandomValues(new Uint8Array(32)), b = crypto.getRandomValues(new Uint32Array(8));
				return [a.some(x => x), b.some(x => x > 255)]`,
			`[true,true]`,
		},
		{
			"too many random bytes",
			`crypto.getRandomValues(new Uint8Array(65537))`,
			`QuotaExceededError: getRandomValues: 65537 bytes are more than the 65536 that one call gives`,
		},
		{
			"random values of floats",
			`crypto.getRandomValues(new Float32Array(1))`,
			`TypeMismatchError: getRandomValues: the argument is not an integer typed array`,
		},
		{
			"a digest of nothing",
			`return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(0))).toHex()`,
			`"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`,
		},
		{
			"digests by name",
			`return Promise.all(["SHA-1", { name: "sha-384" }, "SHA-512",
				"MD5"].map(async a => (await crypto.subtle.digest(a, new Uint8Array(3))).byteLength))`,
			`[20,48,64,16]`,
		},
		{
			"an unknown digest",
			`await crypto.subtle.digest("SHA-3", new Uint8Array(0))`,
			`NotSupportedError: Unrecognized or unimplemented digest algorithm requested ("SHA-3").`,
		},
		{"a digest of text", `await crypto.subtle.digest("SHA-1", "text")`, `TypeError: The data is neither an ArrayBuffer nor a view`},
		{
			"HMAC signs and verifies",
			key + text + `const s = await crypto.subtle.sign("HMAC", k, data);
				return [hex(s), await crypto.subtle.verify("HMAC", k, s, data), await crypto.subtle.verify("HMAC", k, s, s)]`,
			`["f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",true,false]`,
		},
		{
			"an exported key",
			key + `return [await crypto.subtle.exportKey("jwk", k), hex(await crypto.subtle.exportKey("raw", k)), k.algorithm, k.type,
				k.usages]`,
			`[{"kty":"oct","k":"a2V5","alg":"HS256","key_ops":["sign","verify"],"ext":true},"6b6579",
				{"name":"HMAC","hash":{"name":"SHA-256"},"length":24},"secret",["sign","verify"]]`,
		},
		{
			"a generated key",
			`const k = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, ["sign"]);
				return [k.algorithm.length, await crypto.subtle.verify("HMAC", k, new Uint8Array(1),
				new Uint8Array(1)).catch(e => e.name)]`,
			`[1024,"InvalidAccessError"]`,
		},
		{
			"an unfit usage",
			`await crypto.subtle.importKey("raw", new Uint8Array(1), { name: "HMAC", hash: "SHA-256" }, true, ["encrypt"])`,
			`SyntaxError: A key for HMAC has no usage "encrypt"`,
		},
		{"timingSafeEqual", `return crypto.subtle.timingSafeEqual(new Uint8Array([1]), new Uint8Array([1]))`, `true`},
		{"Math.random", `return Math.random() !== Math.random() && Math.random() < 1`, `true`},
	})
}
