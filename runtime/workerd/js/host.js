// The host functions of the built-in engine's JavaScript, inside of workerd.
import { current, emit } from "./channel.js";

const { now } = Date;

// From node:util, if the Worker has it: see useNode.
let util = null;

/** Gives this file the module node:util, by which it knows proxies and the states of promises. */
export function useNode(module) {
  util = { isProxy: module.types.isProxy, inspect: module.inspect };
}

export const host = {
  console_log(level, text, stack, args) {
    emit({ kind: "line", level, text, stack, args });
  },
  clock_now: now,
  current() {
    const request = current();
    if (request === undefined) throw new Error("no request is served");
    return request.id;
  },
  is_proxy: (value) => util?.isProxy(value) ?? false,
  // The target of a proxy is unknown here: the proxy is shown as the object that it imitates.
  proxy_target: () => null,
  promise_state(promise) {
    if (util === null) return [FULFILLED, new Shown("<state unknown>")];
    const text = util.inspect(promise, { depth: 2 });
    const inside = text.slice(text.indexOf("{") + 1, text.lastIndexOf("}")).trim();
    if (inside === "<pending>") return [PENDING, undefined];
    const rejected = inside.startsWith("<rejected>");
    return [rejected ? REJECTED : FULFILLED, new Shown(rejected ? inside.slice("<rejected>".length).trim() : inside)];
  },
};

const PENDING = 0,
  FULFILLED = 1,
  REJECTED = 2;

// A value known only by its text.
class Shown {
  #text;
  constructor(text) {
    this.#text = text;
  }
  [Symbol.for("nodejs.util.inspect.custom")]() {
    return this.#text;
  }
}
