package web_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// The classes of events, messages and performance have the shape that their standards' Web IDL gives them.
func TestScopeShapes(t *testing.T) {
	webtest.Shapes(t,
		"MessageEvent/1 < Event: data initMessageEvent/1 lastEventId origin ports source",
		"ErrorEvent/1 < Event: colno error filename lineno message",
		"CloseEvent/1 < Event: code reason wasClean",
		"PromiseRejectionEvent/2 < Event: promise reason",
		"MessagePort/0 < EventTarget: close/0 onclose= onmessage= onmessageerror= postMessage/1 start/0",
		"MessageChannel/0: port1 port2",
		"Performance/0 < EventTarget: clearMarks/0 clearMeasures/0 clearResourceTimings/0 getEntries/0 getEntriesByName/1 "+
			"getEntriesByType/1 mark/1 measure/1 now/0 setResourceTimingBufferSize/1 timeOrigin toJSON/0",
		"PerformanceEntry/0: duration entryType name startTime toJSON/0",
		"PerformanceMark/1 < PerformanceEntry: detail",
		"PerformanceMeasure/0 < PerformanceEntry: detail",
		"PerformanceObserver/1: disconnect/0 observe/0 takeRecords/0 static supportedEntryTypes",
		"PerformanceObserverEntryList/0: getEntries/0 getEntriesByName/1 getEntriesByType/1",
	)
}

func TestEvents(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"defaults of MessageEvent",
			`const e = new MessageEvent("x"); return [e.type, e.data, e.origin, e.lastEventId, e.source, e.ports, Object.isFrozen(e.ports),
				e.isTrusted];`,
			`["x",null,"","",null,[],true,false]`,
		},
		{
			"members of MessageEvent",
			`const e = new MessageEvent("x", { data: 1, origin: "o", lastEventId: 7, ports: [new MessageChannel().port1] });
				return [e.data, e.origin, e.lastEventId, e.ports.length];`,
			`[1,"o","7",1]`,
		},
		{
			"initMessageEvent",
			`const e = new MessageEvent("x"); e.initMessageEvent("y", true, false, 5, "o", "i");
				return [e.type, e.bubbles, e.data, e.origin, e.lastEventId];`,
			`["y",true,5,"o","i"]`,
		},
		{"a port that is none", `new MessageEvent("x", { ports: [1] });`, `/^TypeError: .*not a MessagePort/`},
		{"a source that is none", `new MessageEvent("x", { source: {} });`, `/^TypeError: .*not a MessagePort/`},
		{
			"members of ErrorEvent",
			`const e = new ErrorEvent("x", { message: "m", filename: "f", lineno: -1, colno: 2.9, error: 5, cancelable: true });
				return [e.message, e.filename, e.lineno, e.colno, e.error, e.cancelable];`,
			`["m","f",4294967295,2,5,true]`,
		},
		{
			"members of CloseEvent",
			`const e = new CloseEvent("close", { code: 1000, reason: "r", wasClean: 1 }); return [e.code, e.reason, e.wasClean];`,
			`[1000,"r",true]`,
		},
		{
			"ExtendableEvent",
			`try { new ExtendableEvent("x"); }
			catch (e) { return [typeof ExtendableEvent, e.message, ExtendableEvent.prototype instanceof Event]; }`,
			`["function","Illegal constructor",true]`,
		},
		{"defaults of CloseEvent", `const e = new CloseEvent("close"); return [e.code, e.reason, e.wasClean];`, `[0,"",false]`},
		{"ErrorEvent without a type", `new ErrorEvent();`, `/^TypeError: .*1 argument required/`},
		{"PromiseRejectionEvent without a promise", `new PromiseRejectionEvent("x");`, `/^TypeError: .*2 arguments required/`},
		{"a promise that is none", `new PromiseRejectionEvent("x", {});`, `/^TypeError: .*no promise/`},
		{
			"members of PromiseRejectionEvent",
			`const p = Promise.resolve(), e = new PromiseRejectionEvent("x", { promise: p, reason: 1 });
				return [e.promise === p, e.reason];`,
			`[true,1]`,
		},
	})
}

// Uncaught errors go to the global scope, then to the log.
func TestReportedErrors(t *testing.T) {
	const seen = `const seen = []; const see = (e) => { seen.push([e.type, e.constructor.name, e.message ?? e.reason?.message,
		e.error?.message, e.target === globalThis, e.isTrusted, e.filename]); e.preventDefault(); };`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"reportError",
			seen + `addEventListener("error", see); reportError(new RangeError("mine")); reportError("text");
				removeEventListener("error", see); return seen;`,
			`[["error","ErrorEvent","Uncaught RangeError: mine","mine",true,true,"worker.js"],
				["error","ErrorEvent","Uncaught text",null,true,true,""]]`,
		},
		{
			"an error of a timer",
			seen + `addEventListener("error", see); setTimeout(() => { throw new Error("late"); }); await scheduler.wait(5);
				removeEventListener("error", see); return seen.map((s) => s[2]);`,
			`["Uncaught Error: late"]`,
		},
		{
			"an error of a listener",
			seen + `addEventListener("error", see); const t = new EventTarget();
				t.addEventListener("x", () => { throw new Error("heard"); }); t.dispatchEvent(new Event("x"));
				removeEventListener("error", see); return seen.map((s) => s[2]);`,
			`["Uncaught Error: heard"]`,
		},
		{
			"a rejection handled late",
			seen + `addEventListener("unhandledrejection", see); addEventListener("rejectionhandled", see);
		const p = Promise.reject(new Error("x")); await scheduler.wait(2); const before = seen.length; p.catch(() => {});
			await scheduler.wait(2);
		removeEventListener("unhandledrejection", see); removeEventListener("rejectionhandled", see);
			return [before, seen.map((s) => s.slice(0, 3))];`,
			`[1,[["unhandledrejection","PromiseRejectionEvent","x"],["rejectionhandled","PromiseRejectionEvent","x"]]]`,
		},
		{
			"a rejection handled at once",
			seen + `addEventListener("unhandledrejection", see); Promise.reject(1).catch(() => {}); await scheduler.wait(2);
				removeEventListener("unhandledrejection", see); return seen;`,
			`[]`,
		},
		{
			"an error of an error listener",
			`const bad = () => { throw new Error("again"); }; addEventListener("error", bad); reportError(new Error("once"));
				removeEventListener("error", bad); return "survived";`,
			`"survived"`,
		},
		{"reportError without an argument", `reportError();`, `/^TypeError: reportError: 1 argument required/`},
		{
			"events of the global scope",
			`let n = 0; addEventListener("mine", function (e) { n += this === globalThis && e.target === self ? 1 : 0; }, { once: true });
				dispatchEvent(new Event("mine")); dispatchEvent(new Event("mine")); return n;`,
			`1`,
		},
		{
			"the global scope as a target",
			`return [self instanceof ServiceWorkerGlobalScope, self instanceof EventTarget, addEventListener.length, dispatchEvent.name];`,
			`[true,true,2,"dispatchEvent"]`,
		},
	})
}

// Errors that a handler of the global scope prevents are not logged.
func TestReportedErrorsInTheLog(t *testing.T) {
	w := webtest.Serve(t, `addEventListener("error", (e) => { if (e.error.message === "quiet") e.preventDefault(); });
	addEventListener("unhandledrejection", (e) => { if (e.reason.message === "quiet") e.preventDefault(); });
	export default { async fetch() {
	  reportError(new Error("quiet")); reportError(new Error("loud"));
	  Promise.reject(new Error("quiet")); Promise.reject(new Error("lost"));
	  await scheduler.wait(1);
	  return new Response("ok");
	} };`, web.Options{})
	w.Get("/")
	if got := w.Lines(); !strings.Contains(got, "Uncaught Error: loud") || strings.Contains(got, "quiet") {
		t.Error(got)
	}
	if len(w.Rejected()) != 1 || w.Rejected()[0].Message != "lost" {
		t.Errorf("rejections: %v", w.Rejected())
	}
}

func TestMessageChannel(t *testing.T) {
	const channel = `const { port1, port2 } = new MessageChannel(); const got = [];
		const wait = async () => { for (let i = 0; i < 4; i++) await scheduler.wait(5) };`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a message",
			channel + `port2.onmessage = (e) => got.push([e.data, e.constructor.name, e.target === port2, e.isTrusted, e.ports.length]);
				port1.postMessage({ a: new Map([[1, 2]]) }); const now = got.length; await wait();
				return [now, got[0][0].a.get(1), got[0].slice(1)];`,
			`[0,2,["MessageEvent",true,true,0]]`,
		},
		{
			"messages before start",
			channel + `port2.addEventListener("message", (e) => got.push(e.data)); port1.postMessage(1); await wait(); got.push("start");
				port2.start(); await wait(); port1.postMessage(2); await wait(); return got;`,
			`["start",1,2]`,
		},
		{
			"microtasks between messages",
			channel + `port2.onmessage = (e) => { got.push(e.data); Promise.resolve().then(() => got.push("then " + e.data)); };
				port1.postMessage(1); port1.postMessage(2); await wait(); return got;`,
			`[1,"then 1",2,"then 2"]`,
		},
		{
			"messages around close",
			channel + `port2.onmessage = (e) => got.push(e.data); port2.onclose = () => got.push("closed"); port1.postMessage(1);
				port1.close(); port1.postMessage(2); await wait(); return got;`,
			`[1,"closed"]`,
		},
		{
			"a transferred buffer",
			channel + `const b = new ArrayBuffer(4); port2.onmessage = (e) => got.push(e.data.byteLength); port1.postMessage(b, [b]);
				await wait(); return [got, b.detached];`,
			`[[4],true]`,
		},
		{
			"a port through a port",
			channel + `const c = new MessageChannel(); c.port2.onmessage = (e) => got.push(e.data);
				port2.onmessage = (e) => { e.ports[0].postMessage("through"); got.push(e.data.port === e.ports[0]); };
		port1.postMessage({ port: c.port1 }, { transfer: [c.port1] }); await wait(); return got;`,
			`[true,"through"]`,
		},
		{
			"a message before the port moves",
			channel + `const c = new MessageChannel(); c.port2.postMessage("before");
				port2.onmessage = (e) => { e.ports[0].onmessage = (e) => got.push(e.data); }; port1.postMessage(0, [c.port1]); await wait();
				return got;`,
			`["before"]`,
		},
		{"a port through itself", channel + `port1.postMessage(1, [port1]);`, `/^DataCloneError/`},
		{"a port without transfer", channel + `port1.postMessage(port2);`, `/^DataCloneError/`},
		{
			"a port that has moved",
			channel + `const c = new MessageChannel(); port1.postMessage(0, [c.port1]); port1.postMessage(0, [c.port1]);`,
			`/^DataCloneError.*detached/`,
		},
		{"a function as a message", channel + `port1.postMessage(() => {});`, `/^DataCloneError/`},
		{
			"a transfer that fails",
			channel + `const b = new ArrayBuffer(4); try { port1.postMessage({ b, f() {} }, [b]); } catch {} return b.byteLength;`,
			`4`,
		},
		{"postMessage without an argument", channel + `port1.postMessage();`, `/^TypeError: .*1 argument required/`},
		{"a transfer list that is none", channel + `port1.postMessage(1, 2);`, `/^TypeError/`},
		{"new MessagePort", `new MessagePort();`, `TypeError: Illegal constructor`},
		{
			"names of accessors",
			`return ["message", "messageerror", "close"].map((type) => Object.getOwnPropertyDescriptor(MessagePort.prototype, "on" +
				type)).map(({ get, set }) => [get.name, set.name])`,
			`[["get onmessage","set onmessage"],["get onmessageerror","set onmessageerror"],["get onclose","set onclose"]]`,
		},
	})
}

func TestScheduler(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"wait",
			`const t = performance.now(); const v = await scheduler.wait(5); return [v === undefined, performance.now() - t >= 4.9];`,
			`[true,true]`,
		},
		{"wait without an argument", `await scheduler.wait();`, `/^TypeError: .*1 argument required/`},
		{"an aborted signal", `await scheduler.wait(1, { signal: AbortSignal.abort() });`, `AbortError: The operation was aborted`},
		{
			"a signal that times out",
			`await scheduler.wait(10000, { signal: AbortSignal.timeout(1) });`,
			`TimeoutError: The operation was aborted due to timeout`,
		},
		{"a signal that is none", `await scheduler.wait(1, { signal: 5 });`, `/^TypeError: .*not an AbortSignal/`},
		{
			"the shape of scheduler",
			`return [Object.prototype.toString.call(scheduler), typeof scheduler.postTask];`,
			`["[object Scheduler]","undefined"]`,
		},
	})
}

func TestCloudflareAndNavigator(t *testing.T) {
	webtest.Try(t, web.Options{StrictlyPublic: true}, []webtest.Snippet{
		{
			"Cloudflare",
			`const all = Cloudflare.compatibilityFlags, names = "nodejs_compat enable_nodejs_fs_module " +
				"global_fetch_strictly_public enable_weak_ref websocket_standard_binary_type " +
				"enable_request_signal precise_timers temporal enable_ctx_exports";
			return [Object.keys(all).length, new Set(Object.keys(all)).size, names.split(" ").map((name) => all[name]),
				Object.isFrozen(all),
				Object.keys(Cloudflare), all.none === undefined];`,
			`[205,205,[false,false,true,true,true,false,false,false,false],true,["compatibilityFlags"],true]`,
		},
		{
			"navigator",
			`return [navigator.userAgent, navigator.language, navigator.languages, navigator.hardwareConcurrency, navigator.platform];`,
			`["Cloudflare-Workers","en",["en"],1,""]`,
		},
	})
}

func TestPerformance(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a mark",
			`const m = performance.mark("a", { detail: { x: [1] }, startTime: 3 });
				return [m.name, m.entryType, m.startTime, m.duration, m.detail, m instanceof PerformanceMark];`,
			`["a","mark",3,0,{"x":[1]},true]`,
		},
		{
			"a measure between marks",
			`performance.mark("a", { startTime: 3 }); performance.mark("b", { startTime: 10 });
				const m = performance.measure("m", "a", "b"); return [m.startTime, m.duration, m.detail, m.entryType];`,
			`[3,7,null,"measure"]`,
		},
		{
			"a measure by start and duration",
			`const m = performance.measure("m", { start: 2, duration: 5, detail: 1 }); return [m.startTime, m.duration, m.detail];`,
			`[2,5,1]`,
		},
		{
			"a measure by end and duration",
			`const m = performance.measure("m", { end: 9, duration: 5 }); return [m.startTime, m.duration];`,
			`[4,5]`,
		},
		{"a measure of all", `const m = performance.measure("m"); return [m.startTime, m.duration > 0];`, `[0,true]`},
		{"a mark that does not exist", `performance.measure("m", "none");`, `SyntaxError: The mark 'none' does not exist.`},
		{"start, end and duration", `performance.measure("m", { start: 1, end: 2, duration: 1 });`, `/^TypeError/`},
		{"options and an end mark", `performance.measure("m", { start: 1 }, "b");`, `/^TypeError/`},
		{"options without times", `performance.measure("m", { detail: 1 });`, `/^TypeError/`},
		{"a negative start", `performance.mark("a", { startTime: -1 });`, `/^TypeError/`},
		{"a detail that cannot be cloned", `performance.mark("a", { detail() {} });`, `/^DataCloneError/`},
		{
			"lists of entries",
			`performance.clearMarks(); performance.clearMeasures(); performance.mark("b", { startTime: 2 });
				performance.mark("a", { startTime: 1 }); performance.measure("a", { start: 5, end: 6 });
		const names = (l) => l.map((e) => e.entryType + " " + e.name).join();
			const all = [names(performance.getEntries()), names(performance.getEntriesByName("a")),
			names(performance.getEntriesByName("a", "mark")), names(performance.getEntriesByType("measure"))];
		performance.clearMarks("a"); all.push(names(performance.getEntries())); performance.clearMarks(); performance.clearMeasures();
			return [...all, performance.getEntries()];`,
			`["mark a,mark b,measure a","mark a,measure a","mark a","measure a","mark b,measure a",[]]`,
		},
		{
			"an observer of types",
			`const got = []; const o = new PerformanceObserver((list, observer) => got.push(list.getEntries().map((e) => e.name),
				observer === o)); o.observe({ entryTypes: ["mark", "other"] }); performance.mark("x"); performance.mark("y");
				performance.measure("z"); await 1; o.disconnect(); performance.mark("q"); await 1; return got;`,
			`[["x","y"],true]`,
		},
		{
			"an observer of one type",
			`const o = new PerformanceObserver(() => {}); o.observe({ type: "mark" }); performance.mark("x");
				return [o.takeRecords().length, o.takeRecords().length, PerformanceObserver.supportedEntryTypes];`,
			`[1,0,["mark","measure"]]`,
		},
		{
			"an observer of both kinds",
			`const o = new PerformanceObserver(() => {}); o.observe({ type: "mark" }); o.observe({ entryTypes: ["mark"] });`,
			`/^InvalidModificationError/`,
		},
		{
			"type and entryTypes",
			`new PerformanceObserver(() => {}).observe({ entryTypes: ["mark"], type: "mark" })`,
			`/^TypeError: PerformanceObserver.observe: the options have both/`,
		},
		{
			"buffered for many types",
			`performance.mark("early"); const got = []; const o = new PerformanceObserver((list) => got.push(...list.getEntries().map((
				e) => e.name))); o.observe({ entryTypes: ["mark"], buffered: true }); performance.mark("late");
				await new Promise((done) => setTimeout(done)); return got`,
			`["late"]`,
		},
		{
			"the most entries",
			`for (let i = 0; i < 10010; i++) performance.mark("m" + i); const { length } = performance.getEntries();
				performance.clearMarks(); return length;`,
			`10000`,
		},
		{
			"toJSON",
			`return [performance.toJSON().timeOrigin === performance.timeOrigin, JSON.stringify(performance.mark("a", { startTime: 1 }))];`,
			`[true,"{\"name\":\"a\",\"entryType\":\"mark\",\"startTime\":1,\"duration\":0,\"detail\":null}"]`,
		},
		{"new Performance", `new Performance();`, `TypeError: Illegal constructor`},
	})
}

func TestStructuredCloneTransfers(t *testing.T) {
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{
			"a buffer and its view",
			`const b = new ArrayBuffer(3); const c = structuredClone({ b, v: new Uint8Array(b, 1) }, { transfer: [b] });
				return [b.detached, c.b.byteLength, c.v.buffer === c.b, c.v.length];`,
			`[true,3,true,2]`,
		},
		{
			"a transfer that fails",
			`const b = new ArrayBuffer(3); try { structuredClone([b, Symbol()], { transfer: [b] });
				} catch (e) { return [e.name, b.detached]; }`,
			`["DataCloneError",false]`,
		},
		{
			"a resizable buffer",
			`const b = new ArrayBuffer(3, { maxByteLength: 9 }); const c = structuredClone(b, { transfer: [b] });
				return [b.detached, c.maxByteLength];`,
			`[true,9]`,
		},
		{
			"a view out of bounds",
			`const b = new ArrayBuffer(8, { maxByteLength: 16 }), v = new Uint8Array(b, 4); b.resize(2); structuredClone(v);`,
			`/^DataCloneError.*out of the bounds/`,
		},
		{
			"a DataView out of bounds",
			`const b = new ArrayBuffer(8, { maxByteLength: 16 }), v = new DataView(b, 4); b.resize(2); structuredClone(v);`,
			`/^DataCloneError.*out of the bounds/`,
		},
		{
			"a port",
			`const { port1, port2 } = new MessageChannel(); const got = []; port2.onmessage = (e) => got.push(e.data);
				const moved = structuredClone(port1, { transfer: [port1] }); moved.postMessage(1); port1.postMessage(2);
				for (let i = 0; i < 4; i++) await scheduler.wait(2); return [got, moved instanceof MessagePort];`,
			`[[1],true]`,
		},
		{
			"an object that cannot be transferred",
			`structuredClone(1, { transfer: [new Headers()] });`,
			`/^DataCloneError.*cannot be transferred/`,
		},
	})
}
