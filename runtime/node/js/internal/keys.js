// KeyObject and the forms of keys in arguments, https://nodejs.org/api/crypto.html#class-keyobject.
import { Buffer } from "node:buffer";
import { call, internals } from "node:internal/host";
import { invalidType, invalidValue, needObject, needString, NodeError } from "node:internal/errors";
import { bytesFrom, isBytes } from "node:internal/cryptobytes";

const made = Symbol();
let bytesOf;

/** A secret key's bytes, or the DER of an asymmetric key. */
export class KeyObject {
  #type;
  #bytes;
  #kind;
  #details;
  static {
    bytesOf = (key) => key.#bytes;
  }
  constructor(token, type, bytes, kind, details) {
    if (token !== made) throw NodeError(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
    this.#type = type;
    this.#bytes = bytes;
    this.#kind = kind;
    this.#details = details ?? {};
  }
  get type() {
    return this.#type;
  }
  get [Symbol.toStringTag]() {
    return "KeyObject";
  }
  static from(key) {
    if (!(key instanceof CryptoKey)) throw invalidType("key", "CryptoKey", key);
    throw NodeError(
      Error,
      "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
      "KeyObject.from(CryptoKey) is not available in a Worker: " +
        "export the key with crypto.subtle.exportKey and give its bytes to createSecretKey or createPrivateKey",
    );
  }
  equals(other) {
    if (!(other instanceof KeyObject)) throw invalidType("otherKeyObject", "KeyObject", other);
    return this.#type === other.#type && call("equal", this.#bytes, other.#bytes);
  }
  get asymmetricKeyType() {
    return this.#kind;
  }
  get asymmetricKeyDetails() {
    if (this.#kind === undefined) return undefined;
    const details = { ...this.#details };
    if ("publicExponent" in details) details.publicExponent = BigInt(details.publicExponent);
    return details;
  }
  get symmetricKeySize() {
    return this.#type === "secret" ? this.#bytes.length : undefined;
  }
  toCryptoKey(algorithm, extractable, usages) {
    const format = this.#type === "secret" ? "raw" : this.#type === "public" ? "spki" : "pkcs8";
    return crypto.subtle.importKey(format, this.#bytes, algorithm, extractable, usages);
  }
  export(options) {
    if (this.#type === "secret") {
      if (options !== undefined) needObject(options, "options");
      if (options?.format === "jwk") return { kty: "oct", k: Buffer.from(this.#bytes).toString("base64url") };
      return Buffer.from(this.#bytes);
    }
    needObject(options, "options");
    return exported(this, options);
  }
}

/** The bytes of a KeyObject. */
export function keyBytes(key) {
  return bytesOf(key);
}

export class SecretKeyObject extends KeyObject {}
export class PublicKeyObject extends KeyObject {}
export class PrivateKeyObject extends KeyObject {}

export function secret(bytes) {
  return new SecretKeyObject(made, "secret", bytes);
}
export function publicObject([der, kind, details]) {
  return new PublicKeyObject(made, "public", der, kind, details);
}
export function privateObject([der, kind, details]) {
  return new PrivateKeyObject(made, "private", der, kind, details);
}

const labels = {
  pkcs1: { private: "RSA PRIVATE KEY", public: "RSA PUBLIC KEY" },
  pkcs8: { private: "PRIVATE KEY" },
  spki: { public: "PUBLIC KEY" },
  sec1: { private: "EC PRIVATE KEY" },
};

function exported(key, { format, type, cipher, passphrase }) {
  if (format === "jwk") return jwkOf(key);
  const half = key.type;
  if (!["pem", "der"].includes(format)) throw invalidValue("options.format", format);
  if (labels[type]?.[half] === undefined) throw invalidValue("options.type", type);
  if (cipher !== undefined || passphrase !== undefined)
    throw NodeError(
      Error,
      "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
      "keys cannot be exported with a passphrase in a Worker: leave cipher and passphrase out, and encrypt the text yourself",
    );
  const der = Buffer.from(call("key_export", bytesOf(key), half === "private", type));
  return format === "der"
    ? der
    : `-----BEGIN ${labels[type][half]}-----\n${der.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END ${labels[type][half]}-----\n`;
}

function jwkOf(key) {
  const fields = call("key_to_jwk", bytesOf(key), key.type === "private");
  const jwk = {};
  for (let i = 0; i < fields.length; i += 2)
    jwk[fields[i]] =
      typeof fields[i + 1] === "string" ? fields[i + 1] : Buffer.from(fields[i + 1]).toString("base64url");
  return jwk;
}

function fromJWK(jwk, half) {
  needObject(jwk, "key.key");
  if (!["RSA", "EC", "OKP"].includes(jwk.kty))
    throw invalidValue("key.kty", jwk.kty, "must be one of: 'RSA', 'EC', 'OKP'");
  const isPrivate = half === "private" || (half === "any" && jwk.d !== undefined);
  for (const name of jwk.kty === "RSA"
    ? isPrivate
      ? ["n", "e", "d", "p", "q"]
      : ["n", "e"]
    : ["crv", "x", ...(jwk.kty === "EC" ? ["y"] : []), ...(isPrivate ? ["d"] : [])])
    needString(jwk[name], `key.${name}`);
  const part = (name) => (typeof jwk[name] === "string" ? Buffer.from(jwk[name], "base64url") : new Uint8Array(0));
  const parts = call(
    "key_from_jwk",
    isPrivate,
    jwk.kty,
    jwk.crv ?? "",
    ...["n", "e", "d", "p", "q", "x", "y"].map(part),
  );
  return isPrivate ? privateObject(parts) : publicObject(parts);
}

// The DER of a given key and its label.
function derOf(key, options, name) {
  const { format = "pem", type } = options;
  if (!isBytes(key) && typeof key !== "string")
    throw invalidType(name, ["string", "ArrayBuffer", "Buffer", "TypedArray", "DataView"], key);
  if (format === "pem")
    return call("key_pem", typeof key === "string" ? key : Buffer.from(bytesFrom(key)).toString("latin1"));
  if (format !== "der") throw invalidValue("options.format", format);
  return [
    bytesFrom(key, options.encoding),
    { pkcs1: "", pkcs8: "PRIVATE KEY", spki: "PUBLIC KEY", sec1: "EC PRIVATE KEY" }[type] ?? "",
  ];
}

// The KeyObject of a CryptoKey. The Worker must not get it: it could be exported.
function known(key) {
  if (!(key instanceof CryptoKey)) return key;
  const [type, bytes] = internals.material(key);
  if (type === "secret") return secret(bytes);
  return type === "public" ? publicObject(call("key_public", bytes, false)) : privateObject(call("key_private", bytes));
}

/** A private key of any form. */
export function privateFrom(given, name = "key") {
  const input = known(given);
  if (input instanceof KeyObject) {
    if (input.type !== "private")
      throw NodeError(
        TypeError,
        "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE",
        `Invalid key object type ${input.type}, expected private.`,
      );
    return input;
  }
  const { key, options } = split(input, name);
  if (key instanceof KeyObject) return privateFrom(key, name);
  if (options.format === "jwk") return fromJWK(key, "private");
  return privateObject(call("key_private", derOf(key, options, name)[0]));
}

/** A public key of any form; of a private one its public half. */
export function publicFrom(given, name = "key") {
  const input = known(given);
  if (input instanceof KeyObject) {
    if (input.type === "secret")
      throw NodeError(
        TypeError,
        "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE",
        "Invalid key object type secret, expected private or public.",
      );
    return input.type === "public" ? input : publicObject(call("key_public", bytesOf(input), true));
  }
  const { key, options } = split(input, name);
  if (key instanceof KeyObject) return publicFrom(key, name);
  if (options.format === "jwk") return publicFrom(fromJWK(key, "any"));
  const [der, label] = derOf(key, options, name);
  const isPrivate = /PRIVATE KEY$/.test(label) || (label === "" && options.type === "pkcs8");
  return publicObject(call("key_public", der, isPrivate));
}

function split(input, name) {
  if (typeof input === "string" || isBytes(input)) return { key: input, options: {} };
  if (input === null || typeof input !== "object")
    throw invalidType(
      name,
      ["ArrayBuffer", "Buffer", "TypedArray", "DataView", "string", "KeyObject", "CryptoKey"],
      input,
    );
  return { key: known(input.key), options: input };
}

/** The bytes of a secret given as a string, bytes, a KeyObject or a CryptoKey. */
export function secretFrom(given, name = "key", encoding) {
  const input = known(given);
  if (input instanceof KeyObject) {
    if (input.type !== "secret")
      throw NodeError(
        TypeError,
        "ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE",
        `Invalid key object type ${input.type}, expected secret.`,
      );
    return bytesOf(input);
  }
  if (typeof input !== "string" && !isBytes(input))
    throw invalidType(
      name,
      ["ArrayBuffer", "Buffer", "TypedArray", "DataView", "string", "KeyObject", "CryptoKey"],
      input,
    );
  return bytesFrom(input, encoding);
}

export default KeyObject;
