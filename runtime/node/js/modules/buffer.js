// https://nodejs.org/api/buffer.html. Loops over many bytes are Go's or the engine's own.
import { notImplemented } from "node:internal/absent";
import { call, internals, required } from "node:internal/host";
import {
  invalidType,
  invalidValue,
  needInteger,
  needNumber,
  needString,
  NodeError,
  outOfRange,
} from "node:internal/errors";
import numbers from "node:internal/numbers";

export const kMaxLength = 2 ** 31 - 1,
  kStringMaxLength = 536870888;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };
export let INSPECT_MAX_BYTES = 50;

const KEEP_BOM = 2; // of the web's decoder
const TypedArray = Object.getPrototypeOf(Uint8Array);
const lengthOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, "length").get;
const names = {
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

// The canonical name of an encoding; undefined when there is none.
function known(encoding) {
  return encoding === undefined || encoding === null || encoding === ""
    ? "utf8"
    : (names[encoding] ?? names[`${encoding}`.toLowerCase()]);
}

function encodingOf(encoding) {
  const name = known(encoding);
  if (name === undefined) throw unknownEncoding(encoding);
  return name;
}

function unknownEncoding(encoding) {
  return NodeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
}

class FastBuffer extends Uint8Array {}

/**
 * The class Buffer, which can also be called.
 * @this {any}
 * @returns {void}
 */
export function Buffer(value, encodingOrOffset, length) {
  if (typeof value === "number") {
    if (typeof encodingOrOffset === "string") throw invalidType("string", "string", value);
    return statics.alloc(value);
  }
  return statics.from(value, encodingOrOffset, length);
}
const statics = /** @type {any} */ (Buffer);
Object.setPrototypeOf(Buffer, Uint8Array);
Buffer.prototype = FastBuffer.prototype;
Object.defineProperty(FastBuffer.prototype, "constructor", { value: Buffer, writable: true, configurable: true });
Object.defineProperty(Buffer, Symbol.species, {
  get() {
    return FastBuffer;
  },
  configurable: true,
});

function view(bytes) {
  return new FastBuffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// The bytes of text in an encoding.
function encode(text, encoding) {
  if (text === "") return new FastBuffer(0);
  if (encoding === "utf16le") return utf16(text);
  return view(
    call(
      "encode",
      encoding,
      encoding === "utf8" || encoding === "latin1" || encoding === "ascii" ? text.toWellFormed() : text,
    ),
  );
}

function utf16(text) {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return new FastBuffer(units.buffer);
}

function utf16Text(bytes) {
  let text = "";
  const even = bytes.length & ~1;
  const units = new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + even));
  for (let i = 0; i < units.length; i += 4096) text += String.fromCharCode.apply(null, units.subarray(i, i + 4096));
  return text;
}

function decode(bytes, encoding) {
  if (bytes.length === 0) return "";
  if (encoding === "utf8") return internals.decode("utf-8", bytes, KEEP_BOM);
  return encoding === "utf16le" ? utf16Text(bytes) : call("decode", encoding, bytes);
}

function isBytes(value) {
  return value instanceof Uint8Array;
}
function isAnyBuffer(value) {
  return (
    value instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer) ||
    (typeof value === "object" &&
      value !== null &&
      /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value)) &&
      typeof value.byteLength === "number")
  );
}

function sized(size) {
  needNumber(size, "size", 0, Number.MAX_SAFE_INTEGER);
  if (size > kMaxLength)
    throw NodeError(
      RangeError,
      "ERR_OUT_OF_RANGE",
      `Array buffer allocation failed: ${size} bytes are more than a buffer holds`,
    );
  return size;
}

function fromArrayLike(value) {
  const out = new FastBuffer(Math.max(0, Number(value.length) || 0));
  for (let i = 0; i < out.length; i++) out[i] = value[i];
  return out;
}

function fromBuffer(buffer, offset, length) {
  offset = offset === undefined ? 0 : +offset || 0;
  const most = buffer.byteLength - offset;
  if (most < 0) throw NodeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"offset" is outside of buffer bounds');
  if (length !== undefined) {
    length = +length;
    if (!(length > 0)) length = 0;
    else if (length > most)
      throw NodeError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", '"length" is outside of buffer bounds');
  } else {
    length = most;
  }
  return new FastBuffer(buffer, offset, length);
}

function fromObject(value) {
  if (value.length !== undefined || isAnyBuffer(value.buffer)) {
    return typeof value.length === "number" ? fromArrayLike(value) : new FastBuffer(0);
  }
  if (value.type === "Buffer" && Array.isArray(value.data)) return fromArrayLike(value.data);
  return undefined;
}

// As in Node.js, these functions also work after `new`: packages do write `new Buffer.from(text)`.
Object.defineProperties(
  Buffer,
  Object.getOwnPropertyDescriptors({
    poolSize: 8192,
    from: function from(value, encodingOrOffset, length) {
      const encoding = typeof encodingOrOffset === "string" ? encodingOrOffset : undefined;
      if (typeof value === "string") return encode(value, encodingOf(encoding));
      if (typeof value === "object" && value !== null) {
        if (isAnyBuffer(value)) return fromBuffer(value, encodingOrOffset, length);
        if (isBytes(value)) return new FastBuffer(value);
        const primitive = value.valueOf?.();
        if (
          primitive !== undefined &&
          primitive !== null &&
          primitive !== value &&
          (typeof primitive === "string" || typeof primitive === "object")
        ) {
          return statics.from(primitive, encodingOrOffset, length);
        }
        const made = fromObject(value);
        if (made !== undefined) return made;
        if (typeof value[Symbol.toPrimitive] === "function") {
          const text = value[Symbol.toPrimitive]("string");
          if (typeof text === "string") return encode(text, encodingOf(encoding));
        }
      }
      throw NodeError(
        TypeError,
        "ERR_INVALID_ARG_TYPE",
        invalidType(
          "first argument",
          ["string", "Buffer", "ArrayBuffer", "Array", "an Array-like Object"],
          value,
        ).message.replace(
          /must be .*? Received/,
          "must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received",
        ),
      );
    },
    of: function of(...items) {
      return fromArrayLike(items);
    },
    alloc: function alloc(size, fill, encoding) {
      const buffer = new FastBuffer(sized(size));
      return fill === undefined || fill === 0 || size === 0 ? buffer : buffer.fill(fill, encoding);
    },
    allocUnsafe: function allocUnsafe(size) {
      return new FastBuffer(sized(size));
    },
    allocUnsafeSlow: function allocUnsafeSlow(size) {
      return new FastBuffer(sized(size));
    },
    isBuffer: function isBuffer(value) {
      return value instanceof Buffer;
    },
    isEncoding: function isEncoding(encoding) {
      return typeof encoding === "string" && encoding.length > 0 && known(encoding) !== undefined;
    },
    byteLength: function byteLength(value, encoding) {
      if (typeof value !== "string") {
        if (ArrayBuffer.isView(value) || isAnyBuffer(value)) return value.byteLength;
        throw invalidType("string", ["string", "Buffer", "ArrayBuffer"], value);
      }
      switch (known(encoding) ?? "utf8") {
        case "latin1":
        case "ascii":
          return value.length;
        case "utf16le":
          return value.length * 2;
        case "hex":
          return value.length >>> 1;
        case "base64":
        case "base64url": {
          let n = value.length;
          while (n > 0 && n > value.length - 2 && value.charCodeAt(n - 1) === 61) n--;
          return (n * 3) >>> 2;
        }
        default:
          return call("utf8_length", value.toWellFormed());
      }
    },
    compare: function compare(a, b) {
      if (!isBytes(a)) throw invalidType("buf1", ["Buffer", "Uint8Array"], a);
      if (!isBytes(b)) throw invalidType("buf2", ["Buffer", "Uint8Array"], b);
      return a === b ? 0 : call("compare", a, b);
    },
    concat: function concat(list, total) {
      if (!Array.isArray(list)) throw invalidType("list", "Array", list);
      for (let i = 0; i < list.length; i++) {
        if (!isBytes(list[i])) throw invalidType(`list[${i}]`, ["Buffer", "Uint8Array"], list[i]);
      }
      if (list.length === 0) return new FastBuffer(0); // with any length
      if (total === undefined) total = list.reduce((sum, item) => sum + item.length, 0);
      else needInteger(total, "length", 0);
      const out = new FastBuffer(total);
      let at = 0;
      for (const item of list) {
        if (at >= total) break;
        const piece = item.length > total - at ? item.subarray(0, total - at) : item;
        out.set(piece, at);
        at += piece.length;
      }
      return out;
    },
    copyBytesFrom: function copyBytesFrom(source, offset = 0, length) {
      if (!ArrayBuffer.isView(source) || source instanceof DataView) throw invalidType("view", "TypedArray", source);
      needInteger(offset, "offset", 0);
      if (length !== undefined) needInteger(length, "length", 0);
      const part = /** @type {any} */ (source).subarray(offset, length === undefined ? undefined : offset + length);
      return new FastBuffer(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
    },
  }),
);
for (const key of Object.keys(Buffer)) if (key === "of") Object.defineProperty(Buffer, key, { enumerable: false });

// A range of bytes as in toString and others, limited to the buffer.
function clamp(value, fallback, length) {
  if (value === undefined) return fallback;
  value = Math.trunc(+value) || 0;
  return Math.max(0, Math.min(value, length));
}

function needRange(buffer, start, end) {
  if (start !== undefined) needInteger(start, "offset", 0, kMaxLength);
  if (end !== undefined) needInteger(end, "end", 0, buffer.length);
}

// Writes text at offset, as much of it as fits in whole characters.
function write(buffer, text, offset, length, encoding) {
  if (encoding === "utf8")
    return text === "" ? 0 : call("write_utf8", text.toWellFormed(), buffer.subarray(offset, offset + length));
  const bytes = encode(text, encoding);
  let n = Math.min(bytes.length, length);
  if (encoding === "utf16le") n &= ~1;
  buffer.set(n === bytes.length ? bytes : bytes.subarray(0, n), offset);
  return n;
}

function search(buffer, value, offset, encoding, forward) {
  if (typeof offset === "string") {
    encoding = offset;
    offset = undefined;
  }
  offset = +offset;
  if (Number.isNaN(offset)) offset = forward ? 0 : buffer.length;
  offset = Math.trunc(Math.max(-0x80000000, Math.min(0x7fffffff, offset)));
  if (offset < 0) offset += buffer.length;
  if (typeof value === "number") {
    if (offset < 0) {
      if (!forward) return -1;
      offset = 0;
    }
    return forward
      ? TypedArray.prototype.indexOf.call(buffer, value & 255, offset)
      : TypedArray.prototype.lastIndexOf.call(buffer, value & 255, offset);
  }
  let wide = false;
  if (typeof value === "string") {
    const name = encodingOf(encoding);
    wide = name === "utf16le";
    value = encode(value, name);
  } else if (!isBytes(value)) {
    throw invalidType("value", ["number", "string", "Buffer", "Uint8Array"], value);
  } else {
    wide = known(encoding) === "utf16le";
  }
  return call("index", buffer, value, offset, forward, wide);
}

function swap(size) {
  const name = `swap${8 * size}`;
  return {
    /** @this {any} */
    [name]() {
      if (this.length % size !== 0)
        throw NodeError(RangeError, "ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${8 * size}-bits`);
      call("swap", this, size);
      return this;
    },
  }[name];
}

/** @type {ThisType<any> & Record<string | symbol, any>} */
const prototype = {
  toString(encoding, start, end) {
    if (arguments.length === 0) return decode(this, "utf8");
    const length = this.length;
    start = clamp(start, 0, length);
    end = clamp(end, length, length);
    if (end <= start) return "";
    if (encoding === null || encoding === "") throw unknownEncoding(encoding); // which other methods take for UTF-8
    const name = encodingOf(encoding);
    return decode(start === 0 && end === length ? this : this.subarray(start, end), name);
  },
  toLocaleString(encoding, start, end) {
    return this.toString(encoding, start, end);
  },
  toJSON() {
    return { type: "Buffer", data: Array.from(this) };
  },
  equals(other) {
    if (!isBytes(other)) throw invalidType("otherBuffer", ["Buffer", "Uint8Array"], other);
    return this === other || (this.length === other.length && call("compare", this, other) === 0);
  },
  compare(target, targetStart, targetEnd, start, end) {
    if (!isBytes(target)) throw invalidType("target", ["Buffer", "Uint8Array"], target);
    for (const [name, value, most] of [
      ["targetStart", targetStart],
      ["targetEnd", targetEnd, target.length],
      ["sourceStart", start],
      ["sourceEnd", end, this.length],
    ]) {
      if (value !== undefined) needInteger(value, name, 0, most);
    }
    return call("compare", this.subarray(start ?? 0, end), target.subarray(targetStart ?? 0, targetEnd));
  },
  indexOf(value, offset, encoding) {
    return search(this, value, offset, encoding, true);
  },
  lastIndexOf(value, offset, encoding) {
    return search(this, value, offset, encoding, false);
  },
  includes(value, offset, encoding) {
    return search(this, value, offset, encoding, true) !== -1;
  },
  fill(value, offset, end, encoding) {
    if (typeof offset === "string") [encoding, offset, end] = [offset, undefined, undefined];
    else if (typeof end === "string") [encoding, end] = [end, undefined];
    needRange(this, offset, end);
    offset ??= 0;
    end ??= this.length;
    if (typeof value === "string") {
      if (encoding !== undefined) needString(encoding, "encoding");
      const name = encodingOf(encoding);
      const bytes = encode(value, name);
      if (value !== "" && bytes.length === 0) throw invalidValue("value", value);
      value = bytes.length === 0 ? 0 : bytes;
    } else if (typeof value === "boolean") {
      value = +value;
    }
    if (offset >= end) return this;
    if (isBytes(value)) {
      if (value.length === 0) throw invalidValue("value", value);
      call("fill", this.subarray(offset, end), value);
    } else {
      TypedArray.prototype.fill.call(this, value & 255, offset, end);
    }
    return this;
  },
  write(text, offset, length, encoding) {
    if (typeof text !== "string") throw NodeError(TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
    if (typeof offset === "string") [encoding, offset, length] = [offset, undefined, undefined];
    else if (typeof length === "string") [encoding, length] = [length, undefined];
    if (offset !== undefined) needInteger(offset, "offset", 0, this.length);
    offset ??= 0;
    if (length !== undefined) needInteger(length, "length", 0, this.length);
    const rest = this.length - offset;
    return write(this, text, offset, length === undefined || length > rest ? rest : length, encodingOf(encoding));
  },
  copy(target, targetStart, start, end) {
    if (!isBytes(this)) throw invalidType("source", ["Buffer", "Uint8Array"], this);
    if (!ArrayBuffer.isView(target)) throw invalidType("target", ["Buffer", "Uint8Array"], target);
    const to = Math.trunc(+targetStart) || 0,
      from = Math.trunc(+start) || 0;
    if (to < 0) throw outOfRange("targetStart", ">= 0", to);
    if (from < 0 || from > this.length) throw outOfRange("sourceStart", `>= 0 && <= ${this.length}`, from);
    let until = end === undefined ? this.length : Math.trunc(+end) || 0;
    if (until < 0) throw outOfRange("sourceEnd", ">= 0", until);
    if (to >= target.byteLength || from >= until) return 0;
    until = Math.min(until, this.length, from + target.byteLength - to);
    const into = isBytes(target) ? target : new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    into.set(new Uint8Array(this.buffer, this.byteOffset + from, until - from), to);
    return until - from;
  },
  subarray(start, end) {
    const length = lengthOf.call(this);
    start = index(start, 0, length);
    end = index(end, length, length);
    return new FastBuffer(this.buffer, this.byteOffset + start, Math.max(0, end - start));
  },
  slice(start, end) {
    return this.subarray(start, end);
  },
  swap16: swap(2),
  swap32: swap(4),
  swap64: swap(8),
  inspect(depth, options) {
    return this[Symbol.for("nodejs.util.inspect.custom")](depth, options);
  },
  [Symbol.for("nodejs.util.inspect.custom")](depth, options) {
    let text = call("decode", "hex", this.subarray(0, INSPECT_MAX_BYTES)).replace(/(.{2})(?=.)/g, "$1 ");
    const more = this.length - INSPECT_MAX_BYTES;
    if (more > 0) text += ` ... ${more} more byte${more > 1 ? "s" : ""}`;
    const extra = Object.keys(this).filter((key) => !/^\d+$/.test(key));
    if (options && extra.length > 0) {
      const shown = required("node:util").inspect(Object.fromEntries(extra.map((key) => [key, this[key]])), {
        ...options,
        breakLength: Infinity,
        compact: true,
      });
      text += `${this.length > 0 ? ", " : ""}${shown.replace(/^\[Object: null prototype\] /, "").slice(2, -2)}`;
    }
    return `<${this.constructor.name} ${text}>`;
  },
  get parent() {
    return this instanceof Buffer ? this.buffer : undefined;
  },
  get offset() {
    return this instanceof Buffer ? this.byteOffset : undefined;
  },
};

// An index as slice takes it: from the end when it is negative.
function index(value, fallback, length) {
  if (value === undefined) return fallback;
  value = Math.trunc(+value) || 0;
  return value < 0 ? Math.max(0, length + value) : Math.min(value, length);
}

for (const name of ["utf8", "ucs2", "utf16le", "latin1", "ascii", "base64", "base64url", "hex"]) {
  const encoding = names[name];
  prototype[`${name}Slice`] = {
    [`${name}Slice`](start, end) {
      return decode(this.subarray(start, end), encoding);
    },
  }[`${name}Slice`];
  prototype[`${name}Write`] = {
    /** @this {any} */
    [`${name}Write`](text, offset = 0, length = this.length - offset) {
      return write(this, text, offset, Math.min(length, this.length - offset), encoding);
    },
  }[`${name}Write`];
}

for (const from of [prototype, numbers]) {
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(from)))
    Object.defineProperty(Buffer.prototype, key, property);
}
Object.defineProperty(Buffer.prototype, Symbol.for("nodejs.util.inspect.custom"), {
  value: prototype[Symbol.for("nodejs.util.inspect.custom")],
  writable: true,
  enumerable: false,
  configurable: true,
});
Object.defineProperty(Buffer.prototype, "toLocaleString", {
  value: Buffer.prototype.toString,
  writable: true,
  enumerable: true,
  configurable: true,
});

/** A Buffer that is not zeroed in Node.js; here it is. */
export function SlowBuffer(length) {
  return statics.allocUnsafeSlow(length);
}
Object.setPrototypeOf(SlowBuffer, Uint8Array);
SlowBuffer.prototype = Object.create(Buffer.prototype, {
  constructor: { value: SlowBuffer, writable: true, configurable: true },
});

export function transcode(source, from, to) {
  if (!isBytes(source)) throw invalidType("source", ["Buffer", "Uint8Array"], source);
  const [a, b] = [known(from), known(to)];
  for (const name of [a, b]) {
    if (!["utf8", "utf16le", "latin1", "ascii"].includes(name)) {
      throw Object.assign(
        NodeError(Error, "U_ILLEGAL_ARGUMENT_ERROR", "Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]"),
        { errno: 1 },
      );
    }
  }
  const text = decode(view(source), a);
  const most = b === "ascii" ? 0x7f : b === "latin1" ? 0xff : Infinity;
  return encode([...text].map((c) => (c.codePointAt(0) > most ? "?" : c)).join(""), b);
}

function needBytes(input) {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (isAnyBuffer(input)) return new Uint8Array(input);
  throw invalidType("input", ["ArrayBuffer", "Buffer", "TypedArray"], input);
}

export function isUtf8(input) {
  return call("is_utf8", needBytes(input));
}
export function isAscii(input) {
  return call("is_ascii", needBytes(input));
}
export const resolveObjectURL = notImplemented("buffer.resolveObjectURL");
export const { atob, btoa, Blob, File } = globalThis;

const all = {
  Buffer,
  SlowBuffer,
  transcode,
  isUtf8,
  isAscii,
  kMaxLength,
  kStringMaxLength,
  btoa,
  atob,
  constants,
  Blob,
  File,
  resolveObjectURL,
  get INSPECT_MAX_BYTES() {
    return INSPECT_MAX_BYTES;
  },
  set INSPECT_MAX_BYTES(value) {
    needNumber(value, "INSPECT_MAX_BYTES", 0);
    INSPECT_MAX_BYTES = value;
  },
};
export default all;
