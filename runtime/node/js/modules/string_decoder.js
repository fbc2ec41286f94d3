// https://nodejs.org/api/string_decoder.html
import { Buffer } from "node:buffer";
import { invalidType, NodeError } from "node:internal/errors";

const encodings = {
  utf8: "utf8",
  "utf-8": "utf8",
  ucs2: "utf16le",
  "ucs-2": "utf16le",
  utf16le: "utf16le",
  "utf-16le": "utf16le",
  latin1: "latin1",
  binary: "latin1",
  base64: "base64",
  base64url: "base64url",
  hex: "hex",
  ascii: "ascii",
};

// The number of bytes at the end of bytes that wait for more: an unfinished character of UTF-8 or UTF-16, or an unfinished group of three
// for base64.
function unfinished(bytes, encoding) {
  const n = bytes.length;
  switch (encoding) {
    case "utf8":
      return unfinishedUTF8(bytes);
    case "utf16le": {
      const odd = n & 1;
      return odd === 0 && n >= 2 && (bytes[n - 1] & 0xfc) === 0xd8 ? 2 : odd;
    }
    case "base64":
    case "base64url":
      return n % 3;
    default:
      return 0;
  }
}

function unfinishedUTF8(bytes) {
  const n = bytes.length;
  for (let back = 1; back <= 3 && back <= n; back++) {
    const b = bytes[n - back];
    if ((b & 0xc0) === 0x80) continue;
    const need = b >= 0xf0 && b <= 0xf4 ? 4 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xc2 && b < 0xe0 ? 2 : 1;
    return need > back ? back : 0;
  }
  return 0;
}

/**
 * StringDecoder, which older code calls without new.
 * @this {any}
 * @returns {void}
 */
export function StringDecoder(encoding) {
  const name =
    encoding === undefined || encoding === null || encoding === "" ? "utf8" : encodings[`${encoding}`.toLowerCase()];
  if (name === undefined) throw NodeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  this.encoding = name;
  Object.defineProperty(this, "rest", { value: Buffer.alloc(0), writable: true });
}

/** @type {ThisType<any>} */
const methods = {
  write(chunk) {
    if (typeof chunk === "string") return chunk;
    if (!ArrayBuffer.isView(chunk)) throw invalidType("buf", ["Buffer", "TypedArray", "DataView"], chunk);
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.rest.length > 0) bytes = Buffer.concat([this.rest, bytes]);
    const keep = unfinished(bytes, this.encoding);
    this.rest = keep === 0 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(bytes.length - keep));
    return bytes.toString(this.encoding, 0, bytes.length - keep);
  },
  end(chunk) {
    let text = chunk === undefined ? "" : this.write(chunk);
    if (this.rest.length > 0) {
      text += this.rest.toString(this.encoding);
      this.rest = Buffer.alloc(0);
    }
    return text;
  },
  text(chunk, offset) {
    this.rest = Buffer.alloc(0);
    return this.write(chunk.subarray(offset));
  },
};
Object.assign(StringDecoder.prototype, methods);
Object.defineProperties(StringDecoder.prototype, {
  lastChar: {
    get() {
      return this.rest;
    },
    enumerable: true,
    configurable: true,
  },
  lastNeed: {
    get() {
      return this.rest.length > 0 ? Math.max(1, unitSize(this) - this.rest.length) : 0;
    },
    enumerable: true,
    configurable: true,
  },
  lastTotal: {
    get() {
      return this.rest.length > 0 ? unitSize(this) : 0;
    },
    enumerable: true,
    configurable: true,
  },
});

function unitSize({ encoding, rest }) {
  if (encoding === "utf8") return rest[0] >= 0xf0 ? 4 : rest[0] >= 0xe0 ? 3 : 2;
  if (encoding === "utf16le") return rest.length >= 2 ? 4 : 2;
  return 3;
}

export default { StringDecoder };
