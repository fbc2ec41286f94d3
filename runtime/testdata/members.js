// Answers the own keys of every global: of classes, of their prototypes and of a new instance of each, and of the objects that
// hold functions. members-workerd.txt is its answer under workerd, without nodejs_compat.
const keyText = (k) => (typeof k === "symbol" ? String(k) : k);
const keys = (o) => Reflect.ownKeys(o).map(keyText).sort();
// The marks that workerd puts on each of its classes.
const ignore = new Set(["Symbol(cloudflare:internal-class)", "Symbol(kResourceTypeInspect)"]);
const make = {
  AbortController: () => new AbortController(), AbortSignal: () => AbortSignal.abort(), Blob: () => new Blob(["a"]),
  ByteLengthQueuingStrategy: () => new ByteLengthQueuingStrategy({ highWaterMark: 1 }), CountQueuingStrategy: () => new CountQueuingStrategy({ highWaterMark: 1 }),
  Cache: () => caches.default, CacheStorage: () => caches, CloseEvent: () => new CloseEvent("x"), CompressionStream: () => new CompressionStream("gzip"),
  DecompressionStream: () => new DecompressionStream("gzip"), Crypto: () => crypto, SubtleCrypto: () => crypto.subtle,
  CryptoKey: () => crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign"]), CustomEvent: () => new CustomEvent("x"), DOMException: () => new DOMException("x"),
  ErrorEvent: () => new ErrorEvent("x"), Event: () => new Event("x"), EventTarget: () => new EventTarget(), File: () => new File([], "n"), FixedLengthStream: () => new FixedLengthStream(1),
  FormData: () => new FormData(), HTMLRewriter: () => new HTMLRewriter(), Headers: () => new Headers(), IdentityTransformStream: () => new IdentityTransformStream(),
  MessageChannel: () => new MessageChannel(), MessagePort: () => new MessageChannel().port1, MessageEvent: () => new MessageEvent("x"), Navigator: () => navigator, Performance: () => performance,
  PerformanceMark: () => performance.mark("x"), PerformanceMeasure: () => performance.measure("x"), PerformanceObserver: () => new PerformanceObserver(() => {}),
  PromiseRejectionEvent: () => new PromiseRejectionEvent("x", { promise: Promise.resolve() }),
  ReadableStream: () => new ReadableStream(), WritableStream: () => new WritableStream(), TransformStream: () => new TransformStream(),
  ReadableStreamDefaultReader: () => new ReadableStream().getReader(), ReadableStreamBYOBReader: () => new ReadableStream({ type: "bytes" }).getReader({ mode: "byob" }),
  WritableStreamDefaultWriter: () => new WritableStream().getWriter(),
  ReadableStreamDefaultController: () => { let c; new ReadableStream({ start(x) { c = x; } }); return c; },
  ReadableByteStreamController: () => { let c; new ReadableStream({ type: "bytes", start(x) { c = x; } }); return c; },
  ReadableStreamBYOBRequest: async () => { let c; const s = new ReadableStream({ type: "bytes", pull(x) { c ??= x.byobRequest; } }); s.getReader({ mode: "byob" }).read(new Uint8Array(1)).catch(()=>{}); await 0; await 0; await 0; return c; },
  WritableStreamDefaultController: () => { let c; new WritableStream({ start(x) { c = x; } }); return c; },
  TransformStreamDefaultController: () => { let c; new TransformStream({ start(x) { c = x; } }); return c; },
  Request: () => new Request("https://a.test"), Response: () => new Response("a"), TextDecoder: () => new TextDecoder(), TextDecoderStream: () => new TextDecoderStream(),
  TextEncoder: () => new TextEncoder(), TextEncoderStream: () => new TextEncoderStream(), URL: () => new URL("https://a.test"), URLPattern: () => new URLPattern(), URLSearchParams: () => new URLSearchParams(),
  WebSocket: () => Object.values(new WebSocketPair())[0], WebSocketPair: () => new WebSocketPair(),
  Error: () => new Error("x"), TypeError: () => new TypeError("x"), RegExp: () => /a/, Date: () => new Date(), Map: () => new Map(), Promise: () => Promise.resolve(), ArrayBuffer: () => new ArrayBuffer(1), Uint8Array: () => new Uint8Array(0), Proxy: () => new Proxy({}, {}),
};
export default { async fetch() {
  const lines = [];
  const line = (what, list) => lines.push(what + ":" + list.filter((k) => !ignore.has(k)).map((k) => " " + k.replaceAll(" ", "_")).join(""));
  const names = [...new Set([...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(Object.getPrototypeOf(globalThis)), ...Object.getOwnPropertyNames(Object.getPrototypeOf(Object.getPrototypeOf(globalThis)))])].sort();
  line("globals", names.filter((n) => n !== "constructor"));
  for (const name of names) {
    const v = globalThis[name];
    if (["Buffer", "process", "global", "globalThis", "self", "WorkerGlobalScope", "ServiceWorkerGlobalScope", "constructor", "Cloudflare"].includes(name)) continue;
    if (typeof v === "function" && v.prototype && /^[A-Z]/.test(name)) {
      line(name, keys(v).filter((k) => !["length", "name", "prototype"].includes(k)));
      line(name + ".prototype", keys(v.prototype));
    } else if (typeof v === "object" && v !== null) {
      line(name, keys(v));
      for (const [k, c] of Object.entries(Object.getOwnPropertyDescriptors(v))) if (typeof c.value === "function" && /^[A-Z]/.test(k) && c.value.prototype) { line(name + "." + k, keys(c.value).filter((k) => !["length", "name", "prototype"].includes(k))); line(name + "." + k + ".prototype", keys(c.value.prototype)); }
    }
    if (make[name]) { try { line("new " + name, keys(await make[name]())); } catch (e) { lines.push("new " + name + ": throws " + e); } }
  }
  return new Response(lines.join("\n") + "\n");
} };
