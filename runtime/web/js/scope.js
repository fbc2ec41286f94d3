// The global object as a target of events, and the small objects on it, by
// https://html.spec.whatwg.org/#workerglobalscope as far as it fits Workers.
import { host } from "../webidl/js/host.js";
import { isSignal, onAbort } from "../events/js/abort.js";
import { EventTarget, fire, heard } from "../events/js/event.js";
import { ErrorEvent, PromiseRejectionEvent } from "../events/js/events.js";
import { attribute, define, dress, guarded, need, operation } from "../webidl/js/idl.js";
import { describe, report, reportTo } from "../console/js/report.js";

class WorkerGlobalScope extends EventTarget {
  // @ts-expect-error: nothing constructs it
  constructor() {
    throw new TypeError("Illegal constructor");
  }
}

class ServiceWorkerGlobalScope extends WorkerGlobalScope {
  // @ts-expect-error: nothing constructs it
  constructor() {
    throw new TypeError("Illegal constructor");
  }
}

// https://html.spec.whatwg.org/#report-an-exception It returns true if a listener has handled it.
function announce(error) {
  if (!heard(globalThis, "error")) return false;
  const { name, message, stack } =
    typeof error === "string" ? { name: "", message: error, stack: "" } : describe(error);
  const [, filename = "", line = "0", column = "0"] = /\(?([^\s()]+):(\d+):(\d+)\)?$/m.exec(stack) ?? [];
  const event = new ErrorEvent("error", {
    cancelable: true,
    message: `Uncaught ${name === "" ? message : `${name}: ${message}`}`,
    filename,
    lineno: Number(line),
    colno: Number(column),
    error,
  });
  fire(globalThis, event);
  return event.defaultPrevented;
}

/** Reports a rejected promise without a handler; returns true when a listener dealt with it. */
export function rejected(promise, reason) {
  if (!heard(globalThis, "unhandledrejection")) return false;
  const event = new PromiseRejectionEvent("unhandledrejection", { promise, reason, cancelable: true });
  fire(globalThis, event);
  return event.defaultPrevented;
}

/** Reports that a promise, reported before, has a handler now. */
export function handled(promise, reason) {
  if (!heard(globalThis, "rejectionhandled")) return;
  enqueue(() => {
    fire(globalThis, new PromiseRejectionEvent("rejectionhandled", { promise, reason }));
  });
}

/** Workers' scheduler. */
class Scheduler {
  wait(delay, options) {
    try {
      need(arguments.length, 1, "Scheduler.wait");
      if (!(this instanceof Scheduler)) throw new TypeError("Illegal invocation: this is not a Scheduler");
      const signal = options?.signal;
      if (signal !== undefined && !isSignal(signal))
        throw new TypeError("Scheduler.wait: the signal is not an AbortSignal");
      if (signal?.aborted) return Promise.reject(signal.reason);
      return new Promise((/** @type {(value?: any) => void} */ resolve, reject) => {
        const id = setTimeout(() => {
          forget?.();
          resolve();
        }, delay);
        const forget =
          signal === undefined
            ? undefined
            : onAbort(signal, (reason) => {
                clearTimeout(id);
                reject(reason);
              });
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

const LANGUAGES = Object.freeze(["en"]);

let known;

class Navigator {
  #known = true;
  static {
    known = guarded("Navigator", (navigator) => navigator.#known);
  }
  get userAgent() {
    known(this);
    return "Cloudflare-Workers";
  }
  get language() {
    known(this);
    return "en";
  }
  get languages() {
    known(this);
    return LANGUAGES;
  }
  get hardwareConcurrency() {
    known(this);
    return 1;
  }
  get platform() {
    known(this);
    return "";
  }
  sendBeacon(url, data = undefined) {
    known(this);
    need(arguments.length, 1, "Navigator.sendBeacon");
    const request = new Request(url, { method: "POST", body: data });
    globalThis[Symbol.for("pages.workers")].waitUntil(fetch(request).catch(() => {}));
    return true;
  }
}

let flags = null; // of the platform, made at the first read

class Cloudflare {
  get compatibilityFlags() {
    if (flags === null) {
      flags = Object.create(null);
      const list = host.compatibility_flags();
      for (let at = 0; at < list.length; at += 2) flags[list[at]] = list[at + 1];
      Object.freeze(flags);
    }
    return flags;
  }
}

function reportError(error) {
  need(arguments.length, 1, "reportError");
  report(error);
}

const enqueue = globalThis.queueMicrotask; // the engine's own, which drops exceptions of callbacks

function queueMicrotask(callback) {
  need(arguments.length, 1, "queueMicrotask");
  if (typeof callback !== "function") throw new TypeError("queueMicrotask: the callback is not a function");
  enqueue(() => {
    try {
      callback();
    } catch (error) {
      report(error);
    }
  });
}

function installTarget() {
  delete globalThis[Symbol.toStringTag]; // the engine's "global" would hide the scope's
  define("WorkerGlobalScope", WorkerGlobalScope);
  define("ServiceWorkerGlobalScope", ServiceWorkerGlobalScope);
  Object.setPrototypeOf(globalThis, ServiceWorkerGlobalScope.prototype);
  for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) {
    operation(name, EventTarget.prototype[name]);
  }
}

export function install() {
  installTarget();
  reportTo(announce);
  operation("reportError", reportError);
  operation("queueMicrotask", queueMicrotask);
  attribute("origin", "null"); // as the platform's: a Worker has none
  dress("Scheduler", Scheduler);
  attribute("scheduler", new Scheduler());
  define("Navigator", Navigator);
  attribute("navigator", new Navigator());
  dress("Cloudflare", Cloudflare);
  const cloudflare = new Cloudflare(),
    get = Object.getOwnPropertyDescriptor(Cloudflare.prototype, "compatibilityFlags").get;
  Object.defineProperty(cloudflare, "compatibilityFlags", { get, enumerable: true, configurable: true });
  attribute("Cloudflare", cloudflare);
}
