// https://html.spec.whatwg.org/#structuredserializeinternal and its inverse in
// one pass: nothing leaves the isolate, so there is no form in between.
import { File, blobBytes, blobOf, fileOf, isBlob } from "../../formdata/js/blob.js";
import { cloneKey, isKey } from "../../webcrypto/js/cryptokey.js";
import { host } from "../../webidl/js/host.js";
import { dictionary, need, operation, platform, sequence } from "../../webidl/js/idl.js";
import { isPinned } from "../../webidl/js/pinned.js";

const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError };

function structuredClone(value, options = undefined) {
  need(arguments.length, 1, "structuredClone");
  const transfer = dictionary(options, "structuredClone: the second argument")?.transfer;
  return cloneWith(value, transfer === undefined ? [] : sequence(transfer, "structuredClone: transfer"))[0];
}

// The kinds of objects that can be transferred besides buffers.
const kinds = [];

/** Makes a kind of objects transferable, unless gone(object): move(from, make()) when all is known to be good. */
export function transferable(test, gone, make, move) {
  kinds.push({ test, gone, make, move });
}

function kindOf(item) {
  return kinds.find((kind) => kind.test(item));
}

/** A copy of value, and the new value of each item in the list. */
export function cloneWith(value, transfer) {
  const moved = new Map();
  for (const item of transfer) {
    if (!(item instanceof ArrayBuffer) && kindOf(item) === undefined) throw refuse(item, "cannot be transferred");
    if (isPinned(item)) throw refuse(item, "is that of a WebAssembly.Memory and cannot be transferred");
    if (item instanceof ArrayBuffer ? item.detached : kindOf(item).gone(item))
      throw refuse(item, "is detached and cannot be transferred");
    if (moved.has(item)) throw refuse(item, "is listed twice");
    moved.set(item, null);
  }
  const copy = clone(value, { memory: new Map(), moved, open: [] });
  return [copy, transfer.map((item) => moveOver(item, moved))];
}

// Nothing is moved before all has been copied: a copy that fails takes nothing.
function moveOver(item, moved) {
  if (item instanceof ArrayBuffer) {
    const whole = item.transfer();
    return moved.get(item) ?? whole;
  }
  const kind = kindOf(item),
    made = moved.get(item) ?? kind.make();
  kind.move(item, made);
  return made;
}

function refuse(value, why = "could not be cloned") {
  let shown;
  try {
    shown =
      typeof value === "function"
        ? Function.prototype.toString.call(value).slice(0, 60)
        : typeof value === "symbol"
          ? value.toString()
          : Object.prototype.toString.call(value);
  } catch {
    shown = typeof value;
  }
  return new DOMException(`${shown} ${why}.`, "DataCloneError");
}

/** A deep copy. Arrays and objects need no call for each level: lists and trees may be deep. */
function clone(value, state) {
  const { open } = state,
    below = open.length;
  const copy = begin(value, state);
  while (open.length > below) if (!advance(open.at(-1), state)) open.pop();
  return copy;
}

/** Copies properties until one leads to others, which come first: then it is true. */
function advance(one, state) {
  const { value, copy, keys } = one,
    depth = state.open.length;
  while (one.next < keys.length) {
    const key = keys[one.next++];
    if (!Object.hasOwn(value, key)) continue; // an earlier getter took it away
    const content = begin(value[key], state);
    Object.defineProperty(copy, key, { value: content, writable: true, enumerable: true, configurable: true });
    if (state.open.length > depth) return true;
  }
  return false;
}

/** A copy whose properties wait in state.open. */
function begin(value, state) {
  if (typeof value === "symbol" || typeof value === "function") throw refuse(value);
  if (typeof value !== "object" || value === null) return value;
  const known = state.memory.get(value);
  if (known !== undefined) return known;
  return object(value, state);
}

// Each kind keeps its copy in memory before it looks at children: they may lead back.
function object(value, state) {
  const keep = (copy) => {
    state.memory.set(value, copy);
    return copy;
  };
  if (host.is_ordinary(value)) return ordinary(value, keep, state);
  if (host.is_proxy(value)) throw refuse(value);
  if (value instanceof ArrayBuffer) return keep(buffer(value, state));
  if (value instanceof SharedArrayBuffer) return keep(value); // shared memory, for which the engine has no second object
  if (ArrayBuffer.isView(value)) return keep(view(value, state));
  if (value instanceof DOMException) return exception(value, keep);
  if (Error.isError(value)) return failure(value, keep, state);
  const slot = boxed(value);
  if (slot !== undefined) return keep(slot);
  if (has(Map.prototype, "size", value)) return map(value, keep(new Map()), state);
  if (has(Set.prototype, "size", value)) return set(value, keep(new Set()), state);
  throw refuse(value); // an iterator, a promise, a weak collection …
}

// An array, an object of the author's or one of these classes.
function ordinary(value, keep, state) {
  const proto = Object.getPrototypeOf(value);
  if (proto === Object.prototype || proto === null) return properties(value, keep({}), state);
  if (Array.isArray(value)) return properties(value, keep(new Array(value.length)), state);
  if (isBlob(value))
    return keep(
      value instanceof File
        ? fileOf(blobBytes(value), value.name, value.type, value.lastModified)
        : blobOf(blobBytes(value), value.type),
    );
  if (isKey(value)) return keep(cloneKey(value));
  if (state.moved.has(value)) return keep(moving(value, state));
  for (let p = proto; p !== null; p = Object.getPrototypeOf(p)) if (platform.has(p)) throw refuse(value);
  return properties(value, keep({}), state);
}

// Reports whether value has the internal slot that a getter looks at.
function has(proto, key, value) {
  try {
    Object.getOwnPropertyDescriptor(proto, key).get.call(value);
    return true;
  } catch {
    return false;
  }
}

function boxed(value) {
  switch (Object.prototype.toString.call(value)) {
    case "[object Date]":
      return attempt(() => new Date(Date.prototype.getTime.call(value)));
    case "[object RegExp]":
      return value instanceof RegExp ? new RegExp(value.source, value.flags) : undefined;
    case "[object Boolean]":
      return attempt(() => Object(Boolean.prototype.valueOf.call(value)));
    case "[object Number]":
      return attempt(() => Object(Number.prototype.valueOf.call(value)));
    case "[object String]":
      return attempt(() => Object(String.prototype.valueOf.call(value)));
    case "[object BigInt]":
      return attempt(() => Object(BigInt.prototype.valueOf.call(value)));
    case "[object Symbol]":
      throw refuse(value);
    default:
      return undefined;
  }
}

function attempt(f) {
  try {
    return f();
  } catch {
    return undefined; // it only claims to be one
  }
}

function buffer(value, { moved }) {
  if (value.detached) throw refuse(value, "is detached and cannot be cloned");
  let copy;
  if (!value.resizable) {
    copy = value.slice();
  } else {
    copy = new ArrayBuffer(value.byteLength, { maxByteLength: value.maxByteLength });
    new Uint8Array(copy).set(new Uint8Array(value));
  }
  if (moved.has(value)) moved.set(value, copy);
  return copy;
}

function moving(value, { moved }) {
  const made = kindOf(value).make();
  moved.set(value, made);
  return made;
}

// Throws for an array that is out of bounds, as reading its length does not.
const typedKeys = Object.getPrototypeOf(Uint8Array.prototype).keys;

function view(value, state) {
  let length;
  try {
    typedKeys.call(
      value instanceof DataView ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : value,
    );
    length = value instanceof DataView ? value.byteLength : value.length;
  } catch {
    throw refuse(value, "is out of the bounds of its buffer and cannot be cloned");
  }
  const { byteOffset } = value;
  if (tracks(value)) length = undefined;
  const copy = clone(value.buffer, state);
  const cls =
    value instanceof DataView
      ? DataView
      : globalThis[
          Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get.call(
            value,
          )
        ];
  return new cls(copy, byteOffset, length);
}

// Reports whether the length of a view follows that of its buffer. No property shows it: the buffer
// is shortened to the start of the view, which puts a view of a fixed length out of bounds, and
// restored.
function tracks(value) {
  const { buffer: memory, byteOffset, byteLength } = value,
    whole = memory.byteLength;
  if (!memory.resizable || byteLength === 0 || byteOffset + byteLength + (value.BYTES_PER_ELEMENT ?? 1) <= whole)
    return false;
  const tail = new Uint8Array(memory.slice(byteOffset));
  memory.resize(byteOffset);
  try {
    if (value instanceof DataView) return value.byteLength === 0;
    typedKeys.call(value);
    return true;
  } catch {
    return false;
  } finally {
    memory.resize(whole);
    new Uint8Array(memory, byteOffset).set(tail);
  }
}

// An exception keeps its stack, as an error does.
function exception(value, keep) {
  const copy = keep(new DOMException(value.message, value.name)),
    { stack } = value;
  if (typeof stack === "string")
    Object.defineProperty(copy, "stack", { value: stack, writable: true, configurable: true });
  return copy;
}

function failure(value, keep, state) {
  const name = ERRORS[value.name] ? value.name : "Error";
  const message = Object.getOwnPropertyDescriptor(value, "message")?.value;
  const before = name === "AggregateError" ? [[]] : []; // its errors come first, and are copied when it is kept
  const copy = keep(message === undefined ? new ERRORS[name](...before) : new ERRORS[name](...before, `${message}`));
  const define = (key, content) =>
    Object.defineProperty(copy, key, { value: content, writable: true, configurable: true });
  if (typeof value.stack === "string") define("stack", value.stack);
  if (Object.hasOwn(value, "cause")) define("cause", clone(value.cause, state));
  if (name === "AggregateError" && Object.hasOwn(value, "errors")) define("errors", clone(value.errors, state));
  return copy;
}

function map(value, copy, state) {
  for (const [k, v] of [...Map.prototype.entries.call(value)]) copy.set(clone(k, state), clone(v, state));
  return copy;
}

function set(value, copy, state) {
  for (const v of [...Set.prototype.values.call(value)]) copy.add(clone(v, state));
  return copy;
}

function properties(value, copy, state) {
  state.open.push({ value, copy, keys: Object.keys(value), next: 0 });
  return copy;
}

export function install() {
  operation("structuredClone", structuredClone);
}
