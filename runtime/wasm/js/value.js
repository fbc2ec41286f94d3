// Values on their way into instances and out of them. Numbers are converted by
// Go; references go as numbers: a function as its code, another value as a slot.
import { host } from "../../web/webidl/js/host.js";
import { codeOf, link, mark, ownerOf } from "./anchor.js";

const { apply } = Reflect;

const ZERO = Symbol("-0"); // a Map takes -0 for 0
const slots = new Map(); // of values that instances may hold
const values = [null]; // by slot
const free = [];
let limit = 256; // of slots, before those that nothing holds are looked for

/** value as an externref. */
export function slotOf(value) {
  if (value === null) return 0;
  const key = Object.is(value, -0) ? ZERO : value;
  let slot = slots.get(key);
  if (slot === undefined) {
    slot = free.length > 0 ? free.pop() : values.length;
    values[slot] = value;
    slots.set(key, slot);
  }
  return slot;
}

// Frees the slots that no table and no global holds, now and then. It must not
// run between a conversion and the call it is for.
function sweep() {
  if (slots.size < limit) return;
  const held = host.wasm_externs();
  if (held === null) return; // a running call may hold others
  const live = new Set(held);
  for (const [key, slot] of slots) {
    if (live.has(slot)) continue;
    slots.delete(key);
    values[slot] = undefined;
    free.push(slot);
  }
  limit = Math.max(256, slots.size * 2);
}

/** value as Go takes it, for the type of a letter; anchor is the instance that gets it. */
export function outward(anchor, type, value) {
  if (type === "x") return slotOf(value);
  if (type !== "F") return value;
  if (value === null) return 0;
  const code = codeOf(value);
  if (code === null)
    throw new TypeError("type incompatibility when transforming from/to JS: function-typed object expected");
  link(anchor, ownerOf(code));
  return code;
}

/** A value from Go, converted for JavaScript. */
export function inward(type, value) {
  if (type === "x") return values[value];
  if (type !== "F") return value;
  return value === 0 ? null : functionOf(value);
}

/** The default value of a reference. */
export function initial(type) {
  return type === "F" ? null : undefined;
}

/** Makes room for references, before the first is converted for a call. */
export const settle = sweep;

/** The exported function of a code: always the same object. */
export function functionOf(code) {
  const anchor = ownerOf(code);
  let f = anchor.functions.get(code);
  if (f === undefined) {
    f = makeFunction(anchor, code, host.wasm_type(code));
    anchor.functions.set(code, f);
  }
  return f;
}

function makeFunction(anchor, code, type) {
  const [params, results] = type.split(":");
  const f = /[Fx]/.test(type) ? withReferences(anchor, code, params, results) : plain(code, params.length);
  Object.defineProperty(f, "length", { value: params.length });
  Object.defineProperty(f, "name", { value: `${code % 2 ** 20}` });
  mark(f, anchor, code);
  return f;
}

// Functions of numbers alone; few parameters need no array.
function plain(code, count) {
  const call = host.wasm_call;
  switch (count) {
    case 0:
      return () => call(code);
    case 1:
      return (a) => call(code, a);
    case 2:
      return (a, b) => call(code, a, b);
    case 3:
      return (a, b, c) => call(code, a, b, c);
    case 4:
      return (a, b, c, d) => call(code, a, b, c, d);
    default:
      return (...args) => call(code, ...args);
  }
}

function withReferences(anchor, code, params, results) {
  return (...args) => {
    sweep();
    const list = [];
    for (let i = 0; i < params.length; i++) list.push(outward(anchor, params[i], args[i]));
    return received(results, host.wasm_call(code, ...list));
  };
}

function received(types, result) {
  if (types.length === 1) return inward(types, result);
  if (types.length === 0) return undefined;
  const list = [];
  for (let i = 0; i < types.length; i++) list.push(inward(types[i], result[i]));
  return list;
}

/** Reports whether a signature is of numbers alone, and of one result at most. */
export function isPlain(type) {
  return /^\w*:\w?$/.test(type) && !/[Fx]/.test(type);
}

/** Calls an imported function f of a signature; the result is as Go takes it. */
export function callImport(anchor, f, type, args) {
  const [params, results] = type.split(":");
  for (let i = 0; i < params.length; i++) args[i] = inward(params[i], args[i]);
  const result = f(...args);
  if (results.length === 0) return undefined;
  if (results.length === 1) return outward(anchor, results, result);
  const iterate = typeof result === "object" && result !== null ? result[Symbol.iterator] : undefined; // looked for once
  if (typeof iterate !== "function") throw new TypeError("multi-return value must be iterable");
  const list = [...{ [Symbol.iterator]: () => apply(iterate, result, []) }];
  if (list.length !== results.length) throw new TypeError("multi-return length mismatch");
  for (let i = 0; i < list.length; i++) list[i] = outward(anchor, results[i], list[i]);
  return list;
}
