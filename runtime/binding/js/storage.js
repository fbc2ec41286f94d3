// Object storage with the shape of R2. This file checks shapes and makes plain
// documents of options; limits, conditions and ranges are judged by the host.
import { host } from "../../web/js/host.js";
import { bytesOf, drain, lengthOf, pump, streamOf, viewOf } from "./body.js";

/** A Blob over this size is stored piece by piece. */
const LARGE = 1 << 20;

const HASHES = { md5: ["MD5", 16], sha1: ["SHA-1", 20], sha256: ["SHA-256", 32], sha384: ["SHA-384", 48], sha512: ["SHA-512", 64] };

const HEADERS = {
  contentType: "content-type", contentLanguage: "content-language", contentDisposition: "content-disposition",
  contentEncoding: "content-encoding", cacheControl: "cache-control",
};

export class R2Bucket {
  #id;
  constructor(id) { this.#id = id; }

  async head(key) {
    const found = await host.r2_head(this.#id, text(key));
    return found === null ? null : new R2Object(found);
  }

  async get(key, options) {
    const found = await host.r2_get(this.#id, text(key), getOptions(options));
    if (found === null) return null;
    return found.body === null ? new R2Object(found.object) : new R2ObjectBody(found.object, found.body);
  }

  async put(key, value, options) {
    const stored = await send(this.#id, text(key), value, putOptions(options));
    return stored === null ? null : new R2Object(stored);
  }

  async delete(keys) {
    await host.r2_delete(this.#id, Array.isArray(keys) ? keys.map(text) : [text(keys)]);
  }

  async list(options) {
    const { objects, ...page } = await host.r2_list(this.#id, listOptions(options));
    return { objects: objects.map((o) => new R2Object(o)), ...page };
  }

  async createMultipartUpload(key, options) {
    const name = text(key);
    return new R2MultipartUpload(this.#id, name, await host.r2_mpu_create(this.#id, name, JSON.stringify(metadata(options))));
  }

  resumeMultipartUpload(key, uploadId) { return new R2MultipartUpload(this.#id, text(key), text(uploadId)); }
}

export class R2MultipartUpload {
  #id;
  constructor(id, key, uploadId) {
    this.#id = id;
    this.key = key;
    this.uploadId = uploadId;
  }

  async uploadPart(partNumber, value, options) {
    noKey(options);
    if (value === null) throw new TypeError("A part must have a value");
    return send(this.#id, this.key, value, { part: { upload: this.uploadId, number: whole(partNumber, "Part number") } });
  }

  async abort() { await host.r2_mpu_abort(this.#id, this.key, this.uploadId); }

  async complete(parts) {
    const named = Array.from(parts, (part) => ({ partNumber: whole(part.partNumber, "Part number"), etag: text(part.etag) }));
    return new R2Object(await host.r2_mpu_complete(this.#id, this.key, this.uploadId, JSON.stringify(named)));
  }
}

class Checksums {
  constructor(hex) {
    for (const name of Object.keys(HASHES)) if (hex[name] !== undefined) this[name] = Uint8Array.fromHex(hex[name]).buffer;
  }
  toJSON() {
    const hex = {};
    for (const name of Object.keys(HASHES)) if (this[name] !== undefined) hex[name] = new Uint8Array(this[name]).toHex();
    return hex;
  }
}

export class R2Object {
  constructor(o) {
    this.key = o.key;
    this.version = o.version;
    this.size = o.size;
    this.etag = o.etag;
    this.httpEtag = `"${o.etag}"`;
    this.checksums = new Checksums(o.checksums);
    this.uploaded = new Date(o.uploaded);
    this.storageClass = o.storageClass;
    if (o.httpMetadata !== undefined) {
      this.httpMetadata = o.httpMetadata;
      if (o.httpMetadata.cacheExpiry !== undefined) this.httpMetadata.cacheExpiry = new Date(o.httpMetadata.cacheExpiry);
    }
    if (o.customMetadata !== undefined) this.customMetadata = o.customMetadata;
    if (o.range !== undefined) this.range = o.range;
  }

  writeHttpMetadata(headers) {
    const known = this.httpMetadata;
    if (known === undefined) {
      throw new TypeError(`HTTP metadata unknown for key \`${this.key}\`. Did you forget to add 'httpMetadata' to \`include\` when listing?`);
    }
    for (const [field, name] of Object.entries(HEADERS)) if (known[field] !== undefined) headers.set(name, known[field]);
    if (known.cacheExpiry !== undefined) headers.set("expires", known.cacheExpiry.toUTCString());
  }
}

export class R2ObjectBody extends R2Object {
  #body;
  #used = false;
  #stream = null;
  constructor(object, body) {
    super(object);
    this.#body = body;
  }

  get body() { return (this.#stream ??= streamOf(this.#body, this.range.length, () => { this.#used = true; })); }

  get bodyUsed() { return this.#used; }

  async #take() {
    if (this.#used || this.#stream?.locked) {
      throw new TypeError("Body has already been used. It can only be used once. Use tee() first if you need to read it twice.");
    }
    this.#used = true;
    if (this.#stream !== null) return drain(this.#stream);
    const bytes = await bytesOf(this.#body);
    this.#body = new Uint8Array(0);
    return bytes;
  }

  async bytes() { return this.#take(); }

  async arrayBuffer() {
    const { buffer, byteOffset, byteLength } = await this.#take();
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  }

  async text() { return new TextDecoder().decode(await this.#take()); }

  async json() { return JSON.parse(await this.text()); }

  async blob() { return new Blob([await this.#take()], { type: this.httpMetadata?.contentType ?? "" }); }
}

/** Sends a value to the host: at once when it is all there, otherwise in pieces. */
async function send(id, key, value, target) {
  if (value === null) value = "";
  if (typeof value === "string") return host.r2_put(id, key, value.toWellFormed(), JSON.stringify(target));
  const bytes = viewOf(value);
  if (bytes !== undefined) return host.r2_put(id, key, bytes, JSON.stringify(target));
  if (value instanceof Blob) {
    if (value.size <= LARGE) return host.r2_put(id, key, await value.bytes(), JSON.stringify(target));
    return sendStream(id, key, value.stream(), value.size, target);
  }
  if (value instanceof ReadableStream) return sendStream(id, key, value, lengthOf(value), target);
  throw new TypeError("The value must be a string, an ArrayBuffer, a view of one, a Blob, a ReadableStream or null");
}

async function sendStream(id, key, stream, length, target) {
  if (length === null) {
    throw new TypeError("Provided readable stream must have a known length (request/response body or readable half of FixedLengthStream)");
  }
  const upload = await host.r2_put_begin(id, key, JSON.stringify(target));
  try {
    const size = await pump(stream, (bytes) => host.r2_put_chunk(upload, bytes));
    if (size !== length) throw new TypeError(`The stream gave ${size} bytes, not the ${length} it was said to have`);
    return await host.r2_put_commit(upload);
  } finally {
    host.r2_put_abort(upload);
  }
}

function text(value) {
  if (typeof value === "symbol" || value === undefined || value === null) throw new TypeError(`${String(value)} is not a string`);
  return `${value}`.toWellFormed();
}

function whole(value, what) {
  const number = Number(value);
  if (!Number.isInteger(number)) throw new TypeError(`${what} must be an integer, not ${String(value)}`);
  return number;
}

function noKey(options) {
  if (options?.ssecKey !== undefined) throw new TypeError("ssecKey is not supported by this runtime: objects cannot be encrypted with a key of your own");
}

function getOptions(options) {
  noKey(options);
  return JSON.stringify({ onlyIf: conditions(options?.onlyIf), range: range(options?.range) });
}

function putOptions(options) {
  const target = metadata(options);
  target.onlyIf = conditions(options?.onlyIf);
  for (const [hash, [name, length]] of Object.entries(HASHES)) {
    const given = options?.[hash];
    if (given === undefined || given === null) continue;
    if (target.hash !== undefined) throw new TypeError("You cannot specify multiple hashing algorithms.");
    target.hash = hash;
    target.digest = digest(given, name, length);
  }
  return target;
}

/** The hex of a checksum. */
function digest(given, name, length) {
  const bytes = viewOf(given);
  if (bytes !== undefined) {
    if (bytes.byteLength !== length) throw new TypeError(`${name} is ${length} bytes, not ${bytes.byteLength}`);
    return bytes.toHex();
  }
  const hex = text(given);
  if (hex.length !== 2 * length) throw new TypeError(`${name} is ${2 * length} hex characters, not ${hex.length}`);
  if (!/^[0-9a-f]*$/i.test(hex)) throw new TypeError(`Provided ${name} wasn't a valid hex string`);
  return hex.toLowerCase();
}

function metadata(options) {
  noKey(options);
  const found = {};
  const http = options?.httpMetadata;
  if (http !== undefined && http !== null) found.httpMetadata = httpMetadata(http);
  const custom = options?.customMetadata;
  if (custom !== undefined && custom !== null) {
    found.customMetadata = {};
    for (const name of Object.keys(custom)) found.customMetadata[name] = text(custom[name]);
  }
  if (options?.storageClass !== undefined) found.storageClass = text(options.storageClass);
  return found;
}

function httpMetadata(given) {
  const found = {};
  const headers = given instanceof Headers;
  for (const [field, name] of Object.entries(HEADERS)) {
    const value = headers ? given.get(name) : given[field];
    if (value !== undefined && value !== null) found[field] = text(value);
  }
  const expiry = headers ? given.get("expires") : given.cacheExpiry;
  if (expiry !== undefined && expiry !== null) found.cacheExpiry = instant(expiry, "cacheExpiry");
  return found;
}

/** Milliseconds since 1970. */
function instant(value, what) {
  const ms = value instanceof Date ? value.getTime() : new Date(value).getTime();
  if (Number.isNaN(ms)) throw new TypeError(`${what} is not a date`);
  return ms;
}

function conditions(given) {
  if (given === undefined || given === null) return undefined;
  if (given instanceof Headers) return headerConditions(given);
  const found = { secondsGranularity: given.secondsGranularity === true };
  for (const name of ["etagMatches", "etagDoesNotMatch"]) {
    if (given[name] === undefined || given[name] === null) continue;
    const etag = (found[name] = text(given[name]));
    if (etag.startsWith('"') && etag.endsWith('"')) throw new TypeError(`Conditional ETag should not be wrapped in quotes (${etag}).`);
  }
  for (const name of ["uploadedBefore", "uploadedAfter"]) {
    if (given[name] !== undefined && given[name] !== null) found[name] = instant(given[name], name);
  }
  return found;
}

function headerConditions(headers) {
  const found = { secondsGranularity: true };
  for (const [name, header] of [["ifMatch", "if-match"], ["ifNoneMatch", "if-none-match"]]) {
    if (headers.has(header)) found[name] = headers.get(header);
  }
  for (const [name, header] of [["uploadedBefore", "if-unmodified-since"], ["uploadedAfter", "if-modified-since"]]) {
    const ms = Date.parse(headers.get(header));
    if (!Number.isNaN(ms)) found[name] = ms; // RFC 9110: a date that is none is ignored
  }
  return found;
}

function range(given) {
  if (given === undefined || given === null) return undefined;
  if (given instanceof Headers) return given.has("range") ? { header: given.get("range") } : undefined;
  const found = {};
  for (const [name, what] of [["offset", "Starting offset"], ["length", "Length"], ["suffix", "Suffix"]]) {
    if (given[name] === undefined || given[name] === null) continue;
    const n = (found[name] = Number(given[name]));
    if (!(n >= 0)) throw new RangeError(`Invalid range. ${what} (${n}) must be greater than or equal to 0.`);
    if (!Number.isSafeInteger(n)) throw new RangeError(`Invalid range. ${what} (${n}) must be an integer, not floating point.`);
  }
  if (found.suffix !== undefined) {
    if (found.offset !== undefined) throw new TypeError("Suffix is incompatible with offset.");
    if (found.length !== undefined) throw new TypeError("Suffix is incompatible with length.");
  }
  return found;
}

function listOptions(options) {
  const found = {};
  for (const name of ["prefix", "delimiter", "cursor", "startAfter"]) {
    if (options?.[name] !== undefined && options[name] !== null) found[name] = text(options[name]);
  }
  if (options?.limit !== undefined && options.limit !== null) found.limit = whole(options.limit, "limit");
  if (options?.include !== undefined) {
    found.include = Array.from(options.include, text);
    for (const field of found.include) {
      if (field !== "httpMetadata" && field !== "customMetadata") throw new RangeError(`Unsupported include value ${field}`);
    }
  }
  return JSON.stringify(found);
}
