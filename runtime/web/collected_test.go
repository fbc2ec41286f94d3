package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// ECMA-262, 9.10, and production, where the collector seldom runs within a request.
func TestWeakRef(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a target within its job, after it, and after a timer",
			`const ref = (() => new WeakRef({ x: 1 }))(), seen = [ref.deref()?.x]; await null; seen.push(ref.deref()?.x);
				await scheduler.wait(5); seen.push(ref.deref()?.x); return seen`,
			`[1,1,1]`,
		},
		{
			"a target that nothing keeps, when the heap has grown",
			`const ref = (() => new WeakRef({ x: 1 }))(); let grown = []; for (let i = 0; i < 24; i++) grown.push(new Uint8Array(1 << 20));
				const during = typeof ref.deref(); await scheduler.wait(1); await scheduler.wait(1); return [during, typeof ref.deref()]`,
			`["object","undefined"]`,
		},
		{
			"the shape of the class",
			`class Ref extends WeakRef {} return [new Ref({}) instanceof Ref, WeakRef.name, WeakRef.length,
				WeakRef.prototype.constructor === WeakRef, Object.prototype.toString.call(new WeakRef([]))]`,
			`[true,"WeakRef",1,true,"[object WeakRef]"]`,
		},
		{
			"wrong receivers and targets",
			`const out = []; for (const f of [() => WeakRef({}), () => new WeakRef(1), () => WeakRef.prototype.deref.call({})]) {
				try { f() } catch (e) { out.push(e.name) } } return out`,
			`["TypeError","TypeError","TypeError"]`,
		},
	})
}

func TestWeakRefAcrossRequests(t *testing.T) {
	w := webtest.Serve(t, `let ref;
		export default { fetch() { if (ref === undefined) { ref = new WeakRef({}); return new Response("made") }
			return new Response(typeof ref.deref()) } }`, web.Options{})
	for _, want := range []string{"made", "object"} {
		if _, got := w.Get("/"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFinalizationRegistry(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"no callback within the request",
			`const seen = []; const registry = new FinalizationRegistry((held) => seen.push(held));
				for (let i = 0; i < 20000; i++) registry.register({ i }, i);
				for (let i = 0; i < 5; i++) await scheduler.wait(1); return seen`,
			`[]`,
		},
		{
			"a body whose Response has gone",
			`const registry = new FinalizationRegistry((ref) => { const s = ref.deref(); if (s && !s.locked) s.cancel("gone") });
			const get = async () => { const [a] = new Response("kept").body.tee(), r = new Response(a);
				registry.register(r, new WeakRef(r.body)); return { body: r.body } };
			const x = await get(); await scheduler.wait(5); return await new Response(x.body).text()`,
			`"kept"`,
		},
		{
			"unregister",
			`const registry = new FinalizationRegistry(() => {}), token = {}, kept = {}; registry.register(kept, 1, token);
				registry.register({}, 2, token); const self = {}; registry.register(self, 3, self);
				return [registry.unregister(token), registry.unregister(token), registry.unregister(self), registry.unregister({})]`,
			`[true,false,true,false]`,
		},
		{
			"the shape of the class",
			`class R extends FinalizationRegistry {} const P = FinalizationRegistry.prototype;
				return [new R(() => {}) instanceof R, FinalizationRegistry.name, FinalizationRegistry.length,
				P.register.length, P.unregister.length,
				P.constructor === FinalizationRegistry, String(P), Object.keys(P), new R(() => {}).register({}, 1) === undefined]`,
			`[true,"FinalizationRegistry",1,2,1,true,"[object FinalizationRegistry]",[],true]`,
		},
		{
			"refused requests",
			`const r = new FinalizationRegistry(() => {}), o = {}, P = FinalizationRegistry.prototype, out = [];
			for (const f of [() => new FinalizationRegistry(1), () => FinalizationRegistry(() => {}), () => r.register(1, 2),
				() => r.register(o, o), () => r.register({}, 1, 2), () => r.unregister(1), () => P.register.call({}, {}, 1),
				() => P.unregister.call({}, {})]) { try { out.push(f()) } catch (e) { out.push(e.name) } } return [...new Set(out)]`,
			`["TypeError"]`,
		},
	})
}

// Callbacks run after the request in which the target was registered, in a turn that may do no I/O, as in production.
func TestFinalizersAfterTheRequest(t *testing.T) {
	w := webtest.Serve(t, `
		const calls = [];
		const registry = new FinalizationRegistry((held) => {
			if (held === "throws") throw new Error("of the callback");
			let io = "allowed";
			try { setTimeout(() => {}, 1) } catch (e) { io = e.message.slice(0, 20) }
			calls.push(held + ": " + io);
		});
		registry.register({}, "of the module");
		const token = {}, keeps = [];
		export default { async fetch(request) {
			const path = new URL(request.url).pathname;
			if (path === "/calls") return Response.json(calls);
			if (path === "/token") return Response.json(registry.unregister(token));
			for (const held of ["a", "throws"]) registry.register({ held }, held);
			registry.register({}, "unregistered", token);
			await scheduler.wait(1);
			const within = calls.length;
			return Response.json([registry.unregister(token), within]);
		} }`, web.Options{})
	if _, got := w.Get("/"); got != "[true,0]" {
		t.Errorf("within the request: %s", got)
	}
	w.WaitFor("in a callback of a FinalizationRegistry: Error: of the callback")
	const refused = "Disallowed operation"
	for _, step := range []struct{ path, want string }{
		{"/calls", `["of the module: ` + refused + `","a: ` + refused + `"]`},
		{"/token", "false"},
	} {
		getUntil(t, w, step.path, step.want)
	}
}

// getUntil asks until the answer is want: callbacks run in a turn after that of the answer.
func getUntil(t *testing.T, w *webtest.Worker, path, want string) {
	t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; {
		_, got := w.Get(path)
		if got == want {
			return
		}
		if time.Now().After(limit) {
			t.Errorf("%s: %s, want %s", path, got, want)
			return
		}
	}
}

// The guard of an abandoned body that libraries make, over bodies of every kind.
func TestFinalizerCancelsBodies(t *testing.T) {
	w := webtest.Serve(t, `
		let calls = 0;
		const registry = new FinalizationRegistry((ref) => { calls++; const s = ref.deref(); if (s && !s.locked) s.cancel("gone") });
		export default { async fetch(request) {
			if (request.method === "GET") return Response.json(calls);
			const of = async (body) => { const [a] = body.tee(), r = new Response(a); registry.register(r, new WeakRef(r.body));
				return { body: r.body } };
			const kept = await of(request.body);
			await of(new Response("text").body);
			await of(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(9)) } }));
			await scheduler.wait(1);
			return new Response(kept.body);
		} }`, web.Options{})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, strings.NewReader("sent"))
	if _, got := w.Do(r); got != "sent" {
		t.Errorf("the body is %q", got)
	}
	getUntil(t, w, "/", "3")
	if lines, rejected := w.Lines(), w.Rejected(); lines != "" || len(rejected) > 0 {
		t.Errorf("the console has %q, and %v was rejected", lines, rejected)
	}
}
