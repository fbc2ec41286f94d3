// The kind of built-in object of a value, independent of its prototype and properties. A brand is
// tested with a method that works only on objects of its class.

import { host } from "./host.js";

function branded(read) {
  return (value) => {
    if (value === null || typeof value !== "object") return false;
    try {
      read(value);
      return true;
    } catch {
      return false;
    }
  };
}

const getter = (proto, key) => {
  const { get } = Object.getOwnPropertyDescriptor(proto, key);
  return (value) => get.call(value);
};
const typedName = getter(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const tagOf = (value) => Object.prototype.toString.call(value);
const typed = (name) => (value) => ArrayBuffer.isView(value) && typedName(value) === name;
const source = (value) => Function.prototype.toString.call(value);
const kindOf = (f) => Object.getPrototypeOf(f);
const generator = kindOf(function* () {}),
  asyncGenerator = kindOf(async function* () {}),
  // biome-ignore lint/complexity/useArrowFunction: one of each kind of function
  asyncFunction = kindOf(async function () {});
const hidden = Symbol();

/**
 * Reports whether a value is an object of no built-in kind, made by a literal or
 * a class of the author's: cheap, where each brand that is missing costs an
 * exception. One whose prototype was changed to look like it may be another.
 */
export function isOrdinary(value) {
  const proto = Object.getPrototypeOf(value);
  return (
    typeof value === "object" &&
    proto !== null &&
    !(Symbol.toStringTag in value) &&
    tagOf(value) === "[object Object]" &&
    !Array.isArray(value)
  );
}

export const isArrayBuffer = branded(getter(ArrayBuffer.prototype, "byteLength"));
export const isSharedArrayBuffer =
  typeof SharedArrayBuffer === "function" ? branded(getter(SharedArrayBuffer.prototype, "byteLength")) : () => false;
export const isAnyArrayBuffer = (value) => isArrayBuffer(value) || isSharedArrayBuffer(value);
export const isDataView = branded(getter(DataView.prototype, "byteLength"));
export const isDate = branded((value) => Date.prototype.getTime.call(value));
export const isMap = branded(getter(Map.prototype, "size"));
export const isSet = branded(getter(Set.prototype, "size"));
export const isWeakMap = branded((value) => WeakMap.prototype.has.call(value, hidden));
export const isWeakSet = branded((value) => WeakSet.prototype.has.call(value, hidden));
export const isRegExp = branded(getter(RegExp.prototype, "hasIndices")); // throws for anything but a RegExp or the prototype
export const isNumberObject = branded((value) => Number.prototype.valueOf.call(value));
export const isStringObject = branded((value) => String.prototype.valueOf.call(value));
export const isBooleanObject = branded((value) => Boolean.prototype.valueOf.call(value));
export const isBigIntObject = branded((value) => BigInt.prototype.valueOf.call(value));
export const isSymbolObject = branded((value) => Symbol.prototype.valueOf.call(value));
export const isBoxedPrimitive = (value) =>
  isNumberObject(value) ||
  isStringObject(value) ||
  isBooleanObject(value) ||
  isBigIntObject(value) ||
  isSymbolObject(value);
export const isPromise = (value) => value instanceof Promise && tagOf(value) === "[object Promise]";
export const isNativeError = Error.isError;
export const isMapIterator = (value) => tagOf(value) === "[object Map Iterator]" && typeof value.next === "function";
export const isSetIterator = (value) => tagOf(value) === "[object Set Iterator]" && typeof value.next === "function";
export const isGeneratorObject = (value) => /^\[object (Async)?Generator\]$/.test(tagOf(value));
export const isArgumentsObject = (value) =>
  value !== null &&
  typeof value === "object" &&
  !(Symbol.toStringTag in value) &&
  tagOf(value) === "[object Arguments]";
export const isModuleNamespaceObject = (value) =>
  value !== null &&
  typeof value === "object" &&
  Object.getPrototypeOf(value) === null &&
  value[Symbol.toStringTag] === "Module" &&
  !Object.isExtensible(value);
export const isAsyncFunction = (value) =>
  typeof value === "function" &&
  (kindOf(value) === asyncFunction || kindOf(value) === asyncGenerator || /^async\b/.test(source(value)));
export const isGeneratorFunction = (value) =>
  typeof value === "function" &&
  (kindOf(value) === generator || kindOf(value) === asyncGenerator || /^(async\s+)?function\s*\*/.test(source(value)));
export const isProxy = (value) => host.is_proxy(value);
export const isArrayBufferView = ArrayBuffer.isView;
export const isTypedArray = (value) => ArrayBuffer.isView(value) && typedName(value) !== undefined;
export const isUint8Array = typed("Uint8Array");
export const isUint8ClampedArray = typed("Uint8ClampedArray");
export const isUint16Array = typed("Uint16Array");
export const isUint32Array = typed("Uint32Array");
export const isInt8Array = typed("Int8Array");
export const isInt16Array = typed("Int16Array");
export const isInt32Array = typed("Int32Array");
export const isFloat16Array = typed("Float16Array");
export const isFloat32Array = typed("Float32Array");
export const isFloat64Array = typed("Float64Array");
export const isBigInt64Array = typed("BigInt64Array");
export const isBigUint64Array = typed("BigUint64Array");
