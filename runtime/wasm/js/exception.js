// https://webassembly.github.io/spec/js-api/#tags and #exceptions. A tag is known by
// its number: exceptions outlive the instance that it is of.
import { host } from "../../web/webidl/js/host.js";
import { Anchor, anchorOf, codeOf } from "./anchor.js";
import { isTrap } from "./error.js";
import { inward, outward, slotOf } from "./value.js";

const EXISTING = Symbol("existing");
const MOST = 1000; // values of an exception
const TYPES = {
  __proto__: null,
  i32: "i",
  i64: "I",
  f32: "f",
  f64: "d",
  v128: "v",
  anyfunc: "F",
  externref: "x",
  exnref: "e",
};
const JS_TAG = 1; // the number of JSTag

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** The fields of a Tag, null of any other value; the same of an Exception. */
export let tagFields;
let exceptionFields;

export class Tag {
  #anchor;
  #number;
  #types;
  static {
    tagFields = (value) =>
      isObject(value) && #types in value ? { anchor: value.#anchor, number: value.#number, types: value.#types } : null;
  }
  /** @overload @param {...any} given */
  constructor(type) {
    if (type === EXISTING) {
      [, this.#anchor, this.#number, this.#types] = arguments;
      return;
    }
    this.#types = typesOf(type);
    const [id, number] = host.wasm_tag(this.#types);
    this.#anchor = new Anchor(id);
    this.#number = number;
    this.#anchor.tags.set(number, this);
  }
}

function typesOf(type) {
  if (!isObject(type)) throw new TypeError("WebAssembly.Tag(): Argument 0 must be a tag type");
  const { parameters } = type;
  if (!isObject(parameters)) throw new TypeError("WebAssembly.Tag(): Argument 0 must be a tag type with 'parameters'");
  const { length } = parameters;
  if (length === undefined) throw new TypeError("WebAssembly.Tag(): Argument 0 contains parameters without 'length'");
  const count = length >>> 0;
  if (count > MOST) throw new TypeError("WebAssembly.Tag(): Argument 0 contains too many parameters");
  let types = "";
  for (let i = 0; i < count; i++) {
    const letter = TYPES[`${parameters[i]}`];
    if (letter === undefined)
      throw new TypeError(`WebAssembly.Tag(): Argument 0 parameter type at index #${i} must be a value type`);
    types += letter;
  }
  return types;
}

/** The tag of all values that JavaScript throws, except exceptions of other tags. */
export const JSTag = new Tag(EXISTING, null, JS_TAG, "x");

/** The Tag of a number, which is the instance's: always the same object. */
export function tagOf(number, type, instance) {
  if (number === JS_TAG) return JSTag;
  const anchor = anchorOf(instance);
  let tag = anchor.tags.get(number);
  if (tag === undefined) {
    tag = new Tag(EXISTING, anchor, number, type.slice(0, -1));
    anchor.tags.set(number, tag);
  }
  return tag;
}

function argumentTag(value, what) {
  const fields = tagFields(value);
  if (fields === null) throw new TypeError(`${what}: Argument 0 must be a WebAssembly.Tag`);
  return fields;
}

export class Exception {
  #anchor; // the anchor of the tag's instance, if the values include functions
  #number;
  #types;
  #values; // as JavaScript sees them
  static {
    exceptionFields = (value) =>
      isObject(value) && #values in value
        ? { anchor: value.#anchor, number: value.#number, types: value.#types, values: value.#values }
        : null;
  }
  /** @overload @param {...any} given */
  constructor(tag, payload) {
    if (tag === EXISTING) {
      [, this.#anchor, this.#number, this.#types, this.#values] = arguments;
      return;
    }
    const fields = tagFields(tag);
    if (fields === null) throw new TypeError("WebAssembly.Exception(): Argument 0 must be a WebAssembly tag");
    if (fields.number === JS_TAG)
      throw new TypeError("WebAssembly.Exception(): Argument 0 cannot be WebAssembly.JSTag");
    const options = arguments[2];
    const trace = options === undefined || options === null ? false : Boolean(optionsOf(options).traceStack);
    ({ anchor: this.#anchor, number: this.#number, types: this.#types } = fields);
    this.#values = valuesOf(fields.types, payload);
    if (trace) Error.captureStackTrace(this, Exception);
  }
  getArg(tag, index) {
    const what = "WebAssembly.Exception.getArg()";
    const { number, types, values } = receiver(this, what);
    const fields = argumentTag(tag, what);
    const at = indexOf(index, what);
    if (fields.number !== number) throw new TypeError(`${what}: First argument does not match the exception tag`);
    if (at >= types.length) throw new RangeError(`${what}: Index out of range`);
    if (types[at] === "v" || types[at] === "e")
      throw new TypeError(`${what}: Invalid type ${types[at] === "v" ? "v128" : "exnref"}`);
    return values[at];
  }
  is(tag) {
    const what = "WebAssembly.Exception.is()";
    const { number } = receiver(this, what);
    return argumentTag(tag, what).number === number;
  }
  // Those that were made with a trace have a property of their own.
  get stack() {
    receiver(this, "WebAssembly.Exception.stack()");
    return undefined;
  }
}

function receiver(value, what) {
  const fields = exceptionFields(value);
  if (fields === null) throw new TypeError(`${what}: Receiver is not a WebAssembly.Exception`);
  return fields;
}

function optionsOf(value) {
  if (!isObject(value)) throw new TypeError("WebAssembly.Exception(): Argument 2 is not an object");
  return value;
}

// https://webidl.spec.whatwg.org/#EnforceRange for an unsigned long, in V8's words.
function indexOf(value, what) {
  const n = Math.trunc(+value);
  if (!Number.isFinite(n)) throw new TypeError(`${what}: Index must be convertible to a valid number`);
  if (n < 0) throw new TypeError(`${what}: Index must be non-negative`);
  if (n >= 2 ** 32) throw new TypeError(`${what}: Index must be in the unsigned long range`);
  return n;
}

function valuesOf(types, payload) {
  if (!isObject(payload)) throw new TypeError("WebAssembly.Exception(): Exception values must be an iterable object");
  const { length } = payload;
  if (length === undefined) throw new TypeError("WebAssembly.Exception(): Exception values argument has no length");
  if (length >>> 0 !== types.length)
    throw new TypeError("WebAssembly.Exception(): Number of exception values does not match signature length");
  const values = [];
  for (let i = 0; i < types.length; i++) values.push(convert[types[i]](payload[i]));
  return values;
}

// ToWebAssemblyValue, and back, by the letter of a type.
const convert = {
  __proto__: null,
  i: (value) => +value | 0,
  I: (value) => BigInt.asIntN(64, value),
  f: (value) => Math.fround(value),
  d: (value) => +value,
  x: (value) => value,
  v() {
    throw new TypeError("WebAssembly.Exception(): Invalid type v128");
  },
  e() {
    throw new TypeError("WebAssembly.Exception(): Invalid type exnref");
  },
  F(value) {
    if (value !== null && codeOf(value) === null)
      throw new TypeError(
        "WebAssembly.Exception(): function-typed object must be null (if nullable) or a Wasm function object",
      );
    return value;
  },
};

/** Called by Go: the exception that an instance threw, by the number of its tag. */
export function thrown(number, signature, instance, ...held) {
  if (number === JS_TAG) return inward("x", held[0]);
  const types = signature.slice(0, -1),
    values = [];
  for (let i = 0, at = 0; i < types.length; i++) {
    if (types[i] === "v") values.push([held[at++], held[at++]]);
    else values.push(inward(types[i], held[at++]));
  }
  const anchor = types.includes("F") ? anchorOf(instance) : null;
  return new Exception(EXISTING, anchor, number, types, values);
}

/** Called by Go: the part of a value thrown by JavaScript that an instance may see. */
export function caught(value) {
  if (isTrap(value)) return null;
  const fields = exceptionFields(value);
  if (fields === null) return [];
  const { anchor, number, types, values } = fields,
    list = [number];
  for (let i = 0; i < types.length; i++) {
    if (types[i] === "v") list.push(...values[i]);
    else list.push(types[i] === "F" || types[i] === "x" ? outward(anchor, types[i], values[i]) : values[i]);
  }
  return list;
}

/** Called by Go: a value as an externref. */
export const slot = slotOf;
