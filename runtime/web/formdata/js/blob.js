// https://w3c.github.io/FileAPI/
import { bytesOf, concat, decode, encode } from "../../textcodec/js/encoding.js";
import { define, dictionary, need, sequence } from "../../webidl/js/idl.js";
import { streamOfBytes } from "../../streams/js/streams.js";
import { inRequest } from "../../iocontext/js/owner.js";

/** The bytes of a blob, not a copy. */
export let blobBytes;

/** Reports whether value is a Blob. */
export let isBlob;

let fill;

export class Blob {
  #bytes;
  #type;
  static {
    blobBytes = (blob) => blob.#bytes;
    fill = (blob, bytes, type) => {
      blob.#bytes = bytes;
      blob.#type = type;
      return blob;
    };
    isBlob = (value) => typeof value === "object" && value !== null && #bytes in value;
  }
  /** @overload @param {...any} given */
  constructor() {
    const parts = arguments[0],
      options = arguments[1]; // both optional: the length is 0
    dictionary(options, "Blob constructor: the second argument");
    const pieces = parts === undefined ? [] : sequence(parts, "Blob constructor: the first argument", piece);
    const endings = options?.endings;
    const native = endings !== undefined && isNative(`${endings}`);
    const given = options?.type;
    const type = given === undefined ? "" : `${given}`;
    this.#bytes = join(pieces, native);
    this.#type = typeOf(type);
  }
  get size() {
    return this.#bytes.byteLength;
  }
  get type() {
    return this.#type;
  }
  slice(start = 0, end = this.size, contentType = "") {
    return blobOf(
      this.#bytes.subarray(bound(start, this.size), Math.max(bound(start, this.size), bound(end, this.size))),
      typeOf(`${contentType}`),
    );
  }
  text() {
    return settle(() => decode(this.#bytes));
  }
  bytes() {
    return settle(() => this.#bytes.slice());
  }
  arrayBuffer() {
    return settle(() => this.#bytes.slice().buffer);
  }
  stream() {
    inRequest();
    return streamOfBytes(this.#bytes);
  }
}

export class File extends Blob {
  #name;
  #modified;
  constructor(parts, name, options = undefined) {
    need(arguments.length, 2, "File constructor");
    super(parts, options);
    this.#name = `${name}`.toWellFormed();
    this.#modified = options?.lastModified === undefined ? Date.now() : Math.trunc(+options.lastModified) || 0;
  }
  get name() {
    return this.#name;
  }
  get lastModified() {
    return this.#modified;
  }
}

function settle(f) {
  try {
    return Promise.resolve(f());
  } catch (error) {
    return Promise.reject(error);
  }
}

// The type that the constructor and slice give: in lower case, none for other characters.
function typeOf(type) {
  return /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : "";
}

function bound(at, size) {
  const n = toEven(+at);
  return n < 0 ? Math.max(size + n, 0) : Math.min(n, size);
}

// https://webidl.spec.whatwg.org/#Clamp
function toEven(x) {
  if (Number.isNaN(x)) return 0;
  const floor = Math.floor(x),
    rest = x - floor;
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

// The current bytes of a part, or its text.
function piece(part) {
  return isBlob(part) ? blobBytes(part) : (bytesOf(part) ?? `${part}`);
}

function isNative(endings) {
  if (endings === "transparent" || endings === "native") return endings === "native";
  throw new TypeError(`Blob constructor: endings is "${endings}", not "transparent" or "native"`);
}

function join(pieces, native) {
  const bytes = pieces.map((part) =>
    typeof part !== "string" ? part : encode(native ? part.replace(/\r\n?/g, "\n") : part),
  );
  return bytes.length === 1 && bytes[0] === pieces[0] ? bytes[0].slice() : concat(bytes); // one copy, and no second
}

/** A blob over bytes that never change, with a fixed type. */
export function blobOf(bytes, type = "") {
  return fill(new Blob(), bytes, type);
}

/** A file over bytes that never change, with a fixed type. */
export function fileOf(bytes, name, type, lastModified = Date.now()) {
  return fill(new File([], name, { lastModified }), bytes, type);
}

export function install() {
  define("Blob", Blob);
  define("File", File);
}
