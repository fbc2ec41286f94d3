// https://nodejs.org/api/http.html#class-httpoutgoingmessage: a stream with a
// head in front, which is fixed by the first piece of the body at the latest.
import { Buffer } from "node:buffer";
import { STATUS_CODES } from "unenv/node/internal/http/constants";
import { getDefaultHighWaterMark, Writable } from "node:stream";
import { invalidType, invalidValue, needString, NodeError } from "node:internal/errors";
import { validateHeaderName, validateHeaderValue } from "node:internal/http/headers";

const kHeaders = Symbol("kHeaders"); // name in lower case -> [name, value]
const kOptions = Symbol("kOptions");
const kWritten = Symbol("kWritten"); // bytes of the body so far
const kTogether = Symbol("kTogether"); // whether pieces are kept back until the code that writes them is done

/** The fixed head of a message: pairs of names and values. */
export const kHead = Symbol("kHead");
/** Whether this is the last part of the body. */
export const kEnding = Symbol("kEnding");

/**
 * OutgoingMessage, which older code calls without new.
 * @this {any}
 * @returns {void}
 */
export function OutgoingMessage(options) {
  if (!(this instanceof /** @type {any} */ (OutgoingMessage))) return new OutgoingMessage(options);
  Writable.call(this, { highWaterMark: options?.highWaterMark ?? getDefaultHighWaterMark() });
  this[kHeaders] = { __proto__: null };
  this[kOptions] = options;
  this[kHead] = null;
  this[kWritten] = 0;
  this[kEnding] = this[kTogether] = false;
  this._header = null; // the head as text
  this._contentLength = null;
  this._hasBody = true;
  this._sent100 = false;
  this._removedConnection = this._removedContLen = this._removedTE = false;
  this._defaultKeepAlive = true;
  this.sendDate = false;
  this.shouldKeepAlive = this.useChunkedEncodingByDefault = true;
  this.chunkedEncoding = false;
  this.strictContentLength = false;
  this.socket = null;
}
Object.setPrototypeOf(OutgoingMessage.prototype, Writable.prototype);
Object.setPrototypeOf(OutgoingMessage, Writable);

function property(name, get, set) {
  Object.defineProperty(OutgoingMessage.prototype, name, { get, set, enumerable: true, configurable: true });
}

property("headersSent", function headersSent() {
  return this._header !== null;
});
property(
  "finished",
  function finished() {
    return this.writableEnded;
  },
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

function tooLate(what) {
  return NodeError(Error, "ERR_HTTP_HEADERS_SENT", `Cannot ${what} headers after they are sent to the client`);
}

const methods = {
  setHeader(name, value) {
    if (this._header !== null) throw tooLate("set");
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this[kHeaders][name.toLowerCase()] = [name, value];
    return this;
  },

  setHeaders(headers) {
    if (this._header !== null) throw tooLate("set");
    if (!(headers instanceof Headers) && !(headers instanceof Map))
      throw invalidType("headers", ["Headers", "Map"], headers);
    const cookies = [];
    for (const [name, value] of headers) {
      if (name === "set-cookie") cookies.push(value);
      else this.setHeader(name, value);
    }
    if (cookies.length > 0) this.setHeader("set-cookie", cookies.flat());
    return this;
  },

  appendHeader(name, value) {
    if (this._header !== null) throw tooLate("append");
    validateHeaderName(name);
    validateHeaderValue(name, value);
    const entry = this[kHeaders][name.toLowerCase()];
    if (entry === undefined) return this.setHeader(name, value);
    entry[1] = [entry[1], value].flat();
    return this;
  },

  getHeader(name) {
    needString(name, "name");
    return this[kHeaders][name.toLowerCase()]?.[1];
  },

  hasHeader(name) {
    needString(name, "name");
    return name.toLowerCase() in this[kHeaders];
  },

  removeHeader(name) {
    needString(name, "name");
    if (this._header !== null) throw tooLate("remove");
    delete this[kHeaders][name.toLowerCase()];
  },

  getHeaders() {
    return Object.assign(
      { __proto__: null },
      Object.fromEntries(Object.entries(this[kHeaders]).map(([key, [, value]]) => [key, value])),
    );
  },
  getHeaderNames() {
    return Object.keys(this[kHeaders]);
  },
  getRawHeaderNames() {
    return Object.values(this[kHeaders]).map(([name]) => name);
  },

  flushHeaders() {
    if (this._header === null) this._implicitHeader();
    this._flush();
  },

  write(chunk, encoding, callback) {
    needChunk(chunk);
    if (this.writableEnded) return afterEnd(this, typeof encoding === "function" ? encoding : callback);
    if (this.destroyed) return Writable.prototype.write.call(this, chunk, encoding, callback);
    const size = sizeOf(chunk, encoding);
    if (this.strictContentLength && this._contentLength !== null && this[kWritten] + size > this._contentLength)
      throw mismatch(this, size);
    if (this._header === null) this._implicitHeader();
    take(this, size);
    together(this);
    return Writable.prototype.write.call(this, chunk, encoding, callback);
  },

  end(chunk, encoding, callback) {
    if (typeof chunk === "function") [callback, chunk, encoding] = [chunk, undefined, undefined];
    else if (typeof encoding === "function") [callback, encoding] = [encoding, undefined];
    if (this.writableEnded && chunk) {
      afterEnd(this, callback);
      return this;
    }
    if (this.writableEnded || this.destroyed) return Writable.prototype.end.call(this, null, null, callback);
    const empty = chunk === undefined || chunk === null;
    if (!empty) needChunk(chunk);
    const size = empty ? 0 : sizeOf(chunk, encoding);
    if (this.strictContentLength && this._contentLength !== null && this[kWritten] + size !== this._contentLength)
      throw mismatch(this, size);
    if (this._header === null) {
      this._contentLength = size;
      this._implicitHeader();
    }
    take(this, size);
    if (callback) this.once("finish", callback);
    this[kEnding] = true;
    together(this);
    return Writable.prototype.end.call(this, chunk, encoding);
  },

  pipe() {
    this.emit("error", NodeError(Error, "ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable"));
  },
  addTrailers() {}, // a response of the platform has none

  setTimeout(milliseconds, callback) {
    if (callback) this.on("timeout", callback);
    return this;
  },

  // Abstract, with the message of Node.js: each class of messages defines its first line here.
  _implicitHeader() {
    throw NodeError(Error, "ERR_METHOD_NOT_IMPLEMENTED", "The _implicitHeader() method is not implemented");
  },
  _flush() {},
  _write(chunk, encoding, callback) {
    callback();
  },
};
for (const [name, value] of Object.entries(methods))
  Object.defineProperty(OutgoingMessage.prototype, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });

function needChunk(chunk) {
  if (chunk === null) throw NodeError(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream");
  if (typeof chunk !== "string" && !(chunk instanceof Uint8Array))
    throw invalidType("chunk", ["string", "Buffer", "Uint8Array"], chunk);
}

// The call is wrong, but the data written before it is still sent.
function afterEnd(message, callback) {
  const error = NodeError(Error, "ERR_STREAM_WRITE_AFTER_END", "write after end");
  process.nextTick(() => {
    callback?.(error);
    message.emit("error", error);
  });
  return false;
}

function sizeOf(chunk, encoding) {
  return typeof chunk === "string"
    ? Buffer.byteLength(chunk, typeof encoding === "string" ? encoding : "utf8")
    : chunk.byteLength;
}

function mismatch(message, size) {
  return NodeError(
    Error,
    "ERR_HTTP_CONTENT_LENGTH_MISMATCH",
    `Response body's content-length of ${message[kWritten] + size} byte(s) does not match ` +
      `the content-length of ${message._contentLength} byte(s) set in header`,
  );
}

function take(message, size) {
  if (size > 0 && !message._hasBody && message[kOptions]?.rejectNonStandardBodyWrites) {
    throw NodeError(
      Error,
      "ERR_HTTP_BODY_NOT_ALLOWED",
      "Adding content for this request method or response status is not allowed.",
    );
  }
  message[kWritten] += size;
}

// Writes of one turn are sent in one piece, and without a stream if there are no more.
function together(message) {
  if (message[kTogether]) return;
  message[kTogether] = true;
  message.cork();
  process.nextTick(() => message.uncork());
}

/** Fixes the head of a message, its first line and its headers. */
export function fixHead(message, line) {
  const head = [];
  for (const [key, [name, value]] of Object.entries(message[kHeaders])) {
    if (key === "cookie" && Array.isArray(value)) head.push([name, value.join("; ")]);
    else for (const one of Array.isArray(value) ? value : [value]) head.push([name, `${one}`]);
  }
  const length = message[kHeaders]["content-length"]?.[1];
  if (length !== undefined) message._contentLength = Number(length);
  message[kHead] = head;
  message._header = `${line}\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/** Sets headers given together: an object, pairs, or a flat list, in which a name may stand more than once. */
export function mergeHeaders(message, given) {
  if (given === undefined || given === null) return;
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given)) message.setHeader(name, value);
    return;
  }
  const pairs = Array.isArray(given[0]) ? given : pairsOf(given);
  for (const [name] of pairs) message.removeHeader(`${name}`);
  for (const [name, value] of pairs) message.appendHeader(name, value);
}

function pairsOf(list) {
  if (list.length % 2 !== 0) throw invalidValue("headers", list);
  return Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]);
}

/** The usual words for a status. */
export function reasonOf(status) {
  return STATUS_CODES[status] ?? "unknown";
}

export default OutgoingMessage;
