// Deep equality as in assert and util,
// https://nodejs.org/api/assert.html#comparison-details_1.
import types from "node:util/types";

/** Whether a and b are deeply equal: strict by Object.is and prototypes, otherwise by ==. With partial, a may have more than b. */
export function deepEqual(a, b, strict, partial = false) {
  return equal({ strict, partial, left: [], right: [] }, a, b);
}

function equal(c, a, b) {
  // biome-ignore lint/suspicious/noDoubleEquals: loose equality is ==
  if (c.strict ? Object.is(a, b) : a == b || bothNaN(a, b)) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    return false;
  }
  if (c.strict && !c.partial && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
  return sameKind(c, a, b) && cycle(c, a, b);
}

const bothNaN = (a, b) => Number.isNaN(a) && Number.isNaN(b);

function sameKind(c, a, b) {
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return c.partial ? a.length >= b.length : a.length === b.length;
  if (types.isDate(a) || types.isDate(b))
    return (
      types.isDate(a) && types.isDate(b) && Object.is(Date.prototype.getTime.call(a), Date.prototype.getTime.call(b))
    );
  if (types.isRegExp(a) || types.isRegExp(b))
    return (
      types.isRegExp(a) &&
      types.isRegExp(b) &&
      a.source === b.source &&
      a.flags === b.flags &&
      a.lastIndex === b.lastIndex
    );
  if (Error.isError(a) || Error.isError(b))
    return Error.isError(a) && Error.isError(b) && a.message === b.message && a.name === b.name;
  if (ArrayBuffer.isView(a) || ArrayBuffer.isView(b))
    return ArrayBuffer.isView(a) && ArrayBuffer.isView(b) && sameBytes(c, a, b);
  if (types.isAnyArrayBuffer(a) || types.isAnyArrayBuffer(b))
    return types.isAnyArrayBuffer(a) && types.isAnyArrayBuffer(b) && sameBytes(c, new Uint8Array(a), new Uint8Array(b));
  if (types.isSet(a) || types.isSet(b))
    return types.isSet(a) && types.isSet(b) && (c.partial ? a.size >= b.size : a.size === b.size);
  if (types.isMap(a) || types.isMap(b))
    return types.isMap(a) && types.isMap(b) && (c.partial ? a.size >= b.size : a.size === b.size);
  if (types.isBoxedPrimitive(a) || types.isBoxedPrimitive(b)) return sameBox(a, b);
  if (types.isWeakMap(a) || types.isWeakSet(a) || types.isPromise(a)) return false;
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  return true;
}

const boxes = [
  [types.isNumberObject, Number],
  [types.isStringObject, String],
  [types.isBooleanObject, Boolean],
  [types.isBigIntObject, BigInt],
  [types.isSymbolObject, Symbol],
].map(([is, { prototype }]) => [is, prototype.valueOf]);

// A primitive in an object with any prototype.
function sameBox(a, b) {
  const [is, valueOf] = boxes.find(([is]) => is(a)) ?? [() => false];
  return is(b) && Object.is(valueOf.call(a), valueOf.call(b));
}

function sameBytes(c, a, b) {
  if (a.byteLength !== b.byteLength || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (c.strict ? !Object.is(a[i], b[i]) : a[i] !== b[i] && !bothNaN(a[i], b[i])) return false;
  }
  return true;
}

// Objects that contain themselves are equal where their cycles are.
function cycle(c, a, b) {
  const at = c.left.indexOf(a);
  if (at >= 0) return c.right[at] === b;
  c.left.push(a);
  c.right.push(b);
  const result = sameItems(c, a, b) && sameProperties(c, a, b);
  c.left.pop();
  c.right.pop();
  return result;
}

function keysOf(value) {
  const keys = Object.keys(value);
  return ArrayBuffer.isView(value) ? keys.filter((key) => !/^\d+$/.test(key)) : keys;
}

function sameProperties(c, a, b) {
  const keysA = keysOf(a),
    keysB = keysOf(b);
  if (!c.partial && keysA.length !== keysB.length) return false;
  for (const key of keysB) {
    if (!Object.prototype.propertyIsEnumerable.call(a, key) || !equal(c, a[key], b[key])) return false;
  }
  if (!c.strict) return true;
  const symbols = (value) =>
    Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
  const symbolsB = symbols(b);
  if (!c.partial && symbols(a).length !== symbolsB.length) return false;
  return symbolsB.every((key) => Object.prototype.propertyIsEnumerable.call(a, key) && equal(c, a[key], b[key]));
}

function sameItems(c, a, b) {
  if (types.isSet(a)) return sameSets(c, a, b);
  if (types.isMap(a)) return sameMaps(c, a, b);
  return true;
}

function sameSets(c, a, b) {
  const left = [...a].filter((value) => !b.has(value));
  for (const value of b) {
    if (a.has(value)) continue;
    const at = left.findIndex((other) => equal(c, other, value));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  return true;
}

function sameMaps(c, a, b) {
  const left = [...a].filter(([key]) => !b.has(key));
  for (const [key, value] of b) {
    if (a.has(key)) {
      if (!equal(c, a.get(key), value)) return false;
      continue;
    }
    const at = left.findIndex(([otherKey, other]) => equal(c, otherKey, key) && equal(c, other, value));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  return true;
}

export default deepEqual;
