// https://w3c.github.io/webcrypto/#JsonWebKey-dictionary
import { decode } from "../../textcodec/js/encoding.js";

const MEMBERS = "alg crv d dp dq e ext k key_ops kty n oth p q qi use x y".split(" ");

// As production writes them, and so JSON.
const WRITTEN = "kty use key_ops alg ext crv x y d n e p q dp dq qi oth k".split(" ");

/** A JSON Web Key with its members in production's order. */
export function inOrder(key) {
  const out = {};
  for (const member of WRITTEN) if (key[member] !== undefined) out[member] = key[member];
  return out;
}

/** Converts a value to a JsonWebKey: a plain object of the existing members. */
export function webKey(value) {
  if (value !== undefined && value !== null && typeof value !== "object" && typeof value !== "function") {
    throw new TypeError("The key is neither bytes nor a JSON Web Key");
  }
  const key = {};
  if (value === undefined || value === null) return key;
  for (const member of MEMBERS) {
    const item = value[member];
    if (item !== undefined) key[member] = convert(member, item);
  }
  return key;
}

function convert(member, value) {
  switch (member) {
    case "ext":
      return !!value;
    case "key_ops":
      return sequence(value, member).map((item) => `${item}`);
    case "oth":
      return sequence(value, member);
    default:
      return `${value}`;
  }
}

/** The items of a sequence. */
export function sequence(value, what) {
  if (typeof value !== "object" || value === null || typeof value[Symbol.iterator] !== "function")
    throw new TypeError(`${what} is not a sequence`);
  return [...value];
}

/** The JsonWebKey that bytes hold. */
export function parseWebKey(bytes) {
  let key;
  try {
    key = webKey(JSON.parse(decode(bytes)));
  } catch {
    throw new DOMException("The bytes are not a JSON Web Key", "DataError");
  }
  if (key.kty === undefined) throw new DOMException("The JSON Web Key has no kty", "DataError");
  return key;
}
