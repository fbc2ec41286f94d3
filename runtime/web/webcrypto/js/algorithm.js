// https://w3c.github.io/webcrypto/#algorithm-normalization-normalize-an-algorithm
import { source } from "../../textcodec/js/encoding.js";
import { slotsOf } from "./cryptokey.js";

// The parameters of each algorithm in each operation, in the order in which Web
// IDL reads them; "!" marks the required ones. The letters are their
// types: b BufferSource, h hash, m hash or MD5, i BigInteger, k CryptoKey, s
// string, and of numbers, which must be in range, o octet, u unsigned short, l
// unsigned long.
const none = (...names) => Object.fromEntries(names.map((name) => [name, ""]));
const RSA = ["RSASSA-PKCS1-v1_5", "RSA-PSS", "RSA-OAEP"];
const AES = ["AES-CTR", "AES-CBC", "AES-GCM", "AES-KW"];
const ALL = [...RSA, "ECDSA", "ECDH", "Ed25519", "X25519", "NODE-ED25519", ...AES, "HMAC"];
const each = (names, params) => Object.fromEntries(names.map((name) => [name, params]));

const cipher = {
  "RSA-OAEP": "b:label",
  "AES-CTR": "b!counter o!length",
  "AES-CBC": "b!iv",
  "AES-GCM": "b:additionalData b!iv o:tagLength",
};
const signature = {
  ...none("HMAC", "RSASSA-PKCS1-v1_5", "Ed25519", "NODE-ED25519"),
  "RSA-PSS": "l!saltLength",
  ECDSA: "h!hash",
};
const curves = { ...each(["ECDSA", "ECDH", "NODE-ED25519"], "s!namedCurve"), ...none("Ed25519", "X25519") };
const hmac = { HMAC: "h!hash l:length" },
  anyHMAC = { HMAC: "m!hash l:length" };
const wrap = none("AES-KW");

const digest = none("SHA-1", "SHA-256", "SHA-384", "SHA-512", "MD5");

const OPERATIONS = {
  digest,
  digestStream: { ...digest, ...none("crc32", "crc32c", "crc64nvme") },
  encrypt: cipher,
  decrypt: cipher,
  sign: signature,
  verify: signature,
  deriveBits: {
    HKDF: "h!hash b!info b!salt",
    PBKDF2: "h!hash l!iterations b!salt",
    ECDH: "k!public",
    X25519: "k!public",
  },
  wrapKey: wrap,
  unwrapKey: wrap,
  generateKey: {
    ...each(RSA, "l!modulusLength i!publicExponent h!hash"),
    ...curves,
    ...each(AES, "u!length"),
    ...hmac,
  },
  importKey: { ...each(RSA, "h!hash"), ...curves, ...none(...AES, "HKDF", "PBKDF2"), ...anyHMAC },
  exportKey: none(...ALL),
  keyLength: { ...each(AES, "u!length"), ...hmac, ...none("HKDF", "PBKDF2") },
};

const SIZES = { o: 0xff, u: 0xffff, l: 0xffffffff };

/** Converts an argument that is an AlgorithmIdentifier. */
export function identifier(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function" ? value : { name: `${value}` };
}

/** Reports whether an operation knows the algorithm of a key. */
export function supports(operation, name) {
  return OPERATIONS[operation][name] !== undefined;
}

/**
 * The name and, in the table's order, the parameters of an algorithm.
 * @returns {{ name: string, params: any[] }}
 */
export function normalize(operation, algorithm) {
  const name = nameOf(algorithm);
  return lookUp(operation, algorithm, name) ?? refuse(operation, name);
}

/** Like normalize, but by the second operation when the first does not know the algorithm. */
export function normalizeEither(first, second, algorithm) {
  const found = lookUp(first, algorithm, nameOf(algorithm));
  return found ?? normalize(second, algorithm);
}

// The name may be a getter: each normalization reads it once.
function nameOf({ name }) {
  if (name === undefined) throw new TypeError('Missing field "name" in "algorithm".');
  return `${name}`;
}

/** @returns {never} */
function refuse(operation, name) {
  throw new DOMException(
    `Unrecognized or unimplemented ${operation.startsWith("digest") ? "digest " : ""}algorithm requested ("${name}").`,
    "NotSupportedError",
  );
}

function lookUp(operation, algorithm, given) {
  const name = canonical(OPERATIONS[operation], given);
  if (name === undefined) return null;
  const spec = OPERATIONS[operation][name];
  return { name, params: spec === "" ? [] : spec.split(" ").map((param) => parameter(param, algorithm)) };
}

// Names are matched without regard to the case of ASCII letters, and of no others.
function canonical(table, name) {
  if (Object.hasOwn(table, name)) return name;
  if (!/^[\x20-\x7e]*$/.test(name)) return undefined;
  const wanted = name.toUpperCase();
  return Object.keys(table).find((key) => key.toUpperCase() === wanted);
}

function parameter(param, algorithm) {
  const member = param.slice(2),
    value = algorithm[member];
  if (value !== undefined) return convert(param[0], value, member);
  if (param[1] === "!") throw new TypeError(`Missing field "${member}" in "algorithm".`);
  return undefined;
}

function convert(type, value, member) {
  switch (type) {
    case "b":
      return source(value, `The algorithm's ${member}`).slice();
    case "h":
      return hashName(value);
    case "m":
      return normalize("digest", identifier(value)).name;
    case "i":
      if (!(value instanceof Uint8Array)) throw new TypeError(`The algorithm's ${member} is not a Uint8Array`);
      return value.slice();
    case "k":
      return slotsOf(value).handle;
    case "s":
      return `${value}`;
    default:
      return inRange(+value, SIZES[type], member);
  }
}

function hashName(value) {
  const { name } = normalize("digest", identifier(value));
  if (name === "MD5")
    throw new DOMException("MD5 is here for digest() and imported HMAC keys alone", "NotSupportedError");
  return name;
}

function inRange(number, max, member) {
  const whole = Math.trunc(number);
  if (!Number.isFinite(number) || whole < 0 || whole > max)
    throw new TypeError(`The algorithm's ${member} is ${number}, not an integer from 0 to ${max}`);
  return whole + 0;
}
