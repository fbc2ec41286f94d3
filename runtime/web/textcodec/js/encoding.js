// https://encoding.spec.whatwg.org/ The tables and loops are Go's.
import { host } from "../../webidl/js/host.js";
import { define, dictionary, guarded, need, operation } from "../../webidl/js/idl.js";

/** Text as UTF-8; a lone surrogate becomes U+FFFD. */
export function encode(text) {
  return host.text_encode(text);
}

const { apply } = Reflect;
const { padEnd } = String.prototype;
const narrow = "-".repeat(4096),
  wide = "\u0100".repeat(4096);

/** A string of so many characters that Go writes its own into: it has no other reference. */
export function blank(length, isWide) {
  return apply(padEnd, "", [length, isWide ? wide : narrow]);
}

function atob(data) {
  need(arguments.length, 1, "atob");
  return host.text_atob(`${data}`);
}

function btoa(data) {
  need(arguments.length, 1, "btoa");
  return host.text_btoa(`${data}`);
}

/** UTF-8 bytes as text, without a byte order mark, never failing. */
export function decode(bytes) {
  return host.text_decode("utf-8", bytes, 0);
}

/** The bytes of an ArrayBuffer or view, in place, none of a detached one; undefined for anything else. */
export function bytesOf(value) {
  if (value instanceof Uint8Array && value.length > 0) return value;
  if (ArrayBuffer.isView(value))
    return value.buffer.detached ? new Uint8Array(0) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return value.detached ? new Uint8Array(0) : new Uint8Array(value);
  return undefined;
}

/** The bytes of a BufferSource, in place; a TypeError for anything else. A transferred one has none. */
export function source(data, what = "The data") {
  const buffer = ArrayBuffer.isView(data) ? data.buffer : data;
  if (!(buffer instanceof ArrayBuffer)) throw new TypeError(`${what} is neither an ArrayBuffer nor a view`);
  return buffer.detached ? new Uint8Array(0) : bytesOf(data);
}

let isEncoder;

export class TextEncoder {
  #brand = true;
  static {
    isEncoder = guarded("TextEncoder", (encoder) => encoder.#brand);
  }
  get encoding() {
    return isEncoder(this) && "utf-8";
  }
  encode(input = "") {
    return isEncoder(this) && encode(`${input}`);
  }
  encodeInto(source, destination) {
    need(arguments.length, 2, "TextEncoder.encodeInto");
    const text = `${source}`;
    if (!(destination instanceof Uint8Array))
      throw new TypeError("TextEncoder.encodeInto: the destination is not a Uint8Array");
    const [read, written] = host.text_encode_into(text.toWellFormed(), destination);
    return { read, written };
  }
}

const FATAL = 1,
  IGNORE_BOM = 2,
  STREAM = 4,
  CARRIED = 8;

export class TextDecoder {
  #label;
  #flags;
  #rest = null; // the undecoded end of an earlier call with stream: true
  #flush = true; // the next call begins a new text
  #bomSeen = false;
  constructor(label = "utf-8", options = undefined) {
    this.#label = host.text_label(`${label}`);
    dictionary(options, "TextDecoder constructor: the second argument");
    this.#flags = (options?.fatal ? FATAL : 0) | (options?.ignoreBOM ? IGNORE_BOM : 0);
  }
  get encoding() {
    return this.#label;
  }
  get fatal() {
    return (this.#flags & FATAL) !== 0;
  }
  get ignoreBOM() {
    return (this.#flags & IGNORE_BOM) !== 0;
  }
  decode(input = undefined, options = undefined) {
    const bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
    if (bytes === undefined) throw new TypeError("TextDecoder.decode: the input is neither an ArrayBuffer nor a view");
    const stream = !!dictionary(options, "TextDecoder.decode: the second argument")?.stream;
    if (this.#flush && !stream) return host.text_decode(this.#label, bytes, this.#flags);
    return this.#piece(bytes, stream);
  }
  #piece(bytes, stream) {
    if (this.#flush) {
      this.#rest = null;
      this.#bomSeen = false;
    }
    this.#flush = !stream;
    let flags = this.#flags | IGNORE_BOM | (stream ? STREAM : 0);
    if (this.#rest !== null) {
      bytes = concat([this.#rest, bytes]);
      flags |= CARRIED;
    }
    this.#rest = null;
    let text;
    try {
      [text, this.#rest] = host.text_decode_piece(this.#label, bytes, flags);
    } catch (error) {
      this.#flush = true;
      throw error;
    }
    if (!this.#bomSeen && text !== "") {
      this.#bomSeen = true;
      if (!this.ignoreBOM && text.charCodeAt(0) === 0xfeff && this.#label.startsWith("utf-")) text = text.slice(1);
    }
    return text;
  }
}

/** Joins pieces of bytes into one array. */
export function concat(pieces) {
  if (pieces.length === 1) return pieces[0];
  let size = 0;
  for (const piece of pieces) size += piece.byteLength;
  const out = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.byteLength;
  }
  return out;
}

export function install() {
  define("TextEncoder", TextEncoder);
  define("TextDecoder", TextDecoder);
  operation("atob", atob);
  operation("btoa", btoa);
}
