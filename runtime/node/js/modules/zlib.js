// https://nodejs.org/api/zlib.html; Go compresses. A stream gives all of its
// output at its end or at flush().
import * as numbers from "unenv/node/internal/zlib/constants";
import * as zstd from "node:internal/zstd";
import codes from "node:internal/zlibcodes";
import { Buffer } from "node:buffer";
import { notImplemented } from "node:internal/absent";
import { call } from "node:internal/host";
import { invalidType, needFunction, needInteger, outOfRange } from "node:internal/errors";
import { bytesFrom, isBytes, output } from "node:internal/cryptobytes";
import { makeLazyStream } from "node:internal/lazystream";

const { default: none, ...zstdNumbers } = zstd;
export const constants = { ...numbers, ...zstdNumbers };
export { codes };

const MOST = 64 * 2 ** 20; // bytes that a stream gives at most
const CHUNK = 16 * 1024;
const packing = { Gzip: "gzip", Deflate: "deflate", DeflateRaw: "raw", BrotliCompress: "brotli" };
const unpacking = { Gunzip: "gzip", Inflate: "deflate", InflateRaw: "raw", Unzip: "unzip", BrotliDecompress: "brotli" };

// What the options of a class come down to.
function settings(name, options = {}) {
  if (options === null || typeof options !== "object") throw invalidType("options", "object", options);
  const { level, maxOutputLength, dictionary, windowBits, memLevel, strategy, chunkSize, params } = options;
  const check = (value, label, min, max) => {
    if (value === undefined || Number.isNaN(value)) return;
    if (typeof value !== "number") throw invalidType(label, "number", value);
    if (value < min || value > max) throw outOfRange(label, `>= ${min} and <= ${max}`, value);
  };
  check(level, "options.level", -1, 9);
  check(windowBits, "options.windowBits", packing[name] || windowBits ? 8 : 0, 15);
  check(memLevel, "options.memLevel", 1, 9);
  check(strategy, "options.strategy", 0, 4);
  if (chunkSize !== undefined && !(chunkSize >= 64)) throw outOfRange("options.chunkSize", ">= 64", chunkSize);
  check(maxOutputLength, "options.maxOutputLength", 1, 2 ** 31);
  if (dictionary !== undefined && !isBytes(dictionary)) throw invalidType("options.dictionary", ["Buffer", "TypedArray", "DataView", "ArrayBuffer"], dictionary);
  const brotli = name.startsWith("Brotli");
  return {
    level: brotli ? params?.[numbers.BROTLI_PARAM_QUALITY] ?? 11 : level ?? -1,
    window: brotli ? params?.[numbers.BROTLI_PARAM_LGWIN] ?? 22 : 0,
    dictionary: dictionary === undefined ? null : bytesFrom(dictionary),
    most: maxOutputLength ?? 2 * MOST,
    whole: (options.finishFlush ?? numbers.Z_FINISH) === numbers.Z_FINISH || (brotli && options.finishFlush === undefined),
  };
}

function work(name, bytes, s, async) {
  if (packing[name]) return call("zlib_compress", packing[name], bytes, s.level, s.window, s.dictionary, async);
  return call("zlib_expand", unpacking[name], bytes, s.most, s.dictionary, s.whole, async);
}

function needInput(data) {
  if (typeof data !== "string" && !isBytes(data)) throw invalidType("buffer", ["string", "Buffer", "TypedArray", "DataView", "ArrayBuffer"], data);
  return bytesFrom(data);
}

// The function that works at once and the one with a callback.
function functions(name) {
  const sync = (data, options) => output(work(name, needInput(data), settings(name, options), false));
  const async = (data, options, callback = options) => {
    needFunction(callback, "callback");
    const bytes = needInput(data), s = settings(name, typeof options === "function" ? undefined : options);
    work(name, bytes, s, true).then((result) => process.nextTick(callback, null, output(result)), (error) => process.nextTick(callback, error));
  };
  return [sync, async];
}

// The stream that does the same.
function streamClass(name) {
  const cls = { [name]: function (options) {
    if (!new.target) return new cls(options);
    Object.defineProperty(this, "settings", { value: settings(name, options) });
    Object.defineProperty(this, "options", { value: options });
    Object.defineProperty(this, "pieces", { value: [], writable: true });
    this.bytesWritten = 0;
  } }[name];
  Object.assign(cls.prototype, {
    _transform(chunk, encoding, callback) {
      const bytes = Buffer.from(bytesFrom(chunk, encoding));
      this.pieces.push(bytes);
      this.bytesWritten += bytes.length;
      callback();
    },
    _flush(callback) {
      if (this.pieces.length === 0 && unpacking[name]) return callback();
      let result;
      try {
        result = output(work(name, Buffer.concat(this.pieces), this.settings, false));
      } catch (error) {
        return callback(error);
      }
      this.pieces = [];
      for (let at = 0; at < result.length; at += CHUNK) this.push(result.subarray(at, at + CHUNK));
      callback();
    },
    flush(kind, callback = kind) { if (typeof callback === "function") process.nextTick(callback); },
    close(callback) {
      if (callback) process.nextTick(callback);
      this.destroy();
    },
    params(level, strategy, callback) {
      needInteger(level, "level", -1, 9);
      this.settings.level = level;
      process.nextTick(callback);
    },
    reset() { this.pieces = []; },
  });
  makeLazyStream(cls, (object) => object.options);
  return cls;
}

export const Gzip = streamClass("Gzip"), Deflate = streamClass("Deflate"), DeflateRaw = streamClass("DeflateRaw"), BrotliCompress = streamClass("BrotliCompress");
export const Gunzip = streamClass("Gunzip"), Inflate = streamClass("Inflate"), InflateRaw = streamClass("InflateRaw"), Unzip = streamClass("Unzip"), BrotliDecompress = streamClass("BrotliDecompress");
export const createGzip = (options) => new Gzip(options), createDeflate = (options) => new Deflate(options), createDeflateRaw = (options) => new DeflateRaw(options);
export const createBrotliCompress = (options) => new BrotliCompress(options), createBrotliDecompress = (options) => new BrotliDecompress(options);
export const createGunzip = (options) => new Gunzip(options), createInflate = (options) => new Inflate(options), createInflateRaw = (options) => new InflateRaw(options), createUnzip = (options) => new Unzip(options);
export const [gzipSync, gzip] = functions("Gzip"), [deflateSync, deflate] = functions("Deflate"), [deflateRawSync, deflateRaw] = functions("DeflateRaw");
export const [brotliCompressSync, brotliCompress] = functions("BrotliCompress"), [brotliDecompressSync, brotliDecompress] = functions("BrotliDecompress");
export const [gunzipSync, gunzip] = functions("Gunzip"), [inflateSync, inflate] = functions("Inflate"), [inflateRawSync, inflateRaw] = functions("InflateRaw"), [unzipSync, unzip] = functions("Unzip");

export function crc32(data, value = 0) {
  const bytes = needInput(data);
  needInteger(value, "value", 0, 2 ** 32 - 1);
  return call("crc32", bytes, value);
}

export const [createZstdCompress, createZstdDecompress, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync] =
  ["createZstdCompress", "createZstdDecompress", "zstdCompress", "zstdCompressSync", "zstdDecompress", "zstdDecompressSync"].map((name) => notImplemented(`zlib.${name}`));
export function ZstdCompress() { createZstdCompress(); }
export function ZstdDecompress() { createZstdDecompress(); }

const all = {
  BrotliCompress, BrotliDecompress, Deflate, DeflateRaw, Gunzip, Gzip, Inflate, InflateRaw, Unzip, ZstdCompress, ZstdDecompress, brotliCompress, brotliCompressSync,
  brotliDecompress, brotliDecompressSync, codes, constants, crc32, createBrotliCompress, createBrotliDecompress, createDeflate, createDeflateRaw, createGunzip,
  createGzip, createInflate, createInflateRaw, createUnzip, createZstdCompress, createZstdDecompress, deflate, deflateRaw, deflateRawSync, deflateSync, gunzip,
  gunzipSync, gzip, gzipSync, inflate, inflateRaw, inflateRawSync, inflateSync, unzip, unzipSync, zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync,
};
for (const [name, value] of Object.entries(constants)) if (!(name in all)) Object.defineProperty(all, name, { value, enumerable: false });
export * from "unenv/node/internal/zlib/constants";
export * from "node:internal/zstd";
export default all;
