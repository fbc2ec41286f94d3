// https://nodejs.org/api/util.html#utiltypes
import { internals, load } from "node:internal/host";

export const {
  isArrayBuffer, isSharedArrayBuffer, isAnyArrayBuffer, isDataView, isDate, isMap, isSet, isWeakMap, isWeakSet, isRegExp, isNumberObject,
  isStringObject, isBooleanObject, isBigIntObject, isSymbolObject, isBoxedPrimitive, isPromise, isNativeError, isMapIterator, isSetIterator,
  isGeneratorObject, isArgumentsObject, isModuleNamespaceObject, isAsyncFunction, isGeneratorFunction, isArrayBufferView, isTypedArray, isUint8Array,
  isUint8ClampedArray, isUint16Array, isUint32Array, isInt8Array, isInt16Array, isInt32Array, isFloat16Array, isFloat32Array, isFloat64Array,
  isBigInt64Array, isBigUint64Array, isProxy,
} = internals.kinds;
export const isExternal = () => false;
export const isCryptoKey = (value) => value instanceof CryptoKey;
export const isKeyObject = (value) => value !== null && typeof value === "object" && value instanceof load("node:crypto").KeyObject;
export const isEventTarget = (value) => value instanceof EventTarget;

export default {
  isExternal, isDate, isArgumentsObject, isBigIntObject, isBooleanObject, isNumberObject, isStringObject, isSymbolObject, isBoxedPrimitive, isNativeError,
  isRegExp, isAsyncFunction, isGeneratorFunction, isGeneratorObject, isPromise, isMap, isSet, isMapIterator, isSetIterator, isWeakMap, isWeakSet,
  isArrayBuffer, isDataView, isSharedArrayBuffer, isProxy, isModuleNamespaceObject, isAnyArrayBuffer, isArrayBufferView, isTypedArray, isUint8Array,
  isUint8ClampedArray, isUint16Array, isUint32Array, isInt8Array, isInt16Array, isInt32Array, isFloat16Array, isFloat32Array, isFloat64Array,
  isBigInt64Array, isBigUint64Array, isKeyObject, isCryptoKey, isEventTarget,
};
