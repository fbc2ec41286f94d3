// https://fetch.spec.whatwg.org/#body-mixin A body keeps its source (text, bytes, or a handle of Go's) until code asks for its stream.
//
// The functions here work on the state that a Request or Response keeps in a
// private field. These fields of it are the body's:
//   source   null, a string, a Uint8Array or a HostBody
//   stream   null until it is created
//   used     whether it was read or sent
//   made     the mark of its request; absent if Go keeps track of that
//   list     the headers, flat
import { host } from "../../webidl/js/host.js";
import { blobBytes, blobOf, isBlob } from "../../formdata/js/blob.js";
import { bytesOf, decode, encode } from "../../textcodec/js/encoding.js";
import { decodeForm, encodeForm, isFormData } from "../../formdata/js/formdata.js";
import { get } from "./headers.js";
import { include } from "../../webidl/js/idl.js";
import { FREE, foreign, mark } from "../../iocontext/js/owner.js";
import {
  ReadableStream,
  disturbed,
  isStream,
  measured,
  readAll,
  spend,
  spentStream,
  streamOf,
  streamOfBytes,
} from "../../streams/js/streams.js";
import { teeCloned } from "./tee.js";
import { called, position } from "../../language/js/trace.js";
import { URLSearchParams } from "../../weburl/js/url.js";

/** The content type of a body made from text. */
export const TEXT_TYPE = "text/plain;charset=UTF-8";

/** A body that Go holds: of the request, or of a response to fetch. */
export class HostBody {
  constructor(handle, list, signal) {
    this.handle = handle;
    this.signal = signal ?? null;
    const length = get(list, "content-length");
    this.length =
      length !== null && /^\d+$/.test(length) && get(list, "content-encoding") === null ? Number(length) : null;
  }
  /** Calls one of the host's readers; an abort gives its own reason. */
  read(op) {
    const signal = this.signal;
    if (signal === null) return op(this.handle);
    if (signal.aborted) return Promise.reject(signal.reason);
    return op(this.handle).catch((error) => {
      throw signal.aborted ? signal.reason : error;
    });
  }
  stream() {
    return measured(
      streamOf(
        () => this.read(host.body_read),
        () => {
          host.body_cancel(this.handle);
        },
      ),
      this.length,
    );
  }
}

/** The source of a body, and the content type that it implies (null: none). */
export function extract(init) {
  if (typeof init === "string") return [init.toWellFormed(), TEXT_TYPE];
  const bytes = bytesOf(init);
  if (bytes !== undefined) return [bytes.slice(), null];
  if (isBlob(init)) return [blobBytes(init), init.type || null];
  if (isFormData(init)) return encodeForm(init);
  if (init instanceof URLSearchParams) return [init.toString(), "application/x-www-form-urlencoded;charset=UTF-8"];
  if (isStream(init)) {
    if (disturbed(init))
      throw new TypeError(
        "This ReadableStream is disturbed (has already been read from), and cannot be used as a body.",
      );
    if (init.locked)
      throw new TypeError("This ReadableStream is currently locked to a reader, and cannot be used as a body.");
    return [init, null];
  }
  if (isIterable(init)) return [ReadableStream.from(init), null];
  return [`${init}`.toWellFormed(), TEXT_TYPE];
}

// An iterable is streamed, unless it has a text form of its own.
function isIterable(value) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  if (typeof value[Symbol.asyncIterator] === "function") return true;
  if (typeof value[Symbol.iterator] !== "function" || value[Symbol.toPrimitive] !== undefined) return false;
  return value.toString === Object.prototype.toString || value.toString === Array.prototype.toString;
}

/** Sets up the fields of a body; source may also be a stream. */
export function initBody(b, source) {
  const stream = source !== null && typeof source === "object" && isStream(source);
  b.source = stream ? null : source;
  b.stream = stream ? source : null;
  b.used = false;
  b.made = source === null || stream ? FREE : mark(); // a stream from JavaScript does no I/O
}

export function hasBody(b) {
  return b.source !== null || b.stream !== null;
}

function bodyUsed(b) {
  return b.used || (b.stream !== null && disturbed(b.stream));
}

/** The reason why the body cannot be read in this request; undefined if it can. */
export function foreignBody(b) {
  return foreign(b.made);
}

export function unusable(b) {
  return bodyUsed(b) || (b.stream !== null && b.stream.locked);
}

/** The body's stream, made when there is none yet; null without a body. */
function bodyStream(b) {
  if (b.stream !== null || b.source === null) return b.stream;
  const { source } = b;
  if (b.used) return (b.stream = spentStream());
  b.stream =
    source instanceof HostBody ? source.stream() : streamOfBytes(typeof source === "string" ? encode(source) : source);
  origins.set(b.stream, source);
  return b.stream;
}

// The sources of streams. Frameworks pass a body's stream on to another Response unread; its source
// then replaces the reading of the stream.
const origins = new WeakMap();

/** Takes the body for the caller alone: null, string, Uint8Array, HostBody or stream. */
export function takeBody(b) {
  const body = takeAsIs(b),
    stream = b.stream;
  if (stream === null) return body;
  const origin = origins.get(stream);
  if (origin === undefined || disturbed(stream) || stream.locked) return stream;
  spend(stream);
  return origin;
}

/** takeBody, but a body given as a stream stays one: it can be sent only once. */
export function takeAsIs(b) {
  const body = b.stream ?? b.source;
  if (body !== null) b.used = true;
  return body;
}

/** Splits a body in two; for clone(). */
export function teeBody(from, to) {
  if (from.stream === null && !(from.source instanceof HostBody)) return initBody(to, from.source);
  const [a, b] = teeCloned(bodyStream(from));
  from.source = null;
  from.stream = a;
  initBody(to, b);
}

function refusal(b) {
  const error = foreignBody(b);
  if (error !== undefined) return error;
  if (b.source instanceof HostBody && b.source.signal?.aborted) return b.source.signal.reason;
  if (bodyUsed(b))
    return new TypeError(
      "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.",
    );
  if (b.stream?.locked) return new TypeError("This ReadableStream is currently locked to a reader.");
  return undefined;
}

function readText(b) {
  const source = takeBody(b);
  if (source === null) return Promise.resolve("");
  if (typeof source === "string") return Promise.resolve(source.charCodeAt(0) === 0xfeff ? source.slice(1) : source);
  if (source instanceof HostBody) return source.read(host.body_text);
  return source instanceof Uint8Array ? Promise.resolve(decode(source)) : readAll(source, decode);
}

function readBytes(b) {
  const source = takeBody(b);
  if (source === null) return Promise.resolve(new Uint8Array(0));
  if (typeof source === "string") return Promise.resolve(encode(source));
  if (source instanceof HostBody) return source.read(host.body_bytes);
  return source instanceof Uint8Array ? Promise.resolve(source.slice()) : readAll(source);
}

function consume(stateOf, o, read, convert) {
  let error;
  try {
    const state = stateOf(o);
    error = refusal(state);
    if (error === undefined) {
      const all = read(state);
      return convert === undefined ? all : all.then((value) => convert(value, state));
    }
  } catch (thrown) {
    error = thrown;
  }
  return Promise.reject(error);
}

/** Gives cls the members that Request and Response share; stateOf refuses a foreign this. */
export function mixBody(cls, stateOf) {
  include(
    cls,
    class {
      get body() {
        return bodyStream(stateOf(this));
      }
      get bodyUsed() {
        return bodyUsed(stateOf(this));
      }
      text() {
        return consume(stateOf, this, readText);
      }
      json() {
        return consume(stateOf, this, readText, asked(parseJSON));
      }
      bytes() {
        return consume(stateOf, this, readBytes);
      }
      arrayBuffer() {
        return consume(stateOf, this, readBytes, exactBuffer);
      }
      blob() {
        return consume(stateOf, this, readBytes, (bytes, b) => blobOf(bytes, host.mime_type(contentType(b))));
      }
      formData() {
        return consume(
          stateOf,
          this,
          readBytes,
          asked((bytes, b) => decodeForm(bytes, contentType(b))),
        );
      }
    },
  );
}

/** A conversion that may refuse its input: the error gets the stack of the call, which has already returned. */
function asked(convert) {
  const here = position();
  return (value, b) => {
    try {
      return convert(value, b);
    } catch (error) {
      throw called(error, here);
    }
  };
}

function parseJSON(text) {
  return JSON.parse(text);
}

function contentType(b) {
  return get(b.list, "content-type") ?? "";
}

function exactBuffer(bytes) {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}
