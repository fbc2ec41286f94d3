// https://nodejs.org/api/crypto.html; Go computes.
import * as numbers from "unenv/node/internal/crypto/constants";
import { Buffer } from "node:buffer";
import { notImplemented } from "node:internal/absent";
import { call, internals } from "node:internal/host";
import { Cipheriv, Decipheriv, getCipherInfo, getCiphers } from "node:internal/cipher";
import { bytesFrom, isBytes, needBytes, output } from "node:internal/cryptobytes";
import {
  invalidType,
  invalidValue,
  needFunction,
  needInteger,
  needNumber,
  needObject,
  needString,
  NodeError,
  outOfRange,
} from "node:internal/errors";
import {
  keyBytes,
  KeyObject,
  PrivateKeyObject,
  privateFrom,
  privateObject,
  PublicKeyObject,
  publicFrom,
  publicObject,
  secret,
  secretFrom,
  SecretKeyObject,
} from "node:internal/keys";
import { makeLazyStream } from "node:internal/lazystream";
import { DiffieHellman, DiffieHellmanGroup, ECDH } from "node:internal/exchange";

const { crypto: web } = globalThis;
export const constants = { ...numbers };
const MAX = 2 ** 31 - 1;
const FLUSH = 64 * 1024; // bytes that a digest gathers before it hashes them
const empty = new Uint8Array(0);

// The pieces given to a digest, hashed when they are many.
class Gathered {
  constructor(name, state = null) {
    this.name = name;
    this.state = state;
    this.pieces = [];
    this.size = 0;
  }
  add(bytes) {
    this.pieces.push(Buffer.from(bytes));
    this.size += bytes.length;
    if (this.size < FLUSH) return;
    this.state = call("hash_update", this.name, this.state, this.take());
  }
  take() {
    const all = this.pieces.length === 1 ? this.pieces[0] : Buffer.concat(this.pieces);
    this.pieces = [];
    this.size = 0;
    return all;
  }
  copy() {
    const other = new Gathered(this.name, this.state);
    other.pieces = this.pieces.slice();
    other.size = this.size;
    return other;
  }
}

const finalized = () => NodeError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
const hidden = (object, name, value) => Object.defineProperty(object, name, { value, writable: true });

const inProduction = /^(?:RSA-)?(?:MD5|SHA(?:1|224|256|384|512))$|^SHA512-256$/i;

// Whether there is a digest of this name; production has some of them only.
function isKnown(algorithm) {
  const known = call("hash_known", algorithm);
  if (known && !inProduction.test(algorithm))
    internals.caution("node:crypto", `digest ${algorithm}`, `the digest ${algorithm}; take sha256 or sha512`);
  return known;
}

/**
 * crypto.createHash
 * @this {any}
 * @returns {void}
 */
export function Hash(algorithm, options) {
  if (!new.target) return new Hash(algorithm, options);
  needString(algorithm, "algorithm");
  const length = options?.outputLength;
  if (length !== undefined) needInteger(length, "outputLength", 0, MAX);
  if (!isKnown(algorithm)) throw new Error("Digest method not supported");
  hidden(this, "gathered", new Gathered(algorithm));
  hidden(this, "options", options);
}
/** @type {any} */
const hashing = {
  update(data, encoding) {
    if (this.gathered === null) throw finalized();
    if (typeof data !== "string" && !ArrayBuffer.isView(data))
      throw invalidType("data", ["string", "Buffer", "TypedArray", "DataView"], data);
    this.gathered.add(bytesFrom(data, encoding));
    return this;
  },
  digest(encoding) {
    if (this.gathered === null) throw finalized();
    const { gathered } = this;
    this.gathered = null;
    return output(
      call("hash_final", gathered.name, gathered.state, gathered.take(), this.options?.outputLength ?? -1),
      encoding,
    );
  },
  copy(options) {
    if (this.gathered === null) throw finalized();
    const other = new Hash(this.gathered.name, options ?? this.options);
    other.gathered = this.gathered.copy();
    return other;
  },
  _transform(chunk, encoding, callback) {
    this.update(chunk, encoding);
    callback();
  },
  _flush(callback) {
    const again = this.gathered?.copy();
    this.push(this.digest());
    this.gathered = again; // digest() still returns the hash of piped data
    callback();
  },
};
Object.assign(Hash.prototype, hashing);
makeLazyStream(Hash, (hash) => hash.options);

/**
 * crypto.createHmac
 * @this {any}
 * @returns {void}
 */
export function Hmac(algorithm, key, options) {
  if (!new.target) return new Hmac(algorithm, key, options);
  needString(algorithm, "hmac");
  const bytes = Uint8Array.from(secretFrom(key, "key", options?.encoding));
  if (!isKnown(algorithm)) throw NodeError(Error, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
  hidden(this, "key", bytes);
  hidden(this, "gathered", new Gathered(algorithm, call("hmac_begin", algorithm, bytes)));
  hidden(this, "options", options);
}
/** @type {ThisType<any>} */
const authenticating = {
  update: hashing.update,
  digest(encoding) {
    const { gathered } = this;
    this.gathered = null;
    return output(
      gathered === null ? empty : call("hmac_final", gathered.name, this.key, gathered.state, gathered.take()),
      encoding,
    );
  },
  _transform: hashing._transform,
  _flush(callback) {
    this.push(this.digest());
    callback();
  },
};
Object.assign(Hmac.prototype, authenticating);
makeLazyStream(Hmac, (hmac) => hmac.options);

export function createHash(algorithm, options) {
  return new Hash(algorithm, options);
}
export function createHmac(algorithm, key, options) {
  return new Hmac(algorithm, key, options);
}

/** The digest of data at once. */
export function hash(algorithm, data, encoding = "hex") {
  needString(algorithm, "algorithm");
  const bytes = needBytes(data, "input");
  if (!isKnown(algorithm)) throw new Error("Digest method not supported");
  return output(call("hash_final", algorithm, null, bytes, -1), encoding);
}

export function getHashes() {
  return [
    "RSA-MD5",
    "RSA-SHA1",
    "RSA-SHA224",
    "RSA-SHA256",
    "RSA-SHA3-224",
    "RSA-SHA3-256",
    "RSA-SHA3-384",
    "RSA-SHA3-512",
    "RSA-SHA384",
    "RSA-SHA512",
    "RSA-SHA512/224",
    "RSA-SHA512/256",
    "blake2b512",
    "blake2s256",
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "sha384",
    "sha512",
    "sha512-224",
    "sha512-256",
    "shake128",
    "shake256",
  ];
}

// Settles a callback with the result or the exception of work.
function settle(work, callback) {
  Promise.resolve()
    .then(work)
    .then(
      (value) => process.nextTick(callback, null, value),
      (error) => process.nextTick(callback, error),
    );
}

export function randomFillSync(buffer, offset = 0, size) {
  if (!isBytes(buffer)) throw invalidType("buf", ["ArrayBuffer", "ArrayBufferView"], buffer);
  const bytes = bytesFrom(buffer),
    unit = buffer.BYTES_PER_ELEMENT ?? 1;
  needNumber(offset, "offset", 0, bytes.length / unit);
  if (size !== undefined) needNumber(size, "size", 0, bytes.length / unit - offset);
  call("random", bytes.subarray(offset * unit, size === undefined ? undefined : (offset + size) * unit));
  return buffer;
}

export function randomFill(buffer, offset, size, callback) {
  if (typeof offset === "function") [callback, offset, size] = [offset, 0, undefined];
  else if (typeof size === "function") [callback, size] = [size, undefined];
  needFunction(callback, "callback");
  randomFillSync(buffer, offset, size);
  process.nextTick(callback, null, buffer);
}

export function randomBytes(size, callback) {
  needNumber(size, "size", 0, MAX);
  if (callback !== undefined) needFunction(callback, "callback");
  const bytes = randomFillSync(Buffer.alloc(size));
  if (callback === undefined) return bytes;
  process.nextTick(callback, null, bytes);
  return undefined;
}
export const pseudoRandomBytes = randomBytes;

export function randomInt(min, max, callback) {
  if (max === undefined || typeof max === "function") [min, max, callback] = [0, min, max];
  if (!Number.isSafeInteger(min)) throw invalidType("min", ["a safe integer"], min);
  if (!Number.isSafeInteger(max)) throw invalidType("max", ["a safe integer"], max);
  if (max <= min) throw outOfRange("max", `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (!(range < 2 ** 48)) throw outOfRange("max - min", "<= 281474976710655", range);
  const limit = 2 ** 48 - (2 ** 48 % range);
  let value;
  do value = randomFillSync(Buffer.alloc(6)).readUIntBE(0, 6);
  while (value >= limit);
  value = min + (value % range);
  if (callback === undefined) return value;
  process.nextTick(callback, null, value);
  return undefined;
}

export function randomUUID(options) {
  if (options !== undefined) needObject(options, "options");
  return web.randomUUID();
}
export function getRandomValues(array) {
  return web.getRandomValues(array);
}

export function timingSafeEqual(a, b) {
  if (!isBytes(a)) throw invalidType("buf1", ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], a);
  if (!isBytes(b)) throw invalidType("buf2", ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], b);
  if (a.byteLength !== b.byteLength)
    throw NodeError(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  return call("equal", bytesFrom(a), bytesFrom(b));
}

function pbkdf2Arguments(password, salt, iterations, length, digest) {
  needString(digest, "digest");
  const arguments_ = [digest, needBytes(password, "password"), needBytes(salt, "salt")];
  needInteger(iterations, "iterations", 1, MAX);
  needInteger(length, "keylen", 0, MAX);
  if (!isKnown(digest)) throw NodeError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  return [...arguments_, iterations, length];
}

export function pbkdf2Sync(password, salt, iterations, length, digest) {
  return output(call("pbkdf2", ...pbkdf2Arguments(password, salt, iterations, length, digest), false));
}

export function pbkdf2(password, salt, iterations, length, digest, callback) {
  if (typeof digest === "function") [callback, digest] = [digest, undefined];
  const arguments_ = pbkdf2Arguments(password, salt, iterations, length, digest);
  needFunction(callback, "callback");
  settle(() => call("pbkdf2", ...arguments_, true).then((bytes) => output(bytes)), callback);
}

function scryptArguments(password, salt, length, options) {
  const arguments_ = [needBytes(password, "password"), needBytes(salt, "salt")];
  needInteger(length, "keylen", 0, MAX);
  const pick = (a, b, usual) => {
    if (options?.[a] !== undefined && options?.[b] !== undefined)
      throw NodeError(
        Error,
        "ERR_INCOMPATIBLE_OPTION_PAIR",
        `Option "${a}" cannot be used in combination with option "${b}"`,
      );
    const value = options?.[a] ?? options?.[b] ?? usual;
    needInteger(value, a, 0, 2 ** 32 - 1);
    return value || usual;
  };
  const N = pick("N", "cost", 16384),
    r = pick("r", "blockSize", 8),
    p = pick("p", "parallelization", 1);
  const most = options?.maxmem ?? 32 * 2 ** 20;
  needInteger(most, "maxmem", 0);
  return [...arguments_, length, N, r, p, most || 32 * 2 ** 20];
}

export function scryptSync(password, salt, length, options) {
  return output(call("scrypt", ...scryptArguments(password, salt, length, options), false));
}

export function scrypt(password, salt, length, options, callback = options) {
  const arguments_ = scryptArguments(password, salt, length, typeof options === "function" ? undefined : options);
  needFunction(callback, "callback");
  settle(() => call("scrypt", ...arguments_, true).then((bytes) => output(bytes)), callback);
}

function hkdfKey(digest, key, salt, info, length) {
  needString(digest, "digest");
  const arguments_ = [secretFrom(key, "ikm"), needBytes(salt, "salt"), needBytes(info, "info")];
  needInteger(length, "length", 0, MAX);
  if (arguments_[2].length > 1024) throw outOfRange("info", "<= 1024 bytes", arguments_[2].length);
  if (!isKnown(digest)) throw NodeError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  const bytes = call("hkdf", digest, ...arguments_, length);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
}

export function hkdfSync(digest, key, salt, info, length) {
  return hkdfKey(digest, key, salt, info, length);
}
export function hkdf(digest, key, salt, info, length, callback) {
  needFunction(callback, "callback");
  const bytes = hkdfKey(digest, key, salt, info, length);
  process.nextTick(callback, null, bytes);
}

export function createCipheriv(name, key, iv, options) {
  return new Cipheriv(name, key, iv, options);
}
export function createDecipheriv(name, key, iv, options) {
  return new Decipheriv(name, key, iv, options);
}

export function createSecretKey(key, encoding) {
  const bytes = needBytes(key, "key", encoding);
  return secret(Uint8Array.from(bytes));
}
export function createPrivateKey(key) {
  return privateFrom(key);
}
export function createPublicKey(key) {
  return publicFrom(key);
}

function secretLength(type, { length }) {
  needString(type, "type");
  if (type === "hmac") {
    needInteger(length, "options.length", 8, MAX);
    return length >> 3;
  }
  if (type !== "aes") throw invalidValue("type", type, "must be a supported key type");
  if (![128, 192, 256].includes(length)) throw invalidValue("options.length", length, "must be one of: 128, 192, 256");
  return length / 8;
}

export function generateKeySync(type, options) {
  needObject(options, "options");
  return secret(new Uint8Array(randomBytes(secretLength(type, options))));
}
export function generateKey(type, options, callback) {
  needFunction(callback, "callback");
  const key = generateKeySync(type, options);
  process.nextTick(callback, null, key);
}

function pairArguments(type, options = {}) {
  needString(type, "type");
  if (!["rsa", "rsa-pss", "ec", "ed25519", "x25519"].includes(type))
    throw invalidValue("type", type, "must be a supported key type (rsa, rsa-pss, ec, ed25519 or x25519 in a Worker)");
  if (type.startsWith("rsa")) {
    needObject(options, "options");
    needInteger(options.modulusLength, "options.modulusLength", 0, 2 ** 32 - 1);
  }
  if (type === "ec") needString(options.namedCurve, "options.namedCurve");
  return [type, type === "ec" ? options.namedCurve : (options.modulusLength ?? 0), options.publicExponent ?? 65537];
}

/** @param {any} encodings */
function pair([privateParts, publicParts], encodings = {}) {
  const { privateKeyEncoding, publicKeyEncoding } = encodings;
  const privateKey = privateObject(privateParts),
    publicKey = publicObject(publicParts);
  return {
    publicKey: publicKeyEncoding ? publicKey.export(publicKeyEncoding) : publicKey,
    privateKey: privateKeyEncoding ? privateKey.export(privateKeyEncoding) : privateKey,
  };
}

export function generateKeyPairSync(type, options) {
  return pair(call("key_generate", ...pairArguments(type, options), false), options);
}

export function generateKeyPair(type, options, callback) {
  if (typeof options === "function") [callback, options] = [options, undefined];
  needFunction(callback, "callback");
  const arguments_ = pairArguments(type, options);
  call("key_generate", ...arguments_, true)
    .then((parts) => pair(parts, options))
    .then(
      ({ publicKey, privateKey }) => process.nextTick(callback, null, publicKey, privateKey),
      (error) => process.nextTick(callback, error),
    );
}
Object.defineProperty(generateKeyPair, Symbol.for("nodejs.util.promisify.custom"), {
  value: (type, options) =>
    new Promise((resolve, reject) => {
      generateKeyPair(type, options, (error, publicKey, privateKey) =>
        error ? reject(error) : resolve({ publicKey, privateKey }),
      );
    }),
});

function signOptions(key) {
  const options = key !== null && typeof key === "object" && !(key instanceof KeyObject) && !isBytes(key) ? key : {};
  const { padding = 0, saltLength, dsaEncoding = "der" } = options;
  if (saltLength !== undefined) needInteger(saltLength, "options.saltLength");
  if (dsaEncoding !== "der" && dsaEncoding !== "ieee-p1363") throw invalidValue("options.dsaEncoding", dsaEncoding);
  return { padding, salt: saltLength, encoding: dsaEncoding };
}

function signed(digest, data, key) {
  const { padding, salt, encoding } = signOptions(key);
  return output(call("sign", digest ?? "", keyBytes(privateFrom(key)), data, padding, salt ?? -2, encoding));
}

function verified(digest, data, key, signature) {
  const { padding, salt, encoding } = signOptions(key);
  return call("verify", digest ?? "", keyBytes(publicFrom(key)), data, padding, salt ?? -2, encoding, signature);
}

function later(work, callback) {
  if (callback === undefined) return work();
  needFunction(callback, "callback");
  settle(work, callback);
  return undefined;
}

export function sign(digest, data, key, callback) {
  if (digest !== null && digest !== undefined) needString(digest, "algorithm");
  const bytes = needBytes(data, "data");
  return later(() => signed(digest, bytes, key), callback);
}

export function verify(digest, data, key, signature, callback) {
  if (digest !== null && digest !== undefined) needString(digest, "algorithm");
  const bytes = needBytes(data, "data");
  if (!isBytes(signature))
    throw invalidType("signature", ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], signature);
  return later(() => verified(digest, bytes, key, bytesFrom(signature)), callback);
}

// Sign and Verify gather the signed data.
function signer(name, finish) {
  /** @type {any} */
  const cls = {
    [name]: function (algorithm, options) {
      if (!new.target) return new cls(algorithm, options);
      needString(algorithm, "algorithm");
      if (!isKnown(algorithm)) throw NodeError(Error, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
      hidden(this, "algorithm", algorithm);
      hidden(this, "pieces", []);
    },
  }[name];
  Object.assign(
    cls.prototype,
    /** @type {ThisType<any>} */ ({
      update(data, encoding) {
        this.pieces.push(Buffer.from(needBytes(data, "data", encoding)));
        return this;
      },
      _write(chunk, encoding, callback) {
        this.update(chunk, encoding);
        callback();
      },
      write(chunk, encoding, callback) {
        this.update(chunk, encoding);
        const done = typeof encoding === "function" ? encoding : callback;
        if (done) process.nextTick(done);
        return true;
      },
      end(chunk, encoding) {
        if (chunk !== undefined) this.update(chunk, encoding);
        return this;
      },
    }),
    finish,
  );
  return cls;
}

export const Sign = signer("Sign", {
  sign(key, encoding) {
    if (!key) throw NodeError(Error, "ERR_CRYPTO_SIGN_KEY_REQUIRED", "No key provided to sign");
    return output(signed(this.algorithm, Buffer.concat(this.pieces), key), encoding);
  },
});
export const Verify = signer("Verify", {
  verify(key, signature, encoding) {
    return verified(this.algorithm, Buffer.concat(this.pieces), key, needBytes(signature, "signature", encoding));
  },
});
export function createSign(algorithm, options) {
  return new Sign(algorithm, options);
}
export function createVerify(algorithm, options) {
  return new Verify(algorithm, options);
}

function rsa(operation, keyOf, usual) {
  return (key, data) => {
    const options = key !== null && typeof key === "object" && !(key instanceof KeyObject) && !isBytes(key) ? key : {};
    const bytes = needBytes(data, "buffer", options.encoding);
    const label = options.oaepLabel === undefined ? empty : needBytes(options.oaepLabel, "key.oaepLabel");
    return output(
      call(operation, keyBytes(keyOf(key)), bytes, options.padding ?? usual, options.oaepHash ?? "sha1", label),
    );
  };
}
export const publicEncrypt = rsa("rsa_encrypt", publicFrom, constants.RSA_PKCS1_OAEP_PADDING);
export const privateDecrypt = rsa("rsa_decrypt", privateFrom, constants.RSA_PKCS1_OAEP_PADDING);
export const privateEncrypt = notImplemented("crypto.privateEncrypt");
export const publicDecrypt = notImplemented("crypto.publicDecrypt");

/** The secret that a private and a public key share. */
export function diffieHellman({ privateKey, publicKey }, callback) {
  if (!(privateKey instanceof KeyObject)) throw invalidValue("options.privateKey", privateKey);
  if (!(publicKey instanceof KeyObject)) throw invalidValue("options.publicKey", publicKey);
  return later(
    () => output(call("key_agree", keyBytes(privateFrom(privateKey)), keyBytes(publicFrom(publicKey)))),
    callback,
  );
}

export function createECDH(curve) {
  return new ECDH(curve);
}
export function createDiffieHellman(...args) {
  return new DiffieHellman(...args);
}
export function createDiffieHellmanGroup(name) {
  return new DiffieHellmanGroup(name);
}
export const getDiffieHellman = createDiffieHellmanGroup;
export function getCurves() {
  return ["prime256v1", "secp224r1", "secp384r1", "secp521r1"];
}

export function generatePrimeSync(size, options = {}) {
  needInteger(size, "size", 1, MAX);
  needObject(options, "options");
  if (options.add !== undefined || options.rem !== undefined)
    throw NodeError(
      Error,
      "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
      "crypto.generatePrime: the options add and rem are not available in a Worker",
    );
  const bytes = call("prime", size, !!options.safe);
  return options.bigint ? BigInt(`0x${Buffer.from(bytes).toString("hex")}`) : bytes.buffer;
}
export function generatePrime(size, options, callback = options) {
  needFunction(callback, "callback");
  const chosen = typeof options === "function" ? undefined : options;
  settle(() => generatePrimeSync(size, chosen), callback);
}

export function checkPrimeSync(candidate, options) {
  if (options !== undefined) needObject(options, "options");
  if (typeof candidate === "bigint") {
    if (candidate < 0n) throw outOfRange("candidate", ">= 0", candidate);
    const text = candidate.toString(16);
    candidate = Buffer.from(text.length % 2 ? `0${text}` : text, "hex");
  }
  if (!isBytes(candidate))
    throw invalidType("candidate", ["ArrayBuffer", "TypedArray", "Buffer", "DataView", "bigint"], candidate);
  return call("is_prime", bytesFrom(candidate));
}
export function checkPrime(candidate, options, callback = options) {
  needFunction(callback, "callback");
  settle(() => checkPrimeSync(candidate, typeof options === "function" ? undefined : options), callback);
}

export function getFips() {
  return 0;
}
export function setFips(on) {
  if (on) throw NodeError(Error, "ERR_CRYPTO_FIPS_UNAVAILABLE", "Cannot set FIPS mode in a Worker.");
}
export function secureHeapUsed() {
  return { total: 0, used: 0, utilization: 0, min: 0 };
}
export const fips = false;
export const setEngine = notImplemented("crypto.setEngine");
export const createCipher = notImplemented("crypto.createCipher");
export const createDecipher = notImplemented("crypto.createDecipher");
export function Cipher() {
  createCipher();
}
export function Decipher() {
  createDecipher();
}
export class X509Certificate {
  constructor() {
    notImplemented("crypto.X509Certificate")();
  }
}
export class Certificate {}
for (const name of ["exportChallenge", "exportPublicKey", "verifySpkac"])
  Certificate[name] = Certificate.prototype[name] = notImplemented(`crypto.Certificate.${name}`);

export const { subtle } = web;
export const webcrypto = web;
export const { CryptoKey } = globalThis;
export {
  Cipheriv,
  Decipheriv,
  DiffieHellman,
  DiffieHellmanGroup,
  ECDH,
  getCipherInfo,
  getCiphers,
  KeyObject,
  PrivateKeyObject,
  PublicKeyObject,
  SecretKeyObject,
};

export default {
  Certificate,
  Cipher,
  Cipheriv,
  CryptoKey,
  Decipher,
  Decipheriv,
  DiffieHellman,
  DiffieHellmanGroup,
  ECDH,
  Hash,
  Hmac,
  KeyObject,
  PrivateKeyObject,
  PublicKeyObject,
  SecretKeyObject,
  Sign,
  Verify,
  X509Certificate,
  checkPrime,
  checkPrimeSync,
  constants,
  createCipher,
  createCipheriv,
  createDecipher,
  createDecipheriv,
  createDiffieHellman,
  createDiffieHellmanGroup,
  createECDH,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  createSign,
  createVerify,
  diffieHellman,
  fips,
  generateKey,
  generateKeyPair,
  generateKeyPairSync,
  generateKeySync,
  generatePrime,
  generatePrimeSync,
  getCipherInfo,
  getCiphers,
  getCurves,
  getDiffieHellman,
  getFips,
  getHashes,
  getRandomValues,
  hash,
  hkdf,
  hkdfSync,
  pbkdf2,
  pbkdf2Sync,
  privateDecrypt,
  privateEncrypt,
  pseudoRandomBytes,
  publicDecrypt,
  publicEncrypt,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  scrypt,
  scryptSync,
  secureHeapUsed,
  setEngine,
  setFips,
  sign,
  subtle,
  timingSafeEqual,
  verify,
  webcrypto,
};
