// The Worker: its exports, its environment, and the life of each request in it. Go calls the functions that this file exports to the
// entry script.
import { host } from "../webidl/js/host.js";
import { HostBody, foreignBody, takeBody, unusable } from "../fetch/js/body.js";
import { forgetGroups } from "../console/js/console.js";
import { get } from "../fetch/js/headers.js";
import { guarded, need } from "../webidl/js/idl.js";
import { arrive, leave, serve } from "../iocontext/js/owner.js";
import { describe, report } from "../console/js/report.js";
import { clientGone, disconnect, hasGone, incoming } from "../fetch/js/request.js";
import { head, isResponse } from "../fetch/js/response.js";
import { asText, lengthOf, pump } from "../streams/js/streams.js";
import { forgetTimers } from "../timers/js/timers.js";
import { guard, unguard } from "../language/js/finalization.js";
import { noResponse, subjectOf, warningOf, workerOf } from "./exports.js";
import { lastTrace } from "../language/js/trace.js";
import { couple, refusal } from "../socket/js/websocket.js";
import * as classes from "./workers.js";

const env = {};
const requests = new Map(); // by id, until all work of the request is done
let handler = null; // (request, ctx) => Response or a promise of one
let environment = null; // the specification that env was filled from

let idOf;

class ExecutionContext {
  #id;
  static {
    idOf = guarded("ExecutionContext", (ctx) => ctx.#id);
  }
  constructor(id, member) {
    this.#id = id;
    this.props = {};
    this.member = member;
  }
  waitUntil(promise) {
    const id = idOf(this);
    need(arguments.length, 1, "ExecutionContext.waitUntil");
    wait(id, promise);
  }
  passThroughOnException() {
    host.pass_through(idOf(this));
  }
}

/** Fills env. It may be called before the module is evaluated, for code that reads it at the top level. */
export function provide(makeEnv, spec) {
  if (environment === spec) return;
  environment = spec;
  for (const key of Object.keys(env)) delete env[key];
  Object.assign(env, makeEnv(JSON.parse(spec)));
}

/** Checks the module's default export and keeps its fetch handler. */
export function begin(namespace) {
  const worker = workerOf(namespace, classes.WorkerEntrypoint);
  subject = subjectOf(worker);
  handler =
    typeof worker === "function"
      ? (request, ctx) => new worker(ctx, env).fetch(request)
      : (request, ctx) => worker.fetch(request, env, ctx);
  const others = warningOf(worker);
  if (others !== "") host.console_log("warn", others, "");
  warnOfValues(namespace);
  serve();
}

let subject; // the function that must return a Response

// workerd maps the exports of the entry to handlers and classes, and does not accept other values.
function warnOfValues(namespace) {
  for (const name of Object.keys(namespace)) {
    const value = namespace[name];
    if (name === "default" || typeof value === "function" || (typeof value === "object" && value !== null)) continue;
    host.console_log(
      "warn",
      `the entry exports ${name}, ${value === null ? "null" : `of type ${typeof value}`}: wrangler dev starts no Worker ` +
        `that exports anything but functions, classes and objects; keep it in another module, or do not export it`,
      "",
    );
  }
}

/** Runs the handler for one request; its response goes to the host's respond functions. */
export function dispatch(id, method, url, headers, body, member) {
  const request = incoming(method, url, headers, body);
  const state = { request, open: 1, number: arrive(), cancel: null }; // open: the response, and each promise of waitUntil
  requests.set(id, state);
  guard(id);
  const ctx = new ExecutionContext(id, member === null ? null : JSON.parse(member));
  let result;
  try {
    result = handler(request, ctx);
  } catch (error) {
    return fail(id, error);
  }
  if (isResponse(result)) return answer(id, result);
  Promise.resolve(result).then(
    (response) => {
      try {
        answer(id, response);
      } catch (error) {
        fail(id, error);
      }
    },
    (error) => fail(id, error),
  );
}

function fail(id, error) {
  try {
    const { name, message, stack, causes } = describe(error);
    host.respond_fail(id, "exception", name, message, stack, causes);
  } catch {
    // the heap has no room to tell more
    host.respond_fail(id, "exception", "InternalError", "out of memory", "", NO_CAUSES);
  }
  close(id);
}

const NO_CAUSES = [];

const COMPLETE = 0,
  STREAMED = 1,
  HANDLE = 2,
  MANUAL = 4,
  SOCKET = 8;

function answer(id, response) {
  if (!isResponse(response)) {
    host.respond_fail(id, "not-response", "TypeError", noResponse(subject, response), "", []);
    return close(id);
  }
  const state = head(response),
    refused = foreignBody(state);
  if (refused !== undefined) return fail(id, refused);
  if (unusable(state)) {
    return fail(
      id,
      new TypeError(
        "The Response's body has already been used or is locked to a reader; clone() the Response before reading it",
      ),
    );
  }
  const { status, text, list } = state;
  if (status === 0) return fail(id, new TypeError("The handler answered with Response.error()"));
  if (state.extra?.webSocket) return upgrade(id, state);
  const flag = state.extra?.manual ? MANUAL : 0;
  const body = takeBody(state);
  if (body === null || typeof body === "string" || body instanceof Uint8Array) {
    host.respond(id, status, text, list, body, COMPLETE | flag);
    return close(id);
  }
  if (body instanceof HostBody) {
    host.respond(id, status, text, withLength(list, body.length), body.handle, HANDLE | flag);
    return close(id);
  }
  host.respond(id, status, text, withLength(list, lengthOf(body)), null, STREAMED | flag);
  pump(
    body,
    (bytes) => host.respond_chunk(id, bytes),
    (cancel) => watch(id, cancel),
    asText,
  ).then(
    () => {
      host.respond_end(id);
      close(id);
    },
    (error) => fail(id, error),
  );
}

// Cancels the response's body when the client goes, or has gone: its source might not produce a piece for a long time.
function watch(id, cancel) {
  const state = requests.get(id);
  if (hasGone(state.request)) cancel(clientGone());
  else state.cancel = cancel;
  return () => {
    state.cancel = null;
  };
}

// Answers with a WebSocket: the request lasts as long as the connection does.
function upgrade(id, { text, list, extra }) {
  try {
    const refused = refusal(extra.webSocket);
    if (refused !== undefined) throw refused;
    couple(extra.webSocket, host.respond(id, 101, text, list, null, SOCKET), () => close(id));
    unguard(id);
  } catch (error) {
    fail(id, error);
  }
}

// The headers of a response of so many bytes; null is unknown.
function withLength(list, length) {
  return length === null || get(list, "content-length") !== null ? list : [...list, "content-length", `${length}`];
}

function wait(id, promise) {
  const state = requests.get(id);
  if (state === undefined) throw new Error("waitUntil was called after its request had ended");
  state.open++;
  host.wait_for(id, 1);
  Promise.resolve(promise).then(
    () => kept(id),
    (error) => {
      report(error, "waitUntil:");
      kept(id);
    },
  );
}

function kept(id) {
  close(id);
  host.wait_for(id, -1);
}

function close(id) {
  const state = requests.get(id);
  if (state !== undefined && --state.open === 0) forget(id);
}

/** Drops the remaining state of a request. */
export function forget(id) {
  const state = requests.get(id);
  if (state === undefined) return;
  requests.delete(id);
  leave(state.number);
  unguard(id);
  forgetGroups(id);
  forgetTimers(host.finished(id));
}

/** Aborts the signal of a request whose client has gone. */
export function cancel(id) {
  const state = requests.get(id);
  if (state === undefined) return;
  disconnect(state.request);
  state.cancel?.(clientGone());
}

/** The position of the code that is being ended. */
export function backtrace() {
  return lastTrace(64);
} // the author's own frame may be below many of ours

export function install() {
  // The sources of the modules cloudflare:workers and cloudflare:sockets read this.
  Object.defineProperty(globalThis, Symbol.for("pages.workers"), {
    value: Object.freeze({
      env,
      ...classes,
      waitUntil(promise) {
        need(arguments.length, 1, "waitUntil");
        wait(host.current(), promise);
      },
    }),
  });
}
