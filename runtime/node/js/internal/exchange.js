// ECDH and Diffie-Hellman, https://nodejs.org/api/crypto.html#class-ecdh.
import { call } from "node:internal/host";
import { createNotImplementedError } from "node:internal/absent";
import { invalidType, needString, NodeError } from "node:internal/errors";
import { needBytes, output } from "node:internal/cryptobytes";

export class ECDH {
  #curve;
  #private = null;
  #public = null;
  constructor(curve) {
    needString(curve, "curve");
    call("ec_check", curve);
    this.#curve = curve;
  }
  static convertKey(key, curve, inputEncoding, outputEncoding, format = "uncompressed") {
    needString(curve, "curve");
    return output(call("ec_point", curve, needBytes(key, "key", inputEncoding), format), outputEncoding);
  }
  generateKeys(encoding, format) {
    [this.#private, this.#public] = call("ec_generate", this.#curve);
    return this.getPublicKey(encoding, format);
  }
  computeSecret(other, inputEncoding, outputEncoding) {
    return output(
      call(
        "ec_secret",
        this.#curve,
        this.#private ?? new Uint8Array(0),
        needBytes(other, "otherPublicKey", inputEncoding),
      ),
      outputEncoding,
    );
  }
  getPrivateKey(encoding) {
    if (this.#private === null)
      throw NodeError(Error, "ERR_CRYPTO_ECDH_INVALID_PRIVATE_KEY", "Failed to get ECDH private key");
    return output(this.#private, encoding);
  }
  getPublicKey(encoding, format = "uncompressed") {
    if (this.#public === null)
      throw NodeError(Error, "ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY", "Failed to get ECDH public key");
    return output(call("ec_point", this.#curve, this.#public, format), encoding);
  }
  setPrivateKey(key, encoding) {
    [this.#private, this.#public] = call("ec_private", this.#curve, needBytes(key, "key", encoding));
    return this;
  }
  setPublicKey(key, encoding) {
    this.#public = call("ec_point", this.#curve, needBytes(key, "key", encoding), "uncompressed");
    return this;
  }
}

/** Diffie-Hellman with a prime, or with a new one of so many bits. */
export class DiffieHellman {
  #prime;
  #generator;
  #private = null;
  #public = null;
  constructor(sizeOrPrime, primeEncoding, generator, generatorEncoding) {
    if (typeof sizeOrPrime === "number") {
      if (typeof primeEncoding === "number") generator = primeEncoding;
      this.#prime = call("prime", sizeOrPrime, true);
    } else {
      if (typeof primeEncoding !== "string")
        [generatorEncoding, generator, primeEncoding] = [generator, primeEncoding, undefined];
      this.#prime = Uint8Array.from(needBytes(sizeOrPrime, "sizeOrKey", primeEncoding));
    }
    generator ??= 2;
    this.#generator =
      typeof generator === "number"
        ? Uint8Array.of(generator)
        : Uint8Array.from(needBytes(generator, "generator", generatorEncoding));
    this.verifyError = 0;
  }
  generateKeys(encoding) {
    this.#private ??= call("dh_private", this.#prime);
    this.#public = call("dh_power", this.#prime, this.#generator, this.#private);
    return output(this.#public, encoding);
  }
  computeSecret(other, inputEncoding, outputEncoding) {
    if (this.#private === null)
      throw NodeError(Error, "ERR_CRYPTO_INVALID_KEYTYPE", "The private key is not set: call generateKeys() first");
    return output(
      call("dh_power", this.#prime, needBytes(other, "otherPublicKey", inputEncoding), this.#private),
      outputEncoding,
    );
  }
  getPrime(encoding) {
    return output(this.#prime, encoding);
  }
  getGenerator(encoding) {
    return output(this.#generator, encoding);
  }
  getPublicKey(encoding) {
    if (this.#public === null)
      throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "No public key - did you forget to generate one?");
    return output(this.#public, encoding);
  }
  getPrivateKey(encoding) {
    if (this.#private === null)
      throw NodeError(Error, "ERR_CRYPTO_INVALID_STATE", "No private key - did you forget to generate one?");
    return output(this.#private, encoding);
  }
  setPublicKey(key, encoding) {
    this.#public = Uint8Array.from(needBytes(key, "key", encoding));
    return this;
  }
  setPrivateKey(key, encoding) {
    this.#private = Uint8Array.from(needBytes(key, "key", encoding));
    return this;
  }
}

/** The groups of RFC 3526 are not included; use the elliptic curves. */
export class DiffieHellmanGroup {
  constructor(name) {
    if (typeof name !== "string") throw invalidType("name", "string", name);
    throw createNotImplementedError(`crypto.createDiffieHellmanGroup("${name}"), use createECDH,`);
  }
}

export default ECDH;
