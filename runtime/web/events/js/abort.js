import { define, guarded, need, sequence } from "../../webidl/js/idl.js";
import { Event, EventTarget, fire, handlerAttribute, heard } from "./event.js";

const token = {};

let stateOf;

/** Reports whether value is an AbortSignal. */
export let isSignal;

/** https://dom.spec.whatwg.org/#interface-AbortSignal */
export class AbortSignal extends EventTarget {
  #state = { aborted: false, reason: undefined, algorithms: null, sources: null, dependents: null };
  static {
    stateOf = guarded("AbortSignal", (signal) => signal.#state);
    isSignal = (value) => typeof value === "object" && value !== null && #state in value;
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    super();
  }
  get aborted() {
    return stateOf(this).aborted;
  }
  get reason() {
    return stateOf(this).reason;
  }
  throwIfAborted() {
    const { aborted, reason } = stateOf(this);
    if (aborted) throw reason;
  }

  static abort(reason = undefined) {
    const signal = new AbortSignal(token);
    stateOf(signal).aborted = true;
    stateOf(signal).reason = reason === undefined ? abortError() : reason;
    return signal;
  }
  static timeout(milliseconds) {
    need(arguments.length, 1, "AbortSignal.timeout");
    const ms = Math.max(+milliseconds || 0, 0); // NaN and less count as none, as in production
    const signal = new AbortSignal(token);
    setTimeout(() => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")), ms);
    return signal;
  }
  static any(signals) {
    need(arguments.length, 1, "AbortSignal.any");
    const list = sequence(signals, "AbortSignal.any: the argument");
    for (const s of list) if (!isSignal(s)) throw new TypeError("AbortSignal.any: an item is not an AbortSignal");
    const signal = new AbortSignal(token);
    for (const s of list) {
      if (!stateOf(s).aborted) continue;
      stateOf(signal).aborted = true;
      stateOf(signal).reason = stateOf(s).reason;
      return signal;
    }
    stateOf(signal).sources = new Set();
    for (const s of list) for (const source of stateOf(s).sources ?? [s]) depend(signal, source);
    return signal;
  }
}

function depend(signal, source) {
  stateOf(signal).sources.add(source);
  (stateOf(source).dependents ??= new Set()).add(signal);
}

/** https://dom.spec.whatwg.org/#interface-abortcontroller */
export class AbortController {
  #signal = new AbortSignal(token);
  get signal() {
    return this.#signal;
  }
  abort(reason = undefined) {
    abort(this.#signal, reason === undefined ? abortError() : reason);
  }
}

export function abortError(message = "The operation was aborted") {
  return new DOMException(message, "AbortError");
}

export function newSignal() {
  return new AbortSignal(token);
}

/** https://dom.spec.whatwg.org/#abortsignal-signal-abort */
export function abort(signal, reason) {
  if (stateOf(signal).aborted) return;
  const all = [signal];
  for (const d of stateOf(signal).dependents ?? []) if (!stateOf(d).aborted) all.push(d);
  for (const s of all) {
    stateOf(s).aborted = true;
    stateOf(s).reason = reason;
  }
  for (const s of all) {
    const algorithms = stateOf(s).algorithms;
    stateOf(s).algorithms = stateOf(s).dependents = null;
    for (const f of algorithms ?? []) f(reason);
    if (heard(s, "abort")) fire(s, new Event("abort"));
  }
}

/** Calls f(reason) when signal is aborted, before its listeners; returns a function that removes f. */
export function onAbort(signal, f) {
  const s = stateOf(signal);
  (s.algorithms ??= new Set()).add(f);
  return () => s.algorithms?.delete(f);
}

/** A signal that follows another one. */
export function follow(signal) {
  return AbortSignal.any([signal]);
}

export function install() {
  handlerAttribute(AbortSignal, "abort");
  define("AbortSignal", AbortSignal);
  define("AbortController", AbortController);
}
