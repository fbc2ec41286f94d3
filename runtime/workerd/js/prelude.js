// The script around a Worker in workerd: it reports the request of running code, log lines and the errors of handlers.
import { WorkerEntrypoint } from "cloudflare:workers";
import { install as installConsole, forgetGroups } from "../../web/console/js/console.js";
import { describe, report } from "../../web/console/js/report.js";
import { noResponse, subjectOf, warningOf, workerOf } from "../../web/js/exports.js";
import { current, emit, loaded, onBehalf, open } from "./channel.js";
import { useNode } from "./host.js";
import { install as installFetch } from "./fetch.js";
import { install as installSockets } from "./sockets.js";
import { install as installTimers } from "./timers.js";

const NativeResponse = Response;
const { apply } = Reflect;
const { defineProperty, setPrototypeOf } = Object;
const getterOf = (cls, name) => {
  let holder = cls.prototype;
  while (!Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder);
  const { get } = Object.getOwnPropertyDescriptor(holder, name);
  return (value) => apply(get, value, []);
};
const cfOf = getterOf(Request, "cf");
const headersOf = getterOf(Request, "headers");
const statusOf = getterOf(Response, "status");
const responseHeaders = getterOf(Response, "headers");
const bodyOf = getterOf(Response, "body");
const { get: getHeader, set: setHeader } = Headers.prototype;
const { stringify } = JSON;
const { resolve } = Promise;
const { then } = Promise.prototype;

// The header of a response that adds details to its status.
const ANSWER = "pages-answer";

let secret = "";
let front = "";

/**
 * Replaces globals before the author's code is evaluated. The token begins each report to Go, and name
 * begins the ids of the requests that Go sends. around wraps the waitUntil of cloudflare:workers in a function.
 */
export function install(token, name, nodeUtil, around) {
  secret = token;
  front = name;
  open(token);
  if (nodeUtil !== undefined) useNode(nodeUtil);
  installConsole();
  installFetch();
  installSockets();
  installTimers();
  around(
    (native) =>
      function (promise) {
        const state = current();
        if (arguments.length === 0 || state === undefined) return apply(native, undefined, arguments);
        native(wait(state, promise));
      },
  );
  addEventListener("unhandledrejection", (event) => {
    const request = current();
    // The author's own listeners come later.
    queueMicrotask(() => {
      if (!event.defaultPrevented) emit({ kind: "rejection", ...described(event.reason) }, request);
    });
  });
}

// An error for a report.
function described(error) {
  const { name, message, stack, causes } = describe(error);
  return { name, message, stack, causes: setPrototypeOf(causes, null) };
}

/** Reports the reason why the author's module could not be evaluated. */
export function failed(error) {
  emit({ kind: "load", ...described(error) });
}

/** The default export of the Worker, which wraps the author's. */
export function wrap(namespace) {
  const worker = workerOf(namespace, WorkerEntrypoint);
  const others = warningOf(worker);
  if (others !== "") emit({ kind: "line", level: "warn", text: others, stack: "" });
  loaded();
  const subject = subjectOf(worker);
  if (typeof worker !== "function") {
    return {
      fetch: (request, env, ctx) => serve(request, ctx, subject, (given) => worker.fetch(given, env, ctx)),
    };
  }
  return class extends worker {
    fetch(request) {
      return serve(request, this.ctx, subject, (given) => super.fetch(given));
    }
  };
}

// Serves one request: call is the author's handler.
function serve(request, ctx, subject, call) {
  const id = cfOf(request)?.tlsClientRandom ?? "";
  if (!id.startsWith(`${front}-`)) return new NativeResponse(null, { status: 403 }); // not from Go
  if (id.startsWith(`${front}-p`)) {
    emit({ kind: "pong", id }, undefined);
    return new NativeResponse(null, { status: 204 });
  }
  // answers: the handler runs; waiting: the promises of waitUntil that have not settled
  const state = { id, answers: true, waiting: 0, waits: false, passThrough: false, lines: 0, characters: 0 };
  dress(ctx, state, request);
  return onBehalf(state, () => {
    let result;
    try {
      result = call(request);
    } catch (error) {
      return refuse(state, "exception", described(error));
    }
    if (isResponse(result)) return answer(state, subject, result);
    return apply(then, apply(resolve, Promise, [result]), [
      (response) => answer(state, subject, response),
      (error) => refuse(state, "exception", described(error)),
    ]);
  });
}

function isResponse(value) {
  try {
    return statusOf(value) > 0;
  } catch {
    return false;
  }
}

// Go's response in place of the author's handler.
function refuse(state, kind, error) {
  answered(state);
  const { passThrough } = state;
  return new NativeResponse(stringify({ __proto__: null, kind, passThrough, ...error }), {
    status: 500,
    headers: { [ANSWER]: `${secret} failed` },
  });
}

function answer(state, subject, response) {
  if (!isResponse(response)) {
    const message = noResponse(subject, response);
    return refuse(state, "not-response", { name: "TypeError", message, stack: "", causes: setPrototypeOf([], null) });
  }
  answered(state);
  // workerd itself also responds with this status; the header marks the author's response.
  if (statusOf(response) !== 500) return response;
  const mark = `${secret} given`;
  try {
    apply(setHeader, responseHeaders(response), [ANSWER, mark]);
    return response;
  } catch {
    // its headers cannot be changed
    const copy = new NativeResponse(bodyOf(response), response);
    apply(setHeader, responseHeaders(copy), [ANSWER, mark]);
    return copy;
  }
}

// The parts of ctx that the platform adds, or that Go has to observe.
function dress(ctx, state, request) {
  const { waitUntil, passThroughOnException } = ctx;
  put(ctx, "member", memberOf(request), true);
  put(ctx, "waitUntil", function (promise) {
    if (arguments.length === 0 || this !== ctx) return apply(waitUntil, this, arguments);
    apply(waitUntil, ctx, [wait(state, promise)]);
  });
  put(ctx, "passThroughOnException", function () {
    if (this !== ctx) return apply(passThroughOnException, this, arguments);
    state.passThrough = true;
  });
}

function put(object, name, value, enumerable = false) {
  /** @type {any} */
  const property = { __proto__: null, value, writable: true, configurable: true, enumerable }; // without the author's prototype
  defineProperty(object, name, property);
}

function memberOf(request) {
  const headers = headersOf(request);
  const read = (name) => apply(getHeader, headers, [`x-pages-member-${name}`]) ?? "";
  const id = read("id");
  return id === "" ? null : { email: read("email"), id, name: read("name") };
}

function wait(state, promise) {
  if (state.waiting++ === 0) {
    state.waits = true;
    emit({ kind: "waits" }, state);
  }
  return apply(then, apply(resolve, Promise, [promise]), [
    () => settled(state),
    (error) => {
      onBehalf(state, () => report(error, "waitUntil:"));
      settled(state);
    },
  ]);
}

function answered(state) {
  state.answers = false;
  close(state);
}

function settled(state) {
  if (--state.waiting > 0) return;
  // Here workerd ends a handler whose client has left.
  if (state.answers) emit({ kind: "settled" }, state);
  close(state);
}

function close(state) {
  if (state.answers || state.waiting > 0) return;
  forgetGroups(state.id);
  if (state.waits) emit({ kind: "done" }, state);
}
