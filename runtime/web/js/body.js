// https://fetch.spec.whatwg.org/#body-mixin A body stays what it was made from
// (text, bytes, or a handle of Go's) until somebody asks for its stream.
import { host } from "./host.js";
import { blobBytes, blobOf, isBlob } from "./blob.js";
import { bytesOf, decode, encode } from "./encoding.js";
import { decodeForm, encodeForm, isFormData } from "./formdata.js";
import { get } from "./headers.js";
import { disturbed, isStream, measured, readAll, spentStream, streamOf, streamOfBytes } from "./streams.js";
import { URLSearchParams } from "./url.js";

export const SOURCE = Symbol("source");   // null, string, Uint8Array or HostBody
export const STREAM = Symbol("stream");   // null until there is one
export const USED = Symbol("used");
export const HEADERS = Symbol("headers"); // a flat list, or the Headers over it
export const LIST = Symbol("list");

/** The content type of a body made from text. */
export const TEXT_TYPE = "text/plain;charset=UTF-8";

/** A body that Go holds: of the request, or of an answer to fetch. */
export class HostBody {
  constructor(handle, list, signal) {
    this.handle = handle;
    this.signal = signal ?? null;
    const length = get(list, "content-length");
    this.length = length !== null && /^\d+$/.test(length) && get(list, "content-encoding") === null ? Number(length) : null;
  }
  /** Calls one of the host's readers; an abort gives its own reason. */
  read(op) {
    const signal = this.signal;
    if (signal === null) return op(this.handle);
    return op(this.handle).catch((error) => { throw signal.aborted ? signal.reason : error; });
  }
  stream() {
    return measured(streamOf(() => this.read(host.body_read), () => { host.body_cancel(this.handle); }), this.length);
  }
}

/** What a body is made from, and the content type that this implies (null: none). */
export function extract(init) {
  if (typeof init === "string") return [init.toWellFormed(), TEXT_TYPE];
  const bytes = bytesOf(init);
  if (bytes !== undefined) return [bytes.slice(), null];
  if (isBlob(init)) return [blobBytes(init), init.type || null];
  if (isFormData(init)) return encodeForm(init);
  if (init instanceof URLSearchParams) return [init.toString(), "application/x-www-form-urlencoded;charset=UTF-8"];
  if (isStream(init)) {
    if (disturbed(init)) throw new TypeError("This ReadableStream is disturbed (has already been read from), and cannot be used as a body.");
    if (init.locked) throw new TypeError("This ReadableStream is currently locked to a reader, and cannot be used as a body.");
    return [init, null];
  }
  return [`${init}`.toWellFormed(), TEXT_TYPE];
}

/** Sets up the fields of a body; source may also be a stream. */
export function initBody(o, source) {
  const stream = source !== null && typeof source === "object" && isStream(source);
  o[SOURCE] = stream ? null : source;
  o[STREAM] = stream ? source : null;
  o[USED] = false;
}

export function hasBody(o) { return o[SOURCE] !== null || o[STREAM] !== null; }

export function bodyUsed(o) { return o[USED] || (o[STREAM] !== null && disturbed(o[STREAM])); }

export function unusable(o) { return bodyUsed(o) || (o[STREAM] !== null && o[STREAM].locked); }

/** The body's stream, made when there is none yet; null without a body. */
export function bodyStream(o) {
  if (o[STREAM] !== null || o[SOURCE] === null) return o[STREAM];
  const source = o[SOURCE];
  o[STREAM] = o[USED] ? spentStream() : source instanceof HostBody ? source.stream()
    : streamOfBytes(typeof source === "string" ? encode(source) : source);
  return o[STREAM];
}

/** Splits a body in two; for clone(). */
export function teeBody(from, to) {
  if (from[STREAM] === null && !(from[SOURCE] instanceof HostBody)) return initBody(to, from[SOURCE]);
  const [a, b] = bodyStream(from).tee();
  from[SOURCE] = null;
  from[STREAM] = a;
  initBody(to, b);
}

/** Takes the body as it is, for sending: null, string, Uint8Array, HostBody or stream. */
export function takeBody(o) {
  const body = o[STREAM] ?? o[SOURCE];
  if (body !== null) o[USED] = true;
  return body;
}

function refusal(o) {
  if (o[SOURCE] === undefined) return new TypeError("Illegal invocation: this is neither a Request nor a Response");
  if (o[SOURCE] instanceof HostBody && o[SOURCE].signal?.aborted) return o[SOURCE].signal.reason;
  if (bodyUsed(o)) return new TypeError("Body has already been used. It can only be used once. Use tee() first if you need to read it twice.");
  if (o[STREAM]?.locked) return new TypeError("This ReadableStream is currently locked to a reader.");
  return undefined;
}

function readText(o) {
  const source = o[SOURCE];
  if (o[STREAM] !== null) return readAll(o[STREAM]).then(decode);
  o[USED] = source !== null;
  if (source === null) return Promise.resolve("");
  if (typeof source === "string") return Promise.resolve(source.charCodeAt(0) === 0xfeff ? source.slice(1) : source);
  if (source instanceof HostBody) return source.read(host.body_text);
  return Promise.resolve(decode(source));
}

function readBytes(o) {
  const source = o[SOURCE];
  if (o[STREAM] !== null) return readAll(o[STREAM]);
  o[USED] = source !== null;
  if (source === null) return Promise.resolve(new Uint8Array(0));
  if (typeof source === "string") return Promise.resolve(encode(source));
  if (source instanceof HostBody) return source.read(host.body_bytes);
  return Promise.resolve(source.slice());
}

function consume(o, read, convert) {
  let error;
  try {
    error = refusal(o);
    if (error === undefined) {
      const all = read(o);
      return convert === undefined ? all : all.then(convert);
    }
  } catch (thrown) {
    error = thrown;
  }
  return Promise.reject(error);
}

/** The members that Request and Response share. */
export class Body {
  get body() { return bodyStream(this); }
  get bodyUsed() { return bodyUsed(this); }
  text() { return consume(this, readText); }
  json() { return consume(this, readText, JSON.parse); }
  bytes() { return consume(this, readBytes); }
  arrayBuffer() { return consume(this, readBytes, exactBuffer); }
  blob() { return consume(this, readBytes, (bytes) => blobOf(bytes, contentType(this))); }
  formData() { return consume(this, readBytes, (bytes) => decodeForm(bytes, contentType(this))); }
}

function contentType(o) { return get(o[LIST], "content-type") ?? ""; }

function exactBuffer(bytes) {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}
