// https://nodejs.org/api/http.html#class-httpserver. A server listens at a port
// of the Worker's own; cloudflare:node brings it the requests of the platform.
import { EventEmitter } from "node:events";
import { absentOption } from "node:internal/absent";
import {
  needBoolean,
  needFunction,
  needInteger,
  needNumber,
  needObject,
  NodeError,
  outOfRange,
} from "node:internal/errors";
import { aborted, IncomingMessage, receive } from "node:internal/http/incoming";
import { answerOf, breakOff, ServerResponse } from "node:internal/http/response";
import { Socket } from "node:internal/http/socket";

const listening = new Map(); // server by port
const kPort = Symbol("kPort");
const kOptions = Symbol("kOptions");

/** The server that listens at a port. */
export function serverAt(port) {
  return listening.get(port);
}

/**
 * Server, which older code calls without new.
 * @this {any}
 * @returns {void}
 */
export function Server(options, listener) {
  if (!(this instanceof /** @type {any} */ (Server))) return new Server(options, listener);
  if (typeof options === "function") [options, listener] = [{}, options];
  options ??= {};
  needObject(options, "options");
  // Whatever a handler of the event request does with errors, they end its request.
  EventEmitter.call(this, { captureRejections: true });
  this[kPort] = null;
  this[kOptions] = options;
  this.timeout = 0;
  this.maxHeadersCount = null;
  this.maxRequestsPerSocket = 0;
  this.keepAliveTimeout = 5000;
  this.httpAllowHalfOpen = false;
  configure(this, options);
  if (listener !== undefined) this.on("request", listener);
}
Object.setPrototypeOf(Server.prototype, EventEmitter.prototype);
Object.setPrototypeOf(Server, EventEmitter);

// Settings of connections and of the parser, which the platform manages.
const FIXED = ["maxHeaderSize", "keepAliveTimeout", "keepAliveTimeoutBuffer", "connectionsCheckingInterval"];

function configure(server, options) {
  for (const name of FIXED) {
    if (options[name] === undefined) continue;
    needInteger(options[name], name, 0);
    throw absentOption(`http ${name}`);
  }
  for (const name of [
    "insecureHTTPParser",
    "requireHostHeader",
    "joinDuplicateHeaders",
    "rejectNonStandardBodyWrites",
  ]) {
    if (options[name] !== undefined) needBoolean(options[name], `options.${name}`);
  }
  for (const name of ["requestTimeout", "headersTimeout"]) {
    if (options[name] !== undefined) needInteger(options[name], name, 0);
  }
  if (options.highWaterMark !== undefined) needNumber(options.highWaterMark, "options.highWaterMark");
  server.requestTimeout = options.requestTimeout ?? 300_000;
  server.headersTimeout = options.headersTimeout ?? Math.min(60_000, server.requestTimeout);
  if (server.requestTimeout > 0 && server.headersTimeout > server.requestTimeout)
    throw outOfRange("headersTimeout", "<= requestTimeout", server.headersTimeout);
  server.requireHostHeader = options.requireHostHeader ?? true;
  server.joinDuplicateHeaders = options.joinDuplicateHeaders ?? false;
  server.rejectNonStandardBodyWrites = options.rejectNonStandardBodyWrites ?? false;
}

function visitorOf({ headers, url }, localPort) {
  return {
    remoteAddress: headers.get("cf-connecting-ip") ?? "127.0.0.1",
    remotePort: 32768 + Math.floor(Math.random() * 32768),
    localAddress: headers.get("host") ?? "127.0.0.1",
    localPort,
    encrypted: url.startsWith("https:"),
  };
}

/** Returns a promise of the listeners' response to a request. It rejects with an exception that they throw before the head is sent. */
export async function answer(server, request, env, ctx) {
  const {
    IncomingMessage: Incoming = IncomingMessage,
    ServerResponse: Outgoing = ServerResponse,
    highWaterMark,
  } = server[kOptions];
  const socket = new Socket(visitorOf(request, server[kPort]), (error) => {
    incoming.destroy(error ?? aborted());
    if (!response.writableFinished) breakOff(response, error);
  });
  const incoming = new Incoming(socket);
  incoming.joinDuplicateHeaders = server.joinDuplicateHeaders;
  receive(incoming, request, env, ctx);
  const response = new Outgoing(incoming, {
    highWaterMark,
    rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites,
  });
  const promise = answerOf(response, socket);
  request.signal.addEventListener("abort", () => socket.destroy());
  // An unread request ends with its response, for listeners of its end.
  response.once("finish", () => {
    if (!incoming._consuming && incoming.eventNames().length > 0) incoming._dump();
  });
  try {
    server.emit("connection", socket);
    server.emit("request", incoming, response);
  } catch (error) {
    if (response.writableEnded) throw error;
    socket.destroy(error);
  }
  return promise;
}

// The forms of listen's port: a number, a text of digits, or an object with one of these.
function portOf(given) {
  const value = typeof given === "object" && given !== null ? given.port : given;
  if (typeof value !== "number" && !(typeof value === "string" && /^\d+$/.test(value))) return 0;
  const port = Number(value);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw NodeError(
      RangeError,
      "ERR_SOCKET_BAD_PORT",
      `options.port should be >= 0 and < 65536. Received type ${typeof value} (${value}).`,
    );
  }
  return port;
}

function freePort() {
  let port = 49152;
  while (listening.has(port)) port++;
  return port;
}

function then(server, event) {
  process.nextTick(() => server.emit(event));
}

/** @type {ThisType<any> & Record<string | symbol, any>} */
const methods = {
  listen(...given) {
    const wanted = portOf(given[0]),
      listener = given.findLast((value) => typeof value === "function");
    if (this[kPort] !== null)
      throw NodeError(
        Error,
        "ERR_SERVER_ALREADY_LISTEN",
        "Listen method has been called more than once without closing.",
      );
    if (listening.has(wanted))
      throw NodeError(Error, "EADDRINUSE", `listen EADDRINUSE: address already in use 127.0.0.1:${wanted}`);
    if (listener !== undefined) this.once("listening", listener);
    this[kPort] = wanted || freePort();
    listening.set(this[kPort], this);
    then(this, "listening");
    return this;
  },

  close(callback) {
    if (typeof callback === "function") this.once("close", callback);
    listening.delete(this[kPort]);
    this[kPort] = null;
    then(this, "close");
    return this;
  },

  address() {
    return this[kPort] === null ? null : { port: this[kPort], family: "IPv4", address: "127.0.0.1" };
  },

  getConnections(callback) {
    if (callback !== undefined) {
      needFunction(callback, "callback");
      process.nextTick(callback, null, 0);
    }
    return this;
  },

  setTimeout(milliseconds, callback) {
    if (typeof milliseconds === "function") [milliseconds, callback] = [undefined, milliseconds];
    if (milliseconds !== undefined) this.timeout = milliseconds;
    if (callback !== undefined) this.on("timeout", callback);
    return this;
  },

  closeAllConnections() {},
  closeIdleConnections() {},
  ref() {
    return this;
  },
  unref() {
    return this;
  },
  [Symbol.asyncDispose]() {
    return new Promise((resolve) => {
      this.close(resolve);
    });
  },

  [Symbol.for("nodejs.rejection")](error, event, incoming, response) {
    if (event !== "request") this.emit("error", error);
    else if (response.writableEnded)
      Promise.reject(error); // nothing is left to break off
    else response.destroy(error);
  },
};
for (const name of Reflect.ownKeys(methods))
  Object.defineProperty(Server.prototype, name, {
    value: methods[name],
    writable: true,
    enumerable: true,
    configurable: true,
  });
Object.defineProperties(Server.prototype, {
  listening: {
    get() {
      return this[kPort] !== null;
    },
    enumerable: true,
    configurable: true,
  },
  maxConnections: { value: Infinity, writable: true, configurable: true },
  connections: { get: () => 0, configurable: true },
});

export function createServer(options, listener) {
  return new Server(options, listener);
}

export default Server;
