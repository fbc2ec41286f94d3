// https://w3c.github.io/webcrypto/ The order of checks is the standard's; keys
// are read, made and used in Go.
import { host } from "../../webidl/js/host.js";
import { identifier, normalize, normalizeEither, supports } from "./algorithm.js";
import { keyOf, slotsOf } from "./cryptokey.js";
import { DigestStream } from "./digeststream.js";
import { bytesOf, encode, source } from "../../textcodec/js/encoding.js";
import { attribute, define, guarded, illegal, need } from "../../webidl/js/idl.js";
import { inOrder, parseWebKey, sequence, webKey } from "./jwk.js";
import { QuotaExceededError } from "../../webidl/js/quota.js";

const FORMATS = ["raw", "pkcs8", "spki", "jwk"];
// In the order in which keys list them.
const USAGES = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"];

// The usages of each algorithm's keys, by type.
const cipher = { secret: "encrypt decrypt wrapKey unwrapKey" };
const signing = { public: "verify", private: "sign" };
const agreement = { public: "", private: "deriveKey deriveBits" };
const derivation = { secret: "deriveKey deriveBits" };
const ALLOWED = {
  "AES-CTR": cipher,
  "AES-CBC": cipher,
  "AES-GCM": cipher,
  "AES-KW": { secret: "wrapKey unwrapKey" },
  HMAC: { secret: "sign verify" },
  HKDF: derivation,
  PBKDF2: derivation,
  "RSASSA-PKCS1-v1_5": signing,
  "RSA-PSS": signing,
  ECDSA: signing,
  Ed25519: signing,
  "NODE-ED25519": signing,
  "RSA-OAEP": { public: "encrypt wrapKey", private: "decrypt unwrapKey" },
  ECDH: agreement,
  X25519: agreement,
};

const token = {};

class SubtleCrypto {
  #brand = true;
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
  }
  static own(object) {
    if (typeof object !== "object" || object === null || !(#brand in object)) throw illegal("SubtleCrypto");
  }
  async encrypt(algorithm, key, data) {
    begin(this, arguments, 3, "encrypt");
    algorithm = identifier(algorithm);
    const slots = slotsOf(key);
    source(data);
    const { name, params } = normalize("encrypt", algorithm);
    return transform("encrypt", permit(slots, name, "encrypt"), params, source(data));
  }
  async decrypt(algorithm, key, data) {
    begin(this, arguments, 3, "decrypt");
    algorithm = identifier(algorithm);
    const slots = slotsOf(key);
    source(data);
    const { name, params } = normalize("decrypt", algorithm);
    return transform("decrypt", permit(slots, name, "decrypt"), params, source(data));
  }
  async sign(algorithm, key, data) {
    begin(this, arguments, 3, "sign");
    algorithm = identifier(algorithm);
    const slots = slotsOf(key);
    source(data);
    const { name, params } = normalize("sign", algorithm);
    return host.crypto_sign(permit(slots, name, "sign"), params, source(data)).buffer;
  }
  async verify(algorithm, key, signature, data) {
    begin(this, arguments, 4, "verify");
    algorithm = identifier(algorithm);
    const slots = slotsOf(key);
    source(signature, "The signature");
    source(data);
    const { name, params } = normalize("verify", algorithm);
    return host.crypto_verify(permit(slots, name, "verify"), params, source(signature), source(data));
  }
  async digest(algorithm, data) {
    begin(this, arguments, 2, "digest");
    algorithm = identifier(algorithm);
    source(data);
    return host.crypto_digest(normalize("digest", algorithm).name, source(data)).buffer;
  }
  async generateKey(algorithm, extractable, keyUsages) {
    begin(this, arguments, 3, "generateKey");
    algorithm = identifier(algorithm);
    const usages = usagesOf(keyUsages);
    const { name, params } = normalize("generateKey", algorithm);
    const allowed = ALLOWED[name];
    refuseUsages(usages, Object.values(allowed).join(" "), name);
    const made = host.crypto_generate(name, params);
    const keys = made.map((one) =>
      keyOf(
        one,
        one[0][1] === "public" || !!extractable,
        usages.filter((usage) => allows(allowed[one[0][1]], usage)),
      ),
    );
    needUsages(keys[0]);
    return keys.length === 1 ? keys[0] : { publicKey: keys[1], privateKey: keys[0] };
  }
  async deriveBits(algorithm, baseKey, length = null) {
    begin(this, arguments, 2, "deriveBits");
    algorithm = identifier(algorithm);
    const slots = slotsOf(baseKey);
    const bits = length === null ? null : +length >>> 0;
    const { name, params } = normalize("deriveBits", algorithm);
    return host.crypto_derive(permit(slots, name, "deriveBits"), params, bits).buffer;
  }
  async deriveKey(algorithm, baseKey, derivedKeyType, extractable, keyUsages) {
    begin(this, arguments, 5, "deriveKey");
    algorithm = identifier(algorithm);
    derivedKeyType = identifier(derivedKeyType);
    const slots = slotsOf(baseKey),
      usages = usagesOf(keyUsages);
    const { name, params } = normalize("deriveBits", algorithm);
    const target = normalize("importKey", derivedKeyType);
    const wanted = normalize("keyLength", derivedKeyType);
    const handle = permit(slots, name, "deriveKey");
    const secret = host.crypto_derive(handle, params, host.crypto_key_length(wanted.name, wanted.params));
    return imported("raw", secret, target, extractable, usages);
  }
  async importKey(format, keyData, algorithm, extractable, keyUsages) {
    begin(this, arguments, 5, "importKey");
    format = formatOf(format);
    const bytes = bytesOf(keyData);
    const key = bytes === undefined ? webKey(keyData) : null;
    algorithm = identifier(algorithm);
    const usages = usagesOf(keyUsages);
    if (format === "jwk" && key !== null) checkExtractable(key, extractable);
    const target = normalize("importKey", algorithm);
    if ((format === "jwk") !== (key !== null)) {
      throw new TypeError(
        key === null
          ? "A key of the format jwk is an object, not bytes"
          : `A key of the format ${format} is bytes, not an object`,
      );
    }
    return imported(format, key ?? source(keyData), target, extractable, usages);
  }
  async exportKey(format, key) {
    begin(this, arguments, 2, "exportKey");
    const out = exported(formatOf(format), slotsOf(key));
    return out instanceof Uint8Array ? out.buffer : out;
  }
  async wrapKey(format, key, wrappingKey, wrapAlgorithm) {
    begin(this, arguments, 4, "wrapKey");
    format = formatOf(format);
    const slots = slotsOf(key),
      wrapping = slotsOf(wrappingKey);
    wrapAlgorithm = identifier(wrapAlgorithm);
    const { name, params } = normalizeEither("wrapKey", "encrypt", wrapAlgorithm);
    const handle = permit(wrapping, name, "wrapKey");
    const out = exported(format, slots);
    return transform("encrypt", handle, params, out instanceof Uint8Array ? out : encode(JSON.stringify(out)));
  }
  async unwrapKey(format, wrappedKey, unwrappingKey, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages) {
    begin(this, arguments, 7, "unwrapKey");
    format = formatOf(format);
    source(wrappedKey, "The wrapped key");
    const unwrapping = slotsOf(unwrappingKey);
    unwrapAlgorithm = identifier(unwrapAlgorithm);
    unwrappedKeyAlgorithm = identifier(unwrappedKeyAlgorithm);
    const usages = usagesOf(keyUsages);
    const { name, params } = normalizeEither("unwrapKey", "decrypt", unwrapAlgorithm);
    const target = normalize("importKey", unwrappedKeyAlgorithm);
    const handle = permit(unwrapping, name, "unwrapKey");
    const bytes = new Uint8Array(transform("decrypt", handle, params, source(wrappedKey)));
    return imported(format, format === "jwk" ? parseWebKey(bytes) : bytes, target, extractable, usages);
  }
  timingSafeEqual(a, b) {
    need(arguments.length, 2, "SubtleCrypto.timingSafeEqual");
    const left = source(a),
      right = source(b);
    if (left.byteLength !== right.byteLength) throw new TypeError("Input buffers must have the same byte length.");
    return host.crypto_equal(left, right);
  }
}

const { own } = SubtleCrypto;
delete SubtleCrypto.own;

function begin(object, args, count, method) {
  own(object);
  need(args.length, count, `SubtleCrypto.${method}`);
}

function formatOf(value) {
  const format = `${value}`;
  if (!FORMATS.includes(format)) throw new TypeError(`"${format}" is not a format of keys: ${FORMATS.join(", ")}`);
  return format;
}

function usagesOf(value) {
  const list = sequence(value, "The list of key usages").map((item) => `${item}`);
  for (const usage of list) {
    if (!USAGES.includes(usage)) throw new TypeError(`"${usage}" is not a usage of keys: ${USAGES.join(", ")}`);
  }
  return USAGES.filter((usage) => list.includes(usage));
}

function allows(allowed, usage) {
  return allowed.split(" ").includes(usage);
}

function refuseUsages(usages, allowed, name) {
  const wrong = usages.find((usage) => !allows(allowed, usage));
  if (wrong !== undefined) throw new DOMException(`A key for ${name} has no usage "${wrong}"`, "SyntaxError");
}

function needUsages(key) {
  if (key.type !== "public" && slotsOf(key).names.length === 0)
    throw new DOMException(`A ${key.type} key has at least one usage`, "SyntaxError");
}

// Returns the handle of a key that has this usage.
function permit({ handle, names }, name, usage) {
  if (handle[0] !== name) throw new DOMException(`The key is for ${handle[0]}, not ${name}`, "InvalidAccessError");
  if (!names.includes(usage)) throw new DOMException(`The key has no usage "${usage}"`, "InvalidAccessError");
  return handle;
}

// Encrypts or decrypts. AES works in place, on a copy with room for padding or a tag.
function transform(direction, handle, params, data) {
  const decrypt = direction === "decrypt",
    size = data.byteLength;
  if (!handle[0].startsWith("AES-C") && handle[0] !== "AES-GCM")
    return host.crypto_transform(decrypt, handle, params, data).buffer;
  const out = new Uint8Array(size + (decrypt ? 0 : 16));
  out.set(data);
  const length = host.crypto_cipher(decrypt, handle, params, size, out);
  return length === out.byteLength ? out.buffer : out.buffer.transfer(length);
}

// The type of key in the format; undefined if Go will refuse it.
function typeIn(format, key, name, allowed) {
  if (allowed.secret !== undefined) return "secret";
  switch (format) {
    case "pkcs8":
      return "private";
    case "jwk":
      return key.d === undefined ? "public" : "private";
    case "raw":
      return name.startsWith("RSA") ? undefined : "public";
    default:
      return "public";
  }
}

function imported(format, key, { name, params }, extractable, usages) {
  const allowed = ALLOWED[name];
  if (name === "HKDF" || name === "PBKDF2") {
    if (format !== "raw")
      throw new DOMException(`A key for ${name} is imported as "raw", not as "${format}"`, "NotSupportedError");
    refuseUsages(usages, allowed.secret, name);
    if (extractable) throw new DOMException(`A key for ${name} cannot be extractable`, "SyntaxError");
  } else {
    const type = typeIn(format, key, name, allowed);
    if (type !== undefined) refuseUsages(usages, allowed[type], name);
  }
  const material = format === "jwk" ? JSON.stringify(key) : key;
  const made = keyOf(host.crypto_import(format, name, params, material, usages, !!extractable), !!extractable, usages);
  needUsages(made);
  return made;
}

// Production looks at this before it looks at the algorithm.
function checkExtractable(key, extractable) {
  if (extractable && key.ext === false) throw new DOMException("the JSON Web Key is not extractable", "DataError");
}

// Bytes or a JSON Web Key.
function exported(format, { handle, extractable, names }) {
  if (!supports("exportKey", handle[0]))
    throw new DOMException(`Keys for ${handle[0]} cannot be exported`, "NotSupportedError");
  if (!extractable) throw new DOMException("The key is not extractable", "InvalidAccessError");
  const out = host.crypto_export(format, handle);
  return format === "jwk" ? inOrder({ ...out, key_ops: names.slice(), ext: true }) : out;
}

const subtle = new SubtleCrypto(token);

let isCrypto;

class Crypto {
  #brand = true;
  static {
    isCrypto = guarded("Crypto", (object) => object.#brand);
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
  }
  get subtle() {
    return isCrypto(this) && subtle;
  }
  getRandomValues(array) {
    isCrypto(this);
    need(arguments.length, 1, "crypto.getRandomValues");
    if (!ArrayBuffer.isView(array)) throw new TypeError("getRandomValues: the argument is not a typed array");
    if (
      array instanceof DataView ||
      array instanceof Float32Array ||
      array instanceof Float64Array ||
      array instanceof Float16Array
    ) {
      throw new DOMException("getRandomValues: the argument is not an integer typed array", "TypeMismatchError");
    }
    if (array.byteLength > 65536) {
      throw new QuotaExceededError(
        `getRandomValues: ${array.byteLength} bytes are more than the 65536 that one call gives`,
      );
    }
    host.random_fill(array);
    return array;
  }
  randomUUID() {
    return isCrypto(this) && host.random_uuid();
  }
}

export function install() {
  define("Crypto", Crypto);
  define("SubtleCrypto", SubtleCrypto);
  // Workers have it here, and nowhere else.
  Object.defineProperty(Crypto.prototype, "DigestStream", { value: DigestStream, writable: true, configurable: true });
  attribute("crypto", new Crypto(token));
}
