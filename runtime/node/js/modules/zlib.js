// https://nodejs.org/api/zlib.html; Go compresses.
import * as numbers from "unenv/node/internal/zlib/constants";
import * as zstd from "node:internal/zstd";
import codes from "node:internal/zlibcodes";
import { Buffer } from "node:buffer";
import { call, internals, load } from "node:internal/host";
import { NodeError, invalidType, needFunction, needInteger, outOfRange } from "node:internal/errors";
import { bytesFrom, isBytes, output } from "node:internal/cryptobytes";
import { makeLazyStream } from "node:internal/lazystream";

const { default: none, ...zstdNumbers } = zstd;
export const constants = { ...numbers, ...zstdNumbers };
export { codes };

const MOST = 64 * 2 ** 20; // bytes that a stream gives at most
const CHUNK = 16 * 1024;
const PIECE = 64 * 1024; // bytes for one call of Go, which can be stopped between two calls
const { coder } = internals,
  MORE = 0,
  LAST = 1,
  FLUSH = 2; // kinds of steps
const packing = { Gzip: "gzip", Deflate: "deflate", DeflateRaw: "raw", BrotliCompress: "brotli", ZstdCompress: "zstd" };
const unpacking = {
  Gunzip: "gzip",
  Inflate: "deflate",
  InflateRaw: "raw",
  Unzip: "unzip",
  BrotliDecompress: "brotli",
  ZstdDecompress: "zstd",
};

function check(value, label, min, max) {
  if (value === undefined || Number.isNaN(value)) return;
  if (typeof value !== "number") throw invalidType(label, "number", value);
  if (value < min || value > max) throw outOfRange(label, `>= ${min} and <= ${max}`, value);
}

/**
 * The normalized options of a class.
 * @param {any} [options]
 */
function settings(name, options = {}) {
  if (options === null || typeof options !== "object") throw invalidType("options", "object", options);
  const { level, maxOutputLength, dictionary, windowBits, memLevel, strategy, chunkSize, params } = options;
  check(level, "options.level", -1, 9);
  check(windowBits, "options.windowBits", packing[name] || windowBits ? 8 : 0, 15);
  check(memLevel, "options.memLevel", 1, 9);
  check(strategy, "options.strategy", 0, 4);
  if (chunkSize !== undefined && !(chunkSize >= 64)) throw outOfRange("options.chunkSize", ">= 64", chunkSize);
  check(maxOutputLength, "options.maxOutputLength", 1, 2 ** 31);
  if (dictionary !== undefined && !isBytes(dictionary))
    throw invalidType("options.dictionary", ["Buffer", "TypedArray", "DataView", "ArrayBuffer"], dictionary);
  const brotli = name.startsWith("Brotli"),
    zstandard = name.startsWith("Zstd");
  if (zstandard) checkParameters(name, params);
  return {
    strategy: strategy ?? 0,
    level: brotli
      ? (params?.[numbers.BROTLI_PARAM_QUALITY] ?? 11)
      : zstandard
        ? (params?.[zstd.ZSTD_c_compressionLevel] ?? 3)
        : (level ?? -1),
    window: brotli ? (params?.[numbers.BROTLI_PARAM_LGWIN] ?? 22) : zstandard ? 0 : windowBits || 15,
    memory: memLevel ?? 8,
    dictionary: dictionary === undefined ? null : bytesFrom(dictionary),
    most: maxOutputLength ?? 2 * MOST,
    chunk: chunkSize ?? CHUNK,
    flush: options.flush ?? 0,
    finish: options.finishFlush ?? operations(name)?.finish ?? numbers.Z_FINISH,
    checksum: zstandard && Boolean(params?.[zstd.ZSTD_c_checksumFlag]),
    whole:
      !zstandard &&
      ((options.finishFlush ?? numbers.Z_FINISH) === numbers.Z_FINISH || (brotli && options.finishFlush === undefined)),
  };
}

// The flush and finish modes of the formats that have numbers of their own.
function operations(name) {
  if (name.startsWith("Brotli"))
    return { flush: numbers.BROTLI_OPERATION_FLUSH, finish: numbers.BROTLI_OPERATION_FINISH };
  return name.startsWith("Zstd") ? { flush: zstd.ZSTD_e_flush, finish: zstd.ZSTD_e_end } : undefined;
}

// The coder here uses level and checksum; the other parameters are hints.
function checkParameters(name, params = {}) {
  const known = Object.entries(zstdNumbers)
    .filter(([key]) => key.startsWith(packing[name] ? "ZSTD_c_" : "ZSTD_d_"))
    .map(([, value]) => value);
  for (const key of Object.keys(params)) {
    if (!known.some((value) => value === Number(key)))
      throw NodeError(RangeError, "ERR_ZSTD_INVALID_PARAM", `${key} is not a valid zstd parameter`);
    if (typeof params[key] !== "number" && typeof params[key] !== "boolean")
      throw invalidType("options.params[key]", "number", params[key]);
  }
}

function work(name, bytes, s, async) {
  if (packing[name])
    return call(
      "zlib_compress",
      packing[name],
      bytes,
      s.level,
      s.window,
      s.dictionary,
      async,
      s.checksum,
      s.strategy,
      s.memory,
    );
  return call("zlib_expand", unpacking[name], bytes, s.most, s.dictionary, s.whole, async);
}

function needInput(data) {
  if (typeof data !== "string" && !isBytes(data))
    throw invalidType("buffer", ["string", "Buffer", "TypedArray", "DataView", "ArrayBuffer"], data);
  return bytesFrom(data);
}

// The function that works at once and the one with a callback.
function functions(name) {
  const sync = (data, options) => output(work(name, needInput(data), settings(name, options), false));
  const async = (data, options, callback = options) => {
    needFunction(callback, "callback");
    const bytes = needInput(data),
      s = settings(name, typeof options === "function" ? undefined : options);
    work(name, bytes, s, true).then(
      (result) => process.nextTick(callback, null, output(result)),
      (error) => process.nextTick(callback, error),
    );
  };
  return [sync, async];
}

// The error of writing after the end was asked for.
const tooLate = () => Object.assign(NodeError(Error, "Z_BUF_ERROR", "buffer error"), { errno: -5 });

// Empty chunks that ask for a flush where they stand among the others.
const marks = new WeakMap();

// The binding of a stream for packages such as pngjs and minizlib.
class Handle {
  #stream;
  #made;
  #held = []; // output that had no room
  constructor(stream, made) {
    this.#stream = stream;
    this.#made = made;
  }
  writeSync(flush, input, from, size, out, at, room) {
    if (size > 0) this.#held.push(...this.#made(this.#stream, bytesFrom(input).subarray(from, from + size), MORE));
    let free = room;
    while (free > 0 && this.#held.length > 0) {
      const piece = this.#held[0],
        n = Math.min(free, piece.length);
      out.set(piece.subarray(0, n), at + room - free);
      free -= n;
      if (n < piece.length) this.#held[0] = piece.subarray(n);
      else this.#held.shift();
    }
    this.#stream._writeState = [free, 0];
  }
  close() {
    const stream = this.#stream;
    if (stream.coder !== 0) coder.close(stream.coder);
    stream.coder = 0;
  }
  reset() {
    this.close();
    this.#held = [];
    this.#stream.over = false;
  }
}

/**
 * The stream that does the same, as its input comes and its output is read.
 * @returns {any}
 */
function streamClass(name) {
  const packs = packing[name] !== undefined,
    { flush: flushes, finish: ends } = operations(name) ?? { flush: numbers.Z_FULL_FLUSH, finish: numbers.Z_FINISH };
  /** @type {any} */
  const cls = {
    [name]: function (options) {
      if (!(this instanceof cls)) return new cls(options);
      Object.defineProperty(this, "settings", { value: settings(name, options) });
      Object.defineProperty(this, "options", { value: options });
      Object.defineProperty(this, "coder", { value: 0, writable: true }); // its id, from the first piece on
      Object.defineProperty(this, "over", { value: false, writable: true }); // whether the data has ended
      Object.defineProperty(this, "_handle", { value: new Handle(this, made), writable: true });
      this.bytesWritten = 0;
    },
  }[name];
  const changes = packing[name] === "deflate" || packing[name] === "raw"; // gzip keeps its level, in Node.js too
  const open = (s) =>
    packs
      ? call("zlib_compressor", packing[name], s.level, s.window, s.dictionary, s.checksum, s.strategy, s.memory)
      : call("zlib_expander", unpacking[name], s.dictionary, s.whole);
  const kind = (flush) => (!packs || flush === 0 ? MORE : flush === ends ? LAST : FLUSH);

  // The output for bytes, piece by piece.
  function* made(stream, bytes, how) {
    for (let at = 0; at === 0 || at < bytes.byteLength; at += PIECE) {
      const step = at + PIECE < bytes.byteLength ? MORE : how,
        piece = bytes.subarray(at, at + PIECE);
      const id = (stream.coder ||= open(stream.settings));
      let out = coder.step(id, piece, step);
      stream.bytesWritten += piece.byteLength;
      while (out !== null) {
        yield output(out);
        if (stream.coder !== id) return; // it was reset
        out = coder.step(id, null, step === LAST ? LAST : MORE);
      }
    }
  }

  // Pushes it, no faster than it is read.
  function run(stream, bytes, how, callback) {
    const pieces = made(stream, bytes, how),
      { chunk } = stream.settings;
    const go = () => {
      for (let wanted = true; wanted; ) {
        if (stream.destroyed) return callback();
        let next;
        try {
          next = pieces.next();
        } catch (error) {
          return callback(error);
        }
        if (next.done) return done();
        for (let at = 0; at < next.value.length; at += chunk) wanted = stream.push(next.value.subarray(at, at + chunk));
      }
      const { _read } = stream;
      stream._read = (size) => {
        stream._read = _read;
        go();
        stream._read(size);
      };
    };
    const done = () => {
      const rest = packs || how === LAST || stream.coder === 0 ? 0 : coder.rest(stream.coder);
      stream.over = how === LAST || rest > 0;
      if (rest > 0) {
        stream.bytesWritten -= rest;
        stream.push(null); // trailing bytes are left out
      }
      callback();
    };
    process.nextTick(go);
  }

  Object.defineProperties(
    cls.prototype,
    Object.getOwnPropertyDescriptors(
      /** @type {ThisType<any>} */ ({
        _transform(chunk, encoding, callback) {
          if (this.over) return callback(packs && chunk.length > 0 ? tooLate() : null);
          run(this, bytesFrom(chunk, encoding), kind(marks.get(chunk) ?? this.settings.flush), callback);
        },
        _flush(callback) {
          if (this.over) return callback();
          run(this, Buffer.alloc(0), packs ? kind(this.settings.finish) : LAST, callback);
        },
        _final(callback) {
          callback();
        },
        _destroy(error, callback) {
          this._handle?.close();
          this._handle = null;
          callback(error);
        },
        flush(kind, callback) {
          if (typeof kind === "function" || (kind === undefined && !callback)) [kind, callback] = [undefined, kind];
          kind ??= flushes;
          if (this.writableFinished) {
            if (callback) process.nextTick(callback);
          } else if (this.writableEnded) {
            if (callback) this.once("end", callback);
          } else {
            const mark = Buffer.alloc(0);
            marks.set(mark, kind);
            this.write(mark, "", callback);
          }
        },
        close(callback) {
          if (callback) load("node:stream").finished(this, callback);
          this.destroy();
        },
        // Without a callback, returns the output for a chunk at once; packages rely on it.
        _processChunk(chunk, flush, callback) {
          if (callback !== undefined) return run(this, bytesFrom(chunk), kind(flush), callback);
          const pieces = [...made(this, bytesFrom(chunk), packs ? kind(flush) : flush === ends ? LAST : MORE)];
          this.close();
          return Buffer.concat(pieces);
        },
        get _chunkSize() {
          return this.settings.chunk;
        },
        get _outOffset() {
          return 0;
        },
        get _outBuffer() {
          return Buffer.allocUnsafe(this.settings.chunk);
        },
        reset() {
          this._handle?.reset();
        },
        params(level, strategy, callback) {
          check(level, "level", -1, 9);
          check(strategy, "strategy", 0, 4);
          const { settings } = this;
          if (settings.level === level && settings.strategy === strategy) return process.nextTick(callback);
          this.flush(numbers.Z_SYNC_FLUSH, (error) => {
            if (!error && changes) {
              settings.level = level | 0;
              settings.strategy = strategy | 0;
              if (this.coder !== 0) call("zlib_level", this.coder, settings.level, settings.strategy);
            }
            callback?.(error);
          });
        },
      }),
    ),
  );
  makeLazyStream(cls, (object) => object.options);
  return cls;
}

export const Gzip = streamClass("Gzip"),
  Deflate = streamClass("Deflate"),
  DeflateRaw = streamClass("DeflateRaw"),
  BrotliCompress = streamClass("BrotliCompress");
export const Gunzip = streamClass("Gunzip"),
  Inflate = streamClass("Inflate"),
  InflateRaw = streamClass("InflateRaw"),
  Unzip = streamClass("Unzip"),
  BrotliDecompress = streamClass("BrotliDecompress");
export const createGzip = (options) => new Gzip(options),
  createDeflate = (options) => new Deflate(options),
  createDeflateRaw = (options) => new DeflateRaw(options);
export const createBrotliCompress = (options) => new BrotliCompress(options),
  createBrotliDecompress = (options) => new BrotliDecompress(options);
export const createGunzip = (options) => new Gunzip(options),
  createInflate = (options) => new Inflate(options),
  createInflateRaw = (options) => new InflateRaw(options),
  createUnzip = (options) => new Unzip(options);
export const [gzipSync, gzip] = functions("Gzip"),
  [deflateSync, deflate] = functions("Deflate"),
  [deflateRawSync, deflateRaw] = functions("DeflateRaw");
export const [brotliCompressSync, brotliCompress] = functions("BrotliCompress"),
  [brotliDecompressSync, brotliDecompress] = functions("BrotliDecompress");
export const [gunzipSync, gunzip] = functions("Gunzip"),
  [inflateSync, inflate] = functions("Inflate"),
  [inflateRawSync, inflateRaw] = functions("InflateRaw"),
  [unzipSync, unzip] = functions("Unzip");

export function crc32(data, value = 0) {
  const bytes = needInput(data);
  needInteger(value, "value", 0, 2 ** 32 - 1);
  return call("crc32", bytes, value);
}

export const ZstdCompress = streamClass("ZstdCompress"),
  ZstdDecompress = streamClass("ZstdDecompress");
export const createZstdCompress = (options) => new ZstdCompress(options),
  createZstdDecompress = (options) => new ZstdDecompress(options);
export const [zstdCompressSync, zstdCompress] = functions("ZstdCompress"),
  [zstdDecompressSync, zstdDecompress] = functions("ZstdDecompress");

const all = {
  BrotliCompress,
  BrotliDecompress,
  Deflate,
  DeflateRaw,
  Gunzip,
  Gzip,
  Inflate,
  InflateRaw,
  Unzip,
  ZstdCompress,
  ZstdDecompress,
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  brotliDecompressSync,
  codes,
  constants,
  crc32,
  createBrotliCompress,
  createBrotliDecompress,
  createDeflate,
  createDeflateRaw,
  createGunzip,
  createGzip,
  createInflate,
  createInflateRaw,
  createUnzip,
  createZstdCompress,
  createZstdDecompress,
  deflate,
  deflateRaw,
  deflateRawSync,
  deflateSync,
  gunzip,
  gunzipSync,
  gzip,
  gzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  unzip,
  unzipSync,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
};
for (const [name, value] of Object.entries(constants))
  if (!(name in all)) Object.defineProperty(all, name, { value, enumerable: false });
export * from "unenv/node/internal/zlib/constants";
export * from "node:internal/zstd";
export default all;
