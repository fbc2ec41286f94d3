// https://nodejs.org/api/events.html
import { internals, load, required } from "node:internal/host";
import {
  AbortError,
  invalidType,
  needFunction,
  needNumber,
  needObject,
  needSignal,
  NodeError,
} from "node:internal/errors";

export const captureRejectionSymbol = Symbol.for("nodejs.rejection");
export const errorMonitor = Symbol("events.errorMonitor");
const kCapture = Symbol("kCapture");
export let defaultMaxListeners = 10;
export const usingDomains = false;

/**
 * EventEmitter, which older code calls without new.
 * @this {any}
 * @returns {void}
 */
export function EventEmitter(options) {
  EventEmitter.init.call(this, options);
}

EventEmitter.prototype._events = undefined;
EventEmitter.prototype._eventsCount = 0;
EventEmitter.prototype._maxListeners = undefined;
let captureAll = false;

/** @this {any} */
EventEmitter.init = function init(options) {
  if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
    this._events = { __proto__: null };
    this._eventsCount = 0;
  }
  this._maxListeners ||= undefined;
  if (options?.captureRejections) {
    if (typeof options.captureRejections !== "boolean")
      throw invalidType("options.captureRejections", "boolean", options.captureRejections);
    this[kCapture] = true;
  } else if (captureAll) {
    this[kCapture] = true;
  }
};

function maxOf(emitter) {
  return emitter._maxListeners === undefined ? defaultMaxListeners : emitter._maxListeners;
}

function add(emitter, type, listener, prepend) {
  needFunction(listener, "listener");
  let events = emitter._events;
  if (events === undefined) {
    events = emitter._events = { __proto__: null };
    emitter._eventsCount = 0;
  } else if (events.newListener !== undefined) {
    emitter.emit("newListener", type, listener.listener ?? listener);
    events = emitter._events;
  }
  const existing = events[type];
  if (existing === undefined) {
    events[type] = listener;
    emitter._eventsCount++;
    return emitter;
  }
  let list = existing;
  if (typeof existing === "function") list = events[type] = prepend ? [listener, existing] : [existing, listener];
  else if (prepend) existing.unshift(listener);
  else existing.push(listener);
  const most = maxOf(emitter);
  if (most > 0 && list.length > most && !list.warned) {
    list.warned = true;
    internals.log(
      "warn",
      `MaxListenersExceededWarning: Possible EventEmitter memory leak detected. ` +
        `${list.length} ${String(type)} listeners added to ${name(emitter)}. MaxListeners is ${most}. ` +
        `Use emitter.setMaxListeners() to increase limit`,
      "",
    );
  }
  return emitter;
}

function name(emitter) {
  return `[${emitter.constructor?.name ?? "EventEmitter"}]`;
}

function onceOf(emitter, type, listener) {
  needFunction(listener, "listener");
  let fired = false;
  function wrapper(...args) {
    if (fired) return undefined;
    fired = true;
    emitter.removeListener(type, wrapper);
    return listener.apply(emitter, args);
  }
  wrapper.listener = listener;
  return wrapper;
}

function settle(emitter, promise, type, args) {
  if (typeof promise?.then !== "function") return;
  promise.then(undefined, (error) =>
    queueMicrotask(() => {
      if (typeof emitter[captureRejectionSymbol] === "function")
        return emitter[captureRejectionSymbol](error, type, ...args);
      const before = emitter[kCapture];
      try {
        emitter[kCapture] = false;
        emitter.emit("error", error);
      } finally {
        emitter[kCapture] = before;
      }
    }),
  );
}

function unhandled(error) {
  if (error instanceof Error) throw error;
  let text;
  try {
    text = required("node:util").inspect(error);
  } catch {
    text = String(error);
  }
  const thrown = NodeError(Error, "ERR_UNHANDLED_ERROR", `Unhandled error. (${text})`);
  thrown.context = error;
  throw thrown;
}

const methods = {
  setMaxListeners(n) {
    needNumber(n, "setMaxListeners", 0);
    this._maxListeners = n;
    return this;
  },
  getMaxListeners() {
    return maxOf(this);
  },
  emit(type, ...args) {
    const events = this._events;
    if (type === "error") {
      if (events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
      if (events?.error === undefined) return unhandled(args[0]);
    }
    const handler = events?.[type];
    if (handler === undefined) return false;
    if (typeof handler === "function") {
      const result = handler.apply(this, args);
      if (result !== undefined && this[kCapture]) settle(this, result, type, args);
      return true;
    }
    for (const listener of handler.slice()) {
      const result = listener.apply(this, args);
      if (result !== undefined && this[kCapture]) settle(this, result, type, args);
    }
    return true;
  },
  addListener(type, listener) {
    return add(this, type, listener, false);
  },
  prependListener(type, listener) {
    return add(this, type, listener, true);
  },
  once(type, listener) {
    return this.on(type, onceOf(this, type, listener));
  },
  prependOnceListener(type, listener) {
    return this.prependListener(type, onceOf(this, type, listener));
  },
  removeListener(type, listener) {
    needFunction(listener, "listener");
    const events = this._events,
      list = events?.[type];
    if (list === undefined) return this;
    if (list === listener || list.listener === listener) {
      drop(this, type);
      if (events.removeListener !== undefined) this.emit("removeListener", type, list.listener ?? listener);
      return this;
    }
    if (typeof list === "function") return this;
    const at = list.findLastIndex((f) => f === listener || f.listener === listener);
    if (at < 0) return this;
    const removed = list[at];
    list.splice(at, 1);
    if (list.length === 1) events[type] = list[0];
    if (events.removeListener !== undefined) this.emit("removeListener", type, removed.listener ?? listener);
    return this;
  },
  removeAllListeners(type) {
    const events = this._events;
    if (events === undefined) return this;
    if (events.removeListener === undefined) {
      if (arguments.length === 0) {
        this._events = { __proto__: null };
        this._eventsCount = 0;
      } else if (events[type] !== undefined) {
        drop(this, type);
      }
      return this;
    }
    if (arguments.length === 0) {
      for (const key of Reflect.ownKeys(events)) if (key !== "removeListener") this.removeAllListeners(key);
      this.removeAllListeners("removeListener");
      this._events = { __proto__: null };
      this._eventsCount = 0;
      return this;
    }
    const list = events[type];
    if (typeof list === "function") this.removeListener(type, list);
    else for (const listener of list?.slice().reverse() ?? []) this.removeListener(type, listener);
    return this;
  },
  listeners(type) {
    return listOf(this, type).map((f) => f.listener ?? f);
  },
  rawListeners(type) {
    return listOf(this, type);
  },
  listenerCount(type, listener) {
    const list = listOf(this, type);
    return listener === undefined || listener === null
      ? list.length
      : list.filter((f) => f === listener || f.listener === listener).length;
  },
  eventNames() {
    return this._eventsCount > 0 ? Reflect.ownKeys(this._events) : [];
  },
};

function drop(emitter, type) {
  delete emitter._events[type];
  if (--emitter._eventsCount === 0) emitter._events = { __proto__: null };
}

function listOf(emitter, type) {
  const list = emitter._events?.[type];
  return list === undefined ? [] : typeof list === "function" ? [list] : list.slice();
}

// The same function under two names, so that a subclass whose removeListener calls its own off, which calls super.off, does not recurse.
methods.on = methods.addListener;
methods.off = methods.removeListener;
Object.assign(EventEmitter.prototype, methods);

function isTarget(emitter) {
  return typeof emitter?.addEventListener === "function";
}

/** A promise of the arguments of the next event. */
export async function once(emitter, type, options = {}) {
  needObject(options, "options");
  const { signal } = options;
  needSignal(signal);
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  return new Promise((resolve, reject) => {
    const cleanup = () => {
      unlisten(emitter, type, resolved);
      unlisten(emitter, "error", failed);
      signal?.removeEventListener("abort", aborted);
    };
    const resolved = (...args) => {
      cleanup();
      resolve(args);
    };
    const failed = (error) => {
      cleanup();
      reject(error);
    };
    const aborted = () => {
      cleanup();
      reject(new AbortError(undefined, { cause: signal.reason }));
    };
    listen(emitter, type, resolved, { once: true });
    if (type !== "error" && typeof emitter.once === "function") emitter.once("error", failed);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

function listen(emitter, type, listener, flags) {
  if (typeof emitter?.on === "function") return flags?.once ? emitter.once(type, listener) : emitter.on(type, listener);
  if (isTarget(emitter)) return emitter.addEventListener(type, listener, flags);
  throw invalidType("emitter", "EventEmitter", emitter);
}

function unlisten(emitter, type, listener) {
  if (typeof emitter.removeListener === "function") emitter.removeListener(type, listener);
  else if (isTarget(emitter)) emitter.removeEventListener(type, listener);
}

/** An async iterator over the arguments of events. */
export function on(emitter, type, options = {}) {
  needObject(options, "options");
  const { signal, close = [] } = options;
  needSignal(signal);
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  const values = [],
    waiting = [];
  let error = null,
    finished = false;
  const push = (...args) => {
    const next = waiting.shift();
    if (next) next.resolve({ value: args, done: false });
    else values.push(args);
  };
  const fail = (reason) => {
    const next = waiting.shift();
    if (next) next.reject(reason);
    else error = reason;
    iterator.return();
  };
  const aborted = () => fail(new AbortError(undefined, { cause: signal.reason }));
  const closed = () => iterator.return();
  const iterator = Object.setPrototypeOf(
    {
      next() {
        if (values.length > 0) return Promise.resolve({ value: values.shift(), done: false });
        if (error !== null) {
          const reason = error;
          error = null;
          return Promise.reject(reason);
        }
        if (finished) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      },
      return() {
        unlisten(emitter, type, push);
        unlisten(emitter, "error", fail);
        for (const end of close) unlisten(emitter, end, closed);
        signal?.removeEventListener("abort", aborted);
        finished = true;
        for (const next of waiting.splice(0)) next.resolve({ value: undefined, done: true });
        return Promise.resolve({ value: undefined, done: true });
      },
      throw(reason) {
        if (!(reason instanceof Error)) throw invalidType("EventEmitter.AsyncIterator", "Error", reason);
        fail(reason);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
    Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype),
  );
  listen(emitter, type, push);
  if (type !== "error" && typeof emitter.on === "function") emitter.on("error", fail);
  for (const end of close) listen(emitter, end, closed);
  signal?.addEventListener("abort", aborted, { once: true });
  return iterator;
}

const targetLimits = new WeakMap();

export function getEventListeners(emitter, type) {
  if (typeof emitter?.listeners === "function") return emitter.listeners(type);
  if (isTarget(emitter)) return [];
  throw invalidType("emitter", ["EventEmitter", "EventTarget"], emitter);
}

export function getMaxListeners(emitter) {
  if (typeof emitter?.getMaxListeners === "function") return emitter.getMaxListeners();
  if (isTarget(emitter)) return targetLimits.get(emitter) ?? defaultMaxListeners;
  throw invalidType("emitter", ["EventEmitter", "EventTarget"], emitter);
}

export function setMaxListeners(n = defaultMaxListeners, ...emitters) {
  needNumber(n, "setMaxListeners", 0);
  if (emitters.length === 0) defaultMaxListeners = n;
  for (const emitter of emitters) {
    if (typeof emitter?.setMaxListeners === "function") emitter.setMaxListeners(n);
    else if (isTarget(emitter)) targetLimits.set(emitter, n);
    else throw invalidType("eventTargets", ["EventEmitter", "EventTarget"], emitter);
  }
}

export function listenerCount(emitter, type) {
  if (typeof emitter?.listenerCount === "function") return emitter.listenerCount(type);
  return getEventListeners(emitter, type).length;
}

/** Calls listener when signal aborts, or in a moment when it has. */
export function addAbortListener(signal, listener) {
  if (signal === undefined) throw invalidType("signal", "AbortSignal", signal);
  needSignal(signal, "signal");
  needFunction(listener, "listener");
  if (signal.aborted) {
    queueMicrotask(() => listener());
    return { [Symbol.dispose]() {} };
  }
  signal.addEventListener("abort", listener, { once: true });
  return {
    [Symbol.dispose]() {
      signal.removeEventListener("abort", listener);
    },
  };
}

/** An EventEmitter whose listeners run in the context it was made in. */
export class EventEmitterAsyncResource extends /** @type {any} */ (EventEmitter) {
  #resource;
  constructor(options = {}) {
    super(options);
    const { AsyncResource } = load("node:async_hooks");
    this.#resource = new AsyncResource(
      typeof options === "string" ? options : (options.name ?? new.target.name),
      options,
    );
  }
  emit(type, ...args) {
    return this.#resource.runInAsyncScope(super.emit, this, type, ...args);
  }
  emitDestroy() {
    this.#resource.emitDestroy();
  }
  get asyncId() {
    return this.#resource.asyncId();
  }
  get triggerAsyncId() {
    return this.#resource.triggerAsyncId();
  }
  get asyncResource() {
    return this.#resource;
  }
}

Object.assign(EventEmitter, {
  once,
  on,
  getEventListeners,
  getMaxListeners,
  setMaxListeners,
  listenerCount,
  addAbortListener,
  EventEmitter,
  EventEmitterAsyncResource,
  usingDomains,
  captureRejectionSymbol,
  errorMonitor,
});
Object.defineProperties(EventEmitter, {
  defaultMaxListeners: {
    get() {
      return defaultMaxListeners;
    },
    set(n) {
      needNumber(n, "defaultMaxListeners", 0);
      defaultMaxListeners = n;
    },
    enumerable: true,
    configurable: true,
  },
  captureRejections: {
    get() {
      return captureAll;
    },
    set(on) {
      if (typeof on !== "boolean") throw invalidType("EventEmitter.captureRejections", "boolean", on);
      captureAll = on;
    },
    enumerable: true,
    configurable: true,
  },
});

export const { init } = EventEmitter;
export const captureRejections = false;
export default EventEmitter;
