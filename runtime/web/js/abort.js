import { define } from "./idl.js";
import { Event, EventTarget, fire, handlerAttribute, heard } from "./event.js";

const SIGNAL = Symbol("signal");
const token = {};

/** https://dom.spec.whatwg.org/#interface-AbortSignal */
export class AbortSignal extends EventTarget {
  constructor(key) {
    if (key !== token) throw new TypeError("Illegal constructor");
    super();
    this[SIGNAL] = { aborted: false, reason: undefined, algorithms: null, sources: null, dependents: null };
  }
  get aborted() { return this[SIGNAL].aborted; }
  get reason() { return this[SIGNAL].reason; }
  throwIfAborted() { if (this[SIGNAL].aborted) throw this[SIGNAL].reason; }

  static abort(reason) {
    const signal = new AbortSignal(token);
    signal[SIGNAL].aborted = true;
    signal[SIGNAL].reason = reason === undefined ? abortError() : reason;
    return signal;
  }
  static timeout(milliseconds) {
    const ms = Number(milliseconds);
    if (!(Number.isFinite(ms) && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError("AbortSignal.timeout: the number of milliseconds is out of range");
    }
    const signal = new AbortSignal(token);
    setTimeout(() => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
    return signal;
  }
  static any(signals) {
    const list = [...signals];
    for (const s of list) if (!isSignal(s)) throw new TypeError("AbortSignal.any: an item is not an AbortSignal");
    const signal = new AbortSignal(token);
    for (const s of list) {
      if (!s[SIGNAL].aborted) continue;
      signal[SIGNAL].aborted = true;
      signal[SIGNAL].reason = s[SIGNAL].reason;
      return signal;
    }
    signal[SIGNAL].sources = new Set();
    for (const s of list) for (const source of s[SIGNAL].sources ?? [s]) depend(signal, source);
    return signal;
  }
}

function depend(signal, source) {
  signal[SIGNAL].sources.add(source);
  (source[SIGNAL].dependents ??= new Set()).add(signal);
}

/** https://dom.spec.whatwg.org/#interface-abortcontroller */
export class AbortController {
  #signal = new AbortSignal(token);
  get signal() { return this.#signal; }
  abort(reason) { abort(this.#signal, reason === undefined ? abortError() : reason); }
}

export function abortError(message = "The operation was aborted") {
  return new DOMException(message, "AbortError");
}

export function isSignal(value) {
  return typeof value === "object" && value !== null && value[SIGNAL] !== undefined;
}

export function newSignal() { return new AbortSignal(token); }

/** https://dom.spec.whatwg.org/#abortsignal-signal-abort */
export function abort(signal, reason) {
  if (signal[SIGNAL].aborted) return;
  const all = [signal];
  for (const d of signal[SIGNAL].dependents ?? []) if (!d[SIGNAL].aborted) all.push(d);
  for (const s of all) {
    s[SIGNAL].aborted = true;
    s[SIGNAL].reason = reason;
  }
  for (const s of all) {
    const algorithms = s[SIGNAL].algorithms;
    s[SIGNAL].algorithms = s[SIGNAL].dependents = null;
    for (const f of algorithms ?? []) f(reason);
    if (heard(s, "abort")) fire(s, new Event("abort"));
  }
}

/** Calls f(reason) when signal is aborted, before its listeners; returns how to forget f. */
export function onAbort(signal, f) {
  const s = signal[SIGNAL];
  (s.algorithms ??= new Set()).add(f);
  return () => s.algorithms?.delete(f);
}

/** A signal that follows another one. */
export function follow(signal) { return AbortSignal.any([signal]); }

export function install() {
  handlerAttribute(AbortSignal, "abort");
  define("AbortSignal", AbortSignal);
  define("AbortController", AbortController);
}
