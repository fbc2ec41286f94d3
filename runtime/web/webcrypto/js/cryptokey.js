// https://w3c.github.io/webcrypto/#cryptokey-interface A key is its bytes, in
// the isolate's own memory: it lives as long as its object, and an isolate that
// starts over from its image has the keys of the module again.
import { define, guarded } from "../../webidl/js/idl.js";

const token = {};

/**
 * The slots of a key; a TypeError for anything else.
 *   handle       the key for Go: [algorithm, type, hash, curve, bytes]
 *   algorithm    the object that code sees, made once
 *   usages       likewise
 *   extractable
 */
export let slotsOf;

/** Reports whether value is a CryptoKey. */
export let isKey;

export class CryptoKey {
  #slots;
  static {
    slotsOf = guarded("CryptoKey", (key) => key.#slots);
    isKey = (value) => typeof value === "object" && value !== null && #slots in value;
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    this.#slots = arguments[1];
  }
  get type() {
    return slotsOf(this).handle[1];
  }
  get extractable() {
    return slotsOf(this).extractable;
  }
  get algorithm() {
    return slotsOf(this).algorithm;
  }
  get usages() {
    return slotsOf(this).usages;
  }
}

/** A key from Go: [handle, algorithm]. */
export function keyOf([handle, algorithm], extractable, usages) {
  return new CryptoKey(token, { handle, algorithm, extractable, usages, names: usages.slice() });
}

/** A key of the same bytes, for structuredClone. */
export function cloneKey(key) {
  const { handle, algorithm, extractable, names } = slotsOf(key);
  const copy = { ...algorithm };
  if (copy.hash !== undefined) copy.hash = { ...copy.hash };
  return keyOf([handle, copy], extractable, names.slice());
}

export function install() {
  define("CryptoKey", CryptoKey);
}
