// https://nodejs.org/api/http.html#class-httpincomingmessage, the request for a server, or the response for a client: a stream of the body
// of a web Request or Response.
import { getDefaultHighWaterMark, Readable } from "node:stream";
import { NodeError } from "node:internal/errors";
import { addJoined } from "node:internal/http/headers";

const kBody = Symbol("kBody"); // the ReadableStream of the unread rest, null when there is none
const kReader = Symbol("kReader"); // its reader, once it is read
const kJoined = Symbol("kJoined");
const kDistinct = Symbol("kDistinct");

/**
 * IncomingMessage, which older code calls without new.
 * @this {any}
 * @returns {void}
 */
export function IncomingMessage(socket) {
  if (!(this instanceof /** @type {any} */ (IncomingMessage))) return new IncomingMessage(socket);
  Readable.call(this, { highWaterMark: socket?.readableHighWaterMark ?? getDefaultHighWaterMark() });
  this.socket = socket;
  this.httpVersionMajor = null;
  this.httpVersionMinor = null;
  this.httpVersion = null;
  this.complete = false;
  this.rawHeaders = [];
  this.rawTrailers = [];
  this.joinDuplicateHeaders = false;
  this.aborted = false;
  this.upgrade = null;
  this.url = "";
  this.method = null;
  this.statusCode = null;
  this.statusMessage = null;
  this._consuming = false;
  this._dumped = false;
  this[kBody] = null;
  this[kReader] = null;
  this[kJoined] = null;
  this[kDistinct] = null;
}
Object.setPrototypeOf(IncomingMessage.prototype, Readable.prototype);
Object.setPrototypeOf(IncomingMessage, Readable);

/** Makes a message that of a web Request. */
export function receive(message, request, env, ctx) {
  const { pathname, search } = new URL(request.url);
  begin(message, request);
  message.method = request.method;
  message.url = pathname + search;
  // A server of Node.js recognizes a body of unknown length by this header.
  if (request.body !== null && !request.headers.has("content-length"))
    message.rawHeaders.push("transfer-encoding", "chunked");
  message.cloudflare = { env, ctx, cf: request.cf };
}

/** Makes a message that of a web Response. */
export function receiveResponse(message, response) {
  begin(message, response);
  message.statusCode = response.status;
  message.statusMessage = response.statusText;
}

function begin(message, { headers, body }) {
  message.httpVersionMajor = message.httpVersionMinor = 1;
  message.httpVersion = "1.1";
  for (const [name, value] of headers) message.rawHeaders.push(name, value);
  message[kBody] = body;
}

/** The error of a message that broke off, as when its client went away. */
export function aborted(cause) {
  const error = NodeError(Error, "ECONNRESET", "aborted");
  if (cause !== undefined) error.cause = cause;
  return error;
}

IncomingMessage.prototype._read = function _read() {
  this._consuming = true;
  if (this[kBody] === null) {
    this.complete = true;
    this.push(null);
    return;
  }
  this[kReader] ??= this[kBody].getReader();
  this[kReader].read().then(
    ({ value, done }) => {
      if (this.destroyed) return;
      this.socket?.moved?.();
      if (done) {
        this.complete = true;
        value = null;
      }
      this.push(value);
    },
    (error) => this.destroy(aborted(error)),
  );
};

IncomingMessage.prototype._destroy = function _destroy(error, callback) {
  if (!this.readableEnded || !this.complete) {
    this.aborted = true;
    drop(this, error);
    this.emit("aborted");
    this.socket?.destroy(error);
  }
  // An abort without an error listener is ignored.
  process.nextTick(() => callback(this.listenerCount("error") > 0 ? error : null));
};

// Tells the sender of the body that reading has ended.
function drop(message, reason) {
  const body = message[kReader] ?? message[kBody];
  message[kBody] = message[kReader] = null;
  body?.cancel(reason ?? undefined).catch(() => {});
}

/** Ends an unread message; the platform skips the rest of the body. */
IncomingMessage.prototype._dump = function _dump() {
  if (this._dumped || this.destroyed) return;
  this._dumped = true;
  this[kBody] = this[kReader] = null;
  this.removeAllListeners("data");
  this.resume();
};

// A request to a server does not time out by itself: the platform ends requests that take too long.
IncomingMessage.prototype.setTimeout = function setTimeout(milliseconds, callback) {
  if (callback) this.on("timeout", callback);
  this.socket?.setTimeout?.(milliseconds);
  return this;
};

IncomingMessage.prototype._addHeaderLines = function _addHeaderLines(headers, count) {
  this.rawHeaders = headers.slice(0, count);
  this[kJoined] = this[kDistinct] = null;
};

IncomingMessage.prototype._addHeaderLine = function _addHeaderLine(name, value, headers) {
  addJoined(headers, name, value, this.joinDuplicateHeaders);
};

function property(name, get, set) {
  Object.defineProperty(IncomingMessage.prototype, name, { get, set, enumerable: true, configurable: true });
}

function each(list, add) {
  for (let i = 0; i < list.length; i += 2) add(list[i], list[i + 1]);
}

property(
  "headers",
  function headers() {
    if (this[kJoined] === null) {
      this[kJoined] = {};
      each(this.rawHeaders, (name, value) => addJoined(this[kJoined], name, value, this.joinDuplicateHeaders));
    }
    return this[kJoined];
  },
  function headers(value) {
    this[kJoined] = value;
  },
);

property(
  "headersDistinct",
  function headersDistinct() {
    if (this[kDistinct] === null) {
      this[kDistinct] = { __proto__: null };
      each(this.rawHeaders, (name, value) => (this[kDistinct][name.toLowerCase()] ??= []).push(value));
    }
    return this[kDistinct];
  },
  function headersDistinct(value) {
    this[kDistinct] = value;
  },
);

property(
  "trailers",
  () => ({}),
  () => {},
);
property(
  "trailersDistinct",
  () => ({ __proto__: null }),
  () => {},
);
property(
  "connection",
  function connection() {
    return this.socket;
  },
  function connection(value) {
    this.socket = value;
  },
);

export default IncomingMessage;
