// https://nodejs.org/api/http.html#class-httpserverresponse: a handler's output becomes a web Response.
import { Buffer } from "node:buffer";
import { createNotImplementedError } from "node:internal/absent";
import { NodeError } from "node:internal/errors";
import { isText } from "node:internal/http/headers";
import { fixHead, kEnding, kHead, mergeHeaders, OutgoingMessage, reasonOf } from "node:internal/http/outgoing";

const kAnswer = Symbol("kAnswer");
const kSent = Symbol("kSent"); // bytes of the body that were passed on

// Answer delivers a Response to its receiver: whole, or with a stream that takes a piece when the
// reader wants one.
class Answer {
  #asked = Promise.withResolvers();
  #controller = null;
  #done = false; // whether it was whole
  #taken = null; // tells the writer that the piece is read
  #left;

  /** left() is called when the reader goes away. */
  constructor(left) {
    this.#left = left;
  }

  get response() {
    return this.#asked.promise;
  }
  get begun() {
    return this.#controller !== null;
  }

  /** Responds at once; a second call has no effect. */
  whole(body, response) {
    if (this.#done) return;
    this.#done = true;
    this.#asked.resolve(new Response(body, init(response)));
  }

  begin(response) {
    const body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pulled(),
        cancel: () => this.#left(),
      },
      { highWaterMark: 0 },
    );
    this.#asked.resolve(new Response(body, init(response)));
  }

  #pulled() {
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  put(bytes, taken) {
    this.#taken = taken;
    this.#controller.enqueue(new Uint8Array(bytes)); // a copy: the writer may use its buffer again
  }

  close() {
    this.#controller.close();
  }

  fail(error) {
    this.#asked.reject(error);
    this.#controller?.error(error);
  }
}

/**
 * ServerResponse, which older code calls without new. One without a server discards its output.
 * @this {any}
 * @returns {void}
 */
export function ServerResponse(request, options) {
  if (!(this instanceof /** @type {any} */ (ServerResponse))) return new ServerResponse(request, options);
  OutgoingMessage.call(this, options);
  this.req = request;
  this.statusCode = 200;
  this.statusMessage = undefined;
  this.sendDate = true;
  this[kAnswer] = null;
  this[kSent] = 0;
}
Object.setPrototypeOf(ServerResponse.prototype, OutgoingMessage.prototype);
Object.setPrototypeOf(ServerResponse, OutgoingMessage);

/** Connects a response and returns the promise of the web's Response. */
export function answerOf(response, socket) {
  response.socket = socket;
  response[kAnswer] = new Answer(() => socket.destroy());
  return response[kAnswer].response;
}

/** Ends a response that cannot be finished; without an error, its reader has left. */
export function breakOff(response, error) {
  response[kAnswer].fail(
    error ?? NodeError(Error, "ECONNRESET", "the connection was closed before the response was complete"),
  );
  response.destroy();
}

const methods = {
  writeHead(wanted, reason, headers) {
    if (this._header !== null)
      throw NodeError(Error, "ERR_HTTP_HEADERS_SENT", "Cannot write headers after they are sent to the client");
    if (typeof reason !== "string") [reason, headers] = [this.statusMessage || reasonOf(wanted), headers ?? reason];
    const status = wanted | 0;
    if (status < 200 || status > 599)
      throw NodeError(RangeError, "ERR_HTTP_INVALID_STATUS_CODE", `Invalid status code: ${wanted}`);
    if (!isText(reason)) throw NodeError(TypeError, "ERR_INVALID_CHAR", "Invalid character in statusMessage");
    mergeHeaders(this, headers);
    fixHead(this, `HTTP/1.1 ${status} ${reason}`);
    this._hasBody = status !== 204 && status !== 205 && status !== 304;
    this.statusCode = status;
    this.statusMessage = reason;
    return this;
  },

  _implicitHeader() {
    this.writeHead(this.statusCode);
  },

  _flush() {
    const answer = this[kAnswer];
    if (answer !== null && this._hasBody && !answer.begun) answer.begin(this);
  },

  _write(chunk, encoding, callback) {
    const answer = this[kAnswer];
    if (answer === null || !this._hasBody) return callback();
    const room = (this._contentLength ?? Infinity) - this[kSent];
    if (chunk.byteLength > room) chunk = chunk.subarray(0, room); // more than was announced would be read as the next answer
    this[kSent] += chunk.byteLength;
    if (answer.begun) return answer.put(chunk, callback);
    if (this[kEnding]) {
      answer.whole(chunk, this);
      return callback();
    }
    answer.begin(this);
    answer.put(chunk, callback);
  },

  _writev(chunks, callback) {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "buffer", callback);
  },

  _final(callback) {
    const answer = this[kAnswer];
    if (answer?.begun) answer.close();
    else answer?.whole(null, this);
    callback();
  },

  _destroy(error, callback) {
    if (this[kAnswer] !== null && !this.writableFinished) this.socket?.destroy(error);
    callback();
  },

  assignSocket(socket) {
    this.socket = socket;
  },
  detachSocket() {
    this.socket = null;
  },
  writeContinue() {
    throw createNotImplementedError("http.ServerResponse.writeContinue");
  },
  writeProcessing() {
    throw createNotImplementedError("http.ServerResponse.writeProcessing");
  },
  writeEarlyHints() {
    throw createNotImplementedError("http.ServerResponse.writeEarlyHints");
  },
};
methods.writeHeader = methods.writeHead;
for (const [name, value] of Object.entries(methods))
  Object.defineProperty(ServerResponse.prototype, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });

function init(response) {
  return { status: response.statusCode, statusText: response.statusMessage, headers: response[kHead] };
}

export default ServerResponse;
