// https://w3c.github.io/webcrypto/ as far as digest and HMAC go; Go computes.
import { host } from "./host.js";
import { bytesOf } from "./encoding.js";
import { define, expose, need } from "./idl.js";

const token = {};
const BLOCK = { "SHA-1": 64, "SHA-256": 64, "SHA-384": 128, "SHA-512": 128 };
const USAGES = ["sign", "verify"];

class Crypto {
  constructor(key) { if (key !== token) throw new TypeError("Illegal constructor"); }
  get subtle() { return subtle; }
  getRandomValues(array) {
    need(arguments.length, 1, "crypto.getRandomValues");
    if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array || array instanceof Float64Array || array instanceof Float16Array) {
      throw new DOMException("getRandomValues: the argument is not an integer typed array", "TypeMismatchError");
    }
    if (array.byteLength > 65536) {
      throw new DOMException(`getRandomValues: ${array.byteLength} bytes are more than the 65536 that one call gives`, "QuotaExceededError");
    }
    host.random_fill(array);
    return array;
  }
  randomUUID() { return host.random_uuid(); }
}

let fieldsOf;

class CryptoKey {
  #fields;
  static {
    fieldsOf = (key) => {
      try {
        return key.#fields;
      } catch {
        throw new TypeError("The key is not a CryptoKey");
      }
    };
  }
  constructor(key, fields) {
    if (key !== token) throw new TypeError("Illegal constructor");
    this.#fields = fields;
  }
  get type() { return fieldsOf(this).type; }
  get extractable() { return fieldsOf(this).extractable; }
  get algorithm() { return fieldsOf(this).algorithm; }
  get usages() { return fieldsOf(this).usages; }
}

class SubtleCrypto {
  constructor(key) { if (key !== token) throw new TypeError("Illegal constructor"); }
  async digest(algorithm, data) {
    need(arguments.length, 2, "SubtleCrypto.digest");
    const name = nameOf(algorithm);
    if (name !== "MD5") hashOf(algorithm);
    return host.crypto_digest(name, input(data)).buffer;
  }
  async sign(algorithm, key, data) {
    need(arguments.length, 3, "SubtleCrypto.sign");
    const hmac = keyFor(algorithm, key, "sign");
    return host.crypto_hmac(hmac.algorithm.hash.name, hmac.bytes, input(data)).buffer;
  }
  async verify(algorithm, key, signature, data) {
    need(arguments.length, 4, "SubtleCrypto.verify");
    const hmac = keyFor(algorithm, key, "verify");
    return host.crypto_equal(host.crypto_hmac(hmac.algorithm.hash.name, hmac.bytes, input(data)), input(signature));
  }
  async generateKey(algorithm, extractable, usages) {
    need(arguments.length, 3, "SubtleCrypto.generateKey");
    const hash = hmacHash(algorithm);
    const bits = algorithm.length === undefined ? BLOCK[hash] * 8 : Number(algorithm.length);
    if (!(bits > 0 && bits % 8 === 0 && bits <= 1 << 16)) throw new DOMException("HMAC: the key's length is not a positive multiple of 8", "OperationError");
    const bytes = new Uint8Array(bits / 8);
    host.random_fill(bytes);
    return hmacKey(bytes, hash, extractable, usages);
  }
  async importKey(format, data, algorithm, extractable, usages) {
    need(arguments.length, 5, "SubtleCrypto.importKey");
    const hash = hmacHash(algorithm);
    if (format === "raw") return hmacKey(input(data).slice(), hash, extractable, usages, algorithm.length);
    if (format !== "jwk") throw new DOMException(`HMAC keys cannot be imported as "${format}"; use "raw" or "jwk"`, "NotSupportedError");
    if (typeof data !== "object" || data === null || data.kty !== "oct" || typeof data.k !== "string") {
      throw new DOMException('The key is not a JSON Web Key of type "oct"', "DataError");
    }
    if (data.alg !== undefined && data.alg !== jwkName(hash)) throw new DOMException(`The key is for ${data.alg}, not ${jwkName(hash)}`, "DataError");
    let bytes;
    try {
      bytes = Uint8Array.fromBase64(data.k, { alphabet: "base64url" });
    } catch {
      throw new DOMException("The key's k is not base64url", "DataError");
    }
    return hmacKey(bytes, hash, extractable, usages, algorithm.length);
  }
  async exportKey(format, key) {
    need(arguments.length, 2, "SubtleCrypto.exportKey");
    const own = fieldsOf(key);
    if (!own.extractable) throw new DOMException("The key is not extractable", "InvalidAccessError");
    if (format === "raw") return own.bytes.slice().buffer;
    if (format !== "jwk") throw new DOMException(`HMAC keys cannot be exported as "${format}"; use "raw" or "jwk"`, "NotSupportedError");
    return {
      kty: "oct", k: own.bytes.toBase64({ alphabet: "base64url", omitPadding: true }),
      alg: jwkName(own.algorithm.hash.name), key_ops: own.usages.slice(), ext: own.extractable,
    };
  }
  timingSafeEqual(a, b) {
    need(arguments.length, 2, "SubtleCrypto.timingSafeEqual");
    const left = input(a), right = input(b);
    if (left.byteLength !== right.byteLength) throw new TypeError("Input buffers must have the same byte length.");
    return host.crypto_equal(left, right);
  }
}

function input(data) {
  const bytes = bytesOf(data);
  if (bytes === undefined) throw new TypeError("The data is neither an ArrayBuffer nor a view");
  return bytes;
}

function nameOf(algorithm) {
  const name = typeof algorithm === "string" ? algorithm : algorithm?.name;
  if (typeof name !== "string") throw new TypeError("The algorithm has no name");
  return name.toUpperCase();
}

function hashOf(algorithm) {
  const name = nameOf(algorithm);
  if (BLOCK[name] === undefined) throw new DOMException(`Unrecognized or unimplemented digest algorithm requested ("${name}").`, "NotSupportedError");
  return name;
}

function hmacHash(algorithm) {
  const name = nameOf(algorithm);
  if (name !== "HMAC") throw new DOMException(`Unrecognized or unimplemented algorithm "${name}"; HMAC is there`, "NotSupportedError");
  if (algorithm.hash === undefined) throw new TypeError('Missing field "hash" in "algorithm".');
  return hashOf(algorithm.hash);
}

function hmacKey(bytes, hash, extractable, usages, length) {
  const list = [...usages];
  for (const usage of list) {
    if (!USAGES.includes(usage)) throw new DOMException(`An HMAC key has no usage "${usage}"`, "SyntaxError");
  }
  if (list.length === 0) throw new DOMException("The key has no usages", "SyntaxError");
  if (bytes.byteLength === 0) throw new DOMException("The key is empty", "DataError");
  if (length !== undefined && length !== bytes.byteLength * 8) throw new DOMException(`The key has ${bytes.byteLength * 8} bits, not ${length}`, "DataError");
  return new CryptoKey(token, {
    type: "secret", extractable: !!extractable, usages: USAGES.filter((usage) => list.includes(usage)), bytes,
    algorithm: { name: "HMAC", hash: { name: hash }, length: bytes.byteLength * 8 },
  });
}

function keyFor(algorithm, key, usage) {
  const fields = fieldsOf(key);
  if (nameOf(algorithm) !== fields.algorithm.name) {
    throw new DOMException(`The key is for ${fields.algorithm.name}, not ${nameOf(algorithm)}`, "InvalidAccessError");
  }
  if (!fields.usages.includes(usage)) throw new DOMException(`The key has no usage "${usage}"`, "InvalidAccessError");
  return fields;
}

function jwkName(hash) { return `HS${hash.slice(4)}`; }

const subtle = new SubtleCrypto(token);

export function install() {
  define("Crypto", Crypto);
  define("CryptoKey", CryptoKey);
  define("SubtleCrypto", SubtleCrypto);
  expose("crypto", new Crypto(token));
}
