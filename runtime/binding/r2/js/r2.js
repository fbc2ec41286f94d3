// Object storage with the shape of R2. This file checks shapes and makes plain
// documents of options; limits, conditions and ranges are judged by the host.
import { blobOf } from "../../../web/formdata/js/blob.js";
import { host } from "../../../web/webidl/js/host.js";
import { dress } from "../../../web/webidl/js/idl.js";
import { located } from "../../../web/language/js/trace.js";
import { fromHex, toHex } from "../../hostcall/js/binary.js";
import { bytesOf, disturbed, drain, lengthOf, pump, streamOf, viewOf } from "../../hostcall/js/body.js";
import {
  date,
  headersOr,
  int32,
  isObject,
  mistaken,
  number,
  oneOf,
  options as converted,
  record,
  required,
  string,
  strings,
  text,
} from "../../hostcall/js/convert.js";

/** A Blob over this size is stored piece by piece. */
const LARGE = 1 << 20;

const VALUE = "JsReadableStream or ArrayBuffer or ArrayBufferView or string or Blob";

const HASHES = {
  md5: ["MD5", 16],
  sha1: ["SHA-1", 20],
  sha256: ["SHA-256", 32],
  sha384: ["SHA-384", 48],
  sha512: ["SHA-512", 64],
};

const HEADERS = {
  contentType: "content-type",
  contentLanguage: "content-language",
  contentDisposition: "content-disposition",
  contentEncoding: "content-encoding",
  cacheControl: "cache-control",
};

// The dictionaries of the methods, by their names in errors.
const CONDITIONAL = {
  etagMatches: string,
  etagDoesNotMatch: string,
  uploadedBefore: date,
  uploadedAfter: date,
  secondsGranularity: Boolean,
};
const RANGE = { offset: number, length: number, suffix: number };
const HTTP = { ...Object.fromEntries(Object.keys(HEADERS).map((name) => [name, text])), cacheExpiry: date };
const GET = { onlyIf: headersOr("Conditional", CONDITIONAL), range: headersOr("Range", RANGE), ssecKey };
const MULTIPART = {
  httpMetadata: headersOr("HttpMetadata", HTTP),
  customMetadata: record,
  storageClass: text,
  ssecKey,
};
const checksum = oneOf("BufferSource or string", (value) => (typeof value === "string" ? value : viewOf(value)));
const PUT = {
  onlyIf: GET.onlyIf,
  ...MULTIPART,
  ...Object.fromEntries(Object.keys(HASHES).map((name) => [name, checksum])),
};
const LIST = { limit: int32, prefix: string, cursor: string, delimiter: string, startAfter: string, include: strings };

export class R2Bucket {
  #id;
  constructor(id) {
    this.#id = id;
  }

  async head(key) {
    required(arguments, "head", "R2Bucket", "string");
    const found = await located(host.r2_head(this.#id, text(key)));
    return found === null ? null : new HeadResult(found);
  }

  async get(key, options) {
    required(arguments, "get", "R2Bucket", "string");
    const found = await located(host.r2_get(this.#id, text(key), getOptions(options)));
    if (found === null) return null;
    return found.body === null ? new HeadResult(found.object) : new GetResult(found.object, found.body);
  }

  async put(key, value, options) {
    required(arguments, "put", "R2Bucket", "string", VALUE);
    const name = text(key),
      content = contentOf(value ?? "", "put", "R2Bucket");
    const stored = await located(send(this.#id, name, content, putOptions(options)));
    return stored === null ? null : new HeadResult(stored);
  }

  async delete(keys) {
    required(arguments, "delete", "R2Bucket", "string or Array");
    await located(host.r2_delete(this.#id, Array.isArray(keys) ? Array.from(keys, text) : [text(keys)]));
  }

  async list(options) {
    const listing = await located(host.r2_list(this.#id, listOptions(options)));
    listing.objects = listing.objects.map((o) => new HeadResult(o));
    return listing;
  }

  async createMultipartUpload(key, options) {
    required(arguments, "createMultipartUpload", "R2Bucket", "string");
    const name = text(key),
      target = metadata(converted(options, "createMultipartUpload", "R2Bucket", 2, "MultipartOptions", MULTIPART));
    return new R2MultipartUpload(
      this.#id,
      name,
      await located(host.r2_mpu_create(this.#id, name, JSON.stringify(target))),
    );
  }

  resumeMultipartUpload(key, uploadId) {
    required(arguments, "resumeMultipartUpload", "R2Bucket", "string", "string");
    return new R2MultipartUpload(this.#id, text(key), text(uploadId));
  }
}

export class R2MultipartUpload {
  #id;
  constructor(id, key, uploadId) {
    this.#id = id;
    this.key = key;
    this.uploadId = uploadId;
  }

  async uploadPart(partNumber, value, options) {
    required(arguments, "uploadPart", "R2MultipartUpload", "int", VALUE);
    const n = int32(partNumber),
      content = contentOf(value, "uploadPart", "R2MultipartUpload");
    converted(options, "uploadPart", "R2MultipartUpload", 3, "UploadPartOptions", { ssecKey });
    return located(send(this.#id, this.key, content, { part: { upload: this.uploadId, number: inRange(n) } }));
  }

  async abort() {
    await located(host.r2_mpu_abort(this.#id, this.key, this.uploadId));
  }

  async complete(parts) {
    if (!Array.isArray(parts)) throw mistaken("complete", "R2MultipartUpload", 1, "Array");
    const named = parts.map((part, at) => {
      if (!isObject(part))
        throw new TypeError(
          `Incorrect type for array element ${at}: the provided value is not of type 'UploadedPart'.`,
        );
      return { partNumber: int32(part.partNumber), etag: text(part.etag) };
    });
    for (const part of named) inRange(part.partNumber);
    return new HeadResult(
      await located(host.r2_mpu_complete(this.#id, this.key, this.uploadId, JSON.stringify(named))),
    );
  }
}

class Checksums {
  constructor(hex) {
    for (const name of Object.keys(HASHES))
      this[name] = hex[name] === undefined ? undefined : fromHex(hex[name]).buffer;
  }
  toJSON() {
    const hex = {};
    for (const name of Object.keys(HASHES)) if (this[name] !== undefined) hex[name] = toHex(new Uint8Array(this[name]));
    return hex;
  }
}

// R2Object and R2ObjectBody of the documentation, by the names they have there. Fields without a
// value exist and are undefined, as on the platform: code that makes headers of httpMetadata must
// get "undefined" here, too.
export class HeadResult {
  constructor(o) {
    this.key = o.key;
    this.version = o.version;
    this.size = o.size;
    this.etag = o.etag;
    this.httpEtag = `"${o.etag}"`;
    this.checksums = new Checksums(o.checksums);
    this.uploaded = new Date(o.uploaded);
    this.httpMetadata = o.httpMetadata;
    if (o.httpMetadata?.cacheExpiry !== undefined) this.httpMetadata.cacheExpiry = new Date(o.httpMetadata.cacheExpiry);
    this.customMetadata = o.customMetadata;
    this.range = o.range;
    this.storageClass = o.storageClass;
    this.ssecKeyMd5 = undefined;
  }

  writeHttpMetadata(headers) {
    if (!(headers instanceof Headers)) throw mistaken("writeHttpMetadata", "HeadResult", 1, "Headers");
    const known = this.httpMetadata;
    if (known === undefined) {
      throw new TypeError(
        `HTTP metadata unknown for key \`${this.key}\`. Did you forget to add 'httpMetadata' to \`include\` when listing?`,
      );
    }
    for (const [field, name] of Object.entries(HEADERS))
      if (known[field] !== undefined) headers.set(name, known[field]);
    if (known.cacheExpiry !== undefined) headers.set("expires", known.cacheExpiry.toUTCString());
  }
}

export class GetResult extends HeadResult {
  #body;
  #used = false;
  #stream = null;
  constructor(object, body) {
    super(object);
    this.#body = body;
  }

  get body() {
    return (this.#stream ??= streamOf(this.#body, this.range.length, () => {
      this.#used = true;
    }));
  }

  get bodyUsed() {
    return this.#used;
  }

  async #take() {
    if (this.#used)
      throw new TypeError(
        "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.",
      );
    if (this.#stream?.locked) throw new TypeError("This ReadableStream is currently locked to a reader.");
    this.#used = true;
    if (this.#stream !== null) return drain(this.#stream);
    const bytes = await bytesOf(this.#body);
    this.#body = new Uint8Array(0);
    return bytes;
  }

  async bytes() {
    return this.#take();
  }

  async arrayBuffer() {
    const { buffer, byteOffset, byteLength } = await this.#take();
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  }

  async text() {
    return new TextDecoder().decode(await this.#take());
  }

  async json() {
    return JSON.parse(await this.text());
  }

  async blob() {
    return blobOf(await this.#take(), this.httpMetadata?.contentType ?? "");
  }
}

for (const cls of [R2Bucket, R2MultipartUpload, Checksums, HeadResult, GetResult]) dress(cls.name, cls);

/** A value to store: a string, bytes, a Blob or a stream. */
function contentOf(value, method, of) {
  if (typeof value === "string" || value instanceof Blob || value instanceof ReadableStream) return value;
  const bytes = viewOf(value);
  if (bytes === undefined) throw mistaken(method, of, 2, VALUE);
  return bytes;
}

/** Sends content to the host: complete data at once, a stream in pieces. */
async function send(id, key, content, target) {
  if (content instanceof ReadableStream) return sendStream(id, key, content, lengthOf(content), target);
  if (content instanceof Blob && content.size > LARGE)
    return sendStream(id, key, content.stream(), content.size, target);
  const whole = content instanceof Blob ? new Uint8Array(await content.arrayBuffer()) : content;
  return host.r2_put(id, key, typeof whole === "string" ? whole.toWellFormed() : whole, JSON.stringify(target));
}

async function sendStream(id, key, stream, length, target) {
  if (length === null) {
    throw new TypeError(
      "Provided readable stream must have a known length (request/response body or readable half of FixedLengthStream)",
    );
  }
  if (stream.locked) throw new TypeError("The ReadableStream has been locked to a reader.");
  if (disturbed(stream)) throw new TypeError("This ReadableStream is disturbed.");
  const upload = await host.r2_put_begin(id, key, JSON.stringify(target));
  try {
    const size = await pump(stream, (bytes) => host.r2_put_chunk(upload, bytes));
    if (length !== undefined && size !== length)
      throw new TypeError(`The stream gave ${size} bytes, not the ${length} it was said to have`);
    return await host.r2_put_commit(upload);
  } finally {
    host.r2_put_abort(upload);
  }
}

function inRange(n) {
  if (n < 1 || n > 10000)
    throw new TypeError(`Part number must be between 1 and 10000 (inclusive). Actual value was: ${n}`);
  return n;
}

/** Refuses a customer key of the Worker, with the platform's message if the platform would refuse it too. */
function ssecKey(value) {
  const bytes = viewOf(value),
    hex = bytes === undefined ? text(value) : "";
  if (bytes === undefined && !/^[0-9a-f]+$/.test(hex)) throw new Error("SSE-C Key has invalid format");
  if ((bytes?.byteLength ?? hex.length / 2) !== 32) throw new Error("SSE-C Key must be 32 bytes in length");
  throw new TypeError("ssecKey is not supported by this runtime: objects cannot be encrypted with a key of your own");
}

function getOptions(given) {
  const { onlyIf, range } = converted(given, "get", "R2Bucket", 2, "GetOptions", GET);
  return JSON.stringify({ onlyIf: conditions(onlyIf), range: rangeOf(range) });
}

function putOptions(given) {
  const o = converted(given, "put", "R2Bucket", 3, "PutOptions", PUT);
  const target = metadata(o);
  target.onlyIf = conditions(o.onlyIf);
  for (const [hash, [name, length]] of Object.entries(HASHES)) {
    if (o[hash] === undefined) continue;
    if (target.hash !== undefined) throw new TypeError("You cannot specify multiple hashing algorithms.");
    target.hash = hash;
    target.digest = digest(o[hash], name, length);
  }
  return target;
}

/** The hex of a checksum. */
function digest(given, name, length) {
  if (typeof given !== "string") {
    if (given.byteLength !== length) throw new TypeError(`${name} is ${length} bytes, not ${given.byteLength}`);
    return toHex(given);
  }
  if (given.length !== 2 * length) throw new TypeError(`${name} is ${2 * length} hex characters, not ${given.length}`);
  if (!/^[0-9a-f]*$/i.test(given)) throw new TypeError(`Provided ${name} wasn't a valid hex string`);
  return given.toLowerCase();
}

/** @returns {any} */
function metadata({ httpMetadata, customMetadata, storageClass }) {
  return {
    httpMetadata: httpMetadata instanceof Headers ? httpFields(httpMetadata) : httpMetadata,
    customMetadata,
    storageClass,
  };
}

function httpFields(headers) {
  const found = {};
  for (const [field, name] of Object.entries(HEADERS)) found[field] = headers.get(name) ?? undefined;
  if (headers.has("expires")) found.cacheExpiry = instant(headers.get("expires"));
  return found;
}

/** Milliseconds since 1970 of a header's date; 0 for an invalid one. */
function instant(value) {
  return Date.parse(value) || 0;
}

function conditions(given) {
  if (given instanceof Headers) return headerConditions(given);
  for (const etag of [given?.etagMatches, given?.etagDoesNotMatch]) {
    if (etag?.startsWith('"') && etag.endsWith('"'))
      throw new TypeError(`Conditional ETag should not be wrapped in quotes (${etag}).`);
  }
  return given;
}

function headerConditions(headers) {
  const found = { secondsGranularity: true };
  for (const [name, header] of [
    ["ifMatch", "if-match"],
    ["ifNoneMatch", "if-none-match"],
  ]) {
    if (headers.has(header)) found[name] = headers.get(header);
  }
  for (const [name, header] of [
    ["uploadedBefore", "if-unmodified-since"],
    ["uploadedAfter", "if-modified-since"],
  ]) {
    if (headers.has(header)) found[name] = instant(headers.get(header));
  }
  return found;
}

function rangeOf(given) {
  if (given instanceof Headers) return given.has("range") ? { header: given.get("range") } : undefined;
  if (given === undefined) return undefined;
  const offset = bound(given.offset, "range. Starting offset"),
    length = bound(given.length, "range. Length");
  if (given.suffix !== undefined) {
    if (offset !== undefined) throw new TypeError("Suffix is incompatible with offset.");
    if (length !== undefined) throw new TypeError("Suffix is incompatible with length.");
  }
  return { offset, length, suffix: bound(given.suffix, "suffix. Suffix") };
}

/** A number of bytes, at most the largest number of the host. */
function bound(n, what) {
  if (n === undefined) return undefined;
  if (!(n >= 0))
    throw new RangeError(`Invalid ${what} (${Number.isNaN(n) ? "nan" : n}) must be greater than or equal to 0.`);
  if (Number.isFinite(n) && !Number.isInteger(n)) {
    throw new RangeError(`Invalid ${what.replace("suffix.", "range.")} (${n}) must be an integer, not floating point.`);
  }
  return Math.min(n, Number.MAX_SAFE_INTEGER);
}

function listOptions(given) {
  const found = converted(given, "list", "R2Bucket", 1, "ListOptions", LIST);
  for (const field of found.include ?? []) {
    if (field !== "httpMetadata" && field !== "customMetadata")
      throw new RangeError(`Unsupported include value ${field}`);
  }
  return JSON.stringify(found);
}
