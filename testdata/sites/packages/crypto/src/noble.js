import { cbc, ctr, gcm } from "@noble/ciphers/aes.js";
import { ed25519, x25519 } from "@noble/curves/ed25519.js";
import { p256, p384 } from "@noble/curves/nist.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex as hex } from "@noble/hashes/utils.js";

const { subtle } = crypto;
const data = new TextEncoder().encode("what both must agree on");
const same = (ours, theirs) => hex(new Uint8Array(ours)) === hex(theirs);
const secret = (bytes, name, usages) => subtle.importKey("raw", bytes, name, true, usages);

/** What crypto.subtle computes is what another implementation computes. */
export async function noble() {
  const out = {}, key = crypto.getRandomValues(new Uint8Array(32)), iv = crypto.getRandomValues(new Uint8Array(16));
  for (const [name, hash] of [["SHA-1", sha1], ["SHA-256", sha256], ["SHA-384", sha384], ["SHA-512", sha512]]) {
    out[name] = same(await subtle.digest(name, data), hash(data));
    out[`HMAC ${name}`] = same(await subtle.sign("HMAC", await secret(key, { name: "HMAC", hash: name }, ["sign"]), data), hmac(hash, key, data));
    out[`HKDF ${name}`] = same(await subtle.deriveBits({ name: "HKDF", hash: name, salt: iv, info: data }, await subtle.importKey("raw", key, "HKDF", false, ["deriveBits"]), 800), hkdf(hash, key, iv, data, 100));
    out[`PBKDF2 ${name}`] = same(await subtle.deriveBits({ name: "PBKDF2", hash: name, salt: iv, iterations: 5 }, await subtle.importKey("raw", key, "PBKDF2", false, ["deriveBits"]), 800), pbkdf2(hash, key, iv, { c: 5, dkLen: 100 }));
  }
  out.GCM = same(await subtle.encrypt({ name: "AES-GCM", iv, additionalData: key }, await secret(key, "AES-GCM", ["encrypt"]), data), gcm(key, iv, key).encrypt(data));
  out.CBC = same(await subtle.encrypt({ name: "AES-CBC", iv }, await secret(key, "AES-CBC", ["encrypt"]), data), cbc(key, iv).encrypt(data));
  out.CTR = same(await subtle.encrypt({ name: "AES-CTR", counter: iv, length: 128 }, await secret(key, "AES-CTR", ["encrypt"]), data), ctr(key, iv).encrypt(data));
  for (const [namedCurve, curve, hash, hashName] of [["P-256", p256, sha256, "SHA-256"], ["P-384", p384, sha384, "SHA-384"]]) {
    const pair = await subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]);
    const point = new Uint8Array(await subtle.exportKey("raw", pair.publicKey)), d = Uint8Array.fromBase64((await subtle.exportKey("jwk", pair.privateKey)).d, { alphabet: "base64url" });
    const algorithm = { name: "ECDSA", hash: hashName };
    out[`${namedCurve} ours`] = curve.verify(new Uint8Array(await subtle.sign(algorithm, pair.privateKey, data)), hash(data), point, { prehash: false, lowS: false });
    out[`${namedCurve} theirs`] = await subtle.verify(algorithm, pair.publicKey, curve.sign(hash(data), d, { prehash: false }), data);
  }
  const ed = await subtle.generateKey("Ed25519", true, ["sign", "verify"]), seed = Uint8Array.fromBase64((await subtle.exportKey("jwk", ed.privateKey)).d, { alphabet: "base64url" });
  out.Ed25519 = same(await subtle.sign("Ed25519", ed.privateKey, data), ed25519.sign(data, seed));
  const x = await subtle.generateKey("X25519", true, ["deriveBits"]), mine = x25519.utils.randomSecretKey();
  const theirs = await subtle.importKey("raw", x25519.getPublicKey(mine), "X25519", true, []);
  out.X25519 = same(await subtle.deriveBits({ name: "X25519", public: theirs }, x.privateKey, 256), x25519.getSharedSecret(mine, new Uint8Array(await subtle.exportKey("raw", x.publicKey))));
  return out;
}
