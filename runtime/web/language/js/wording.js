// The engine's messages in the words of V8, which authors know, search for and match, as far as the engine knows the details. The host
// reads the called or iterated expression from the code (wording.go).
import { circular } from "./circle.js";
import { host } from "../../webidl/js/host.js";

const { apply } = Reflect;
const { charCodeAt, endsWith, startsWith, slice, indexOf, split } = String.prototype;
const { exec } = RegExp.prototype;

const outside = "Offset is outside the bounds of the DataView";

const native = (frame) => (frame !== undefined && frame.isNative() ? frame.getFunctionName() : undefined);

// The engine's messages with V8's: a text, or a function that makes one of the innermost frame.
const known = new Map(
  Object.entries({
    "not a function": (frame) => notCallable(frame),
    "not a constructor": (frame) =>
      native(frame) === undefined ? notCallable(frame) : `${native(frame)} is not a constructor`,
    "value is not iterable": (frame) => notIterable(frame, "value is not iterable"),
    "cannot read property 'Symbol.iterator' of undefined": (frame) =>
      notIterable(frame, "undefined is not iterable (cannot read property Symbol(Symbol.iterator))"),
    "cannot read property 'Symbol.asyncIterator' of undefined": (frame) =>
      notIterable(frame, "undefined is not async iterable", "async iterable"),
    "cannot read property 'Symbol.asyncIterator' of null": (frame) =>
      notIterable(frame, "null is not async iterable", "async iterable"),
    "cannot read property 'Symbol.iterator' of null": (frame) =>
      notIterable(frame, "null is not iterable (cannot read property Symbol(Symbol.iterator))"),
    "Cannot convert undefined or null to object": (frame) =>
      native(frame) === undefined ? notDestructured(frame) : undefined,
    "not an object": (frame) => (native(frame) === undefined ? notAssigned(frame) : objectExpected[native(frame)]),
    "not a object": "CreateListFromArrayLike called on non-object",
    "object is not extensible": (frame) =>
      extended[native(frame)] ?? `Cannot add property${assigned(frame)}, object is not extensible`,
    "no setter for property": (frame) =>
      `Cannot set property${assigned(frame) && `${assigned(frame)} of an object`} which has only a getter`,
    "could not delete property": "Cannot delete property",
    "property is not configurable": "Cannot redefine property",
    "circular prototype chain": "Cyclic __proto__ value",
    "class constructors must be invoked with 'new'": (frame) =>
      `Class constructor ${named(frame)}cannot be invoked without 'new'`,
    "derived class constructor must return an object or undefined":
      "Derived constructors may only return object or undefined",
    "parent prototype must be an object or null": "Class extends value does not have valid prototype property",
    "object prototype may only be an Object or null": "Object prototype may only be an Object or null",
    "promise self resolution": "Chaining cycle detected for promise #<Promise>",
    "invalid property access":
      "'caller', 'callee', and 'arguments' properties may not be accessed on strict mode functions " +
      "or the arguments objects for calls to them",
    "must be called with new": (frame) => newExpected(native(frame)),
    "parent class must be constructor": "Class extends value is not a constructor or null",
    "this is not initialized":
      "Must call super constructor in derived class before accessing 'this' or returning from derived constructor",
    "'this' can be initialized only once": "Super constructor may only be called once",
    "invalid 'instanceof' right operand": "Right-hand side of 'instanceof' is not callable",
    "operand 'prototype' property is not an object": "Function has non-object prototype in instanceof check",
    "invalid 'in' operand": "Cannot use 'in' operator to search in a value that is not an object",
    "circular reference": (frame) => (native(frame) === "stringify" ? circular() : undefined),
    "BigInt are forbidden in JSON.stringify": "Do not know how to serialize a BigInt",
    "cannot convert BigInt to number": (frame) =>
      native(frame) === undefined
        ? "Cannot mix BigInt and other types, use explicit conversions"
        : "Cannot convert a BigInt value to a number",
    "bigint argument with unary +": "Cannot convert a BigInt value to a number",
    "BigInt division by zero": "Division by zero",
    "BigInt negative exponent": "Exponent must be positive",
    "BigInt operands are forbidden for >>>": "BigInts have no unsigned right shift, use >> instead",
    "cannot convert to BigInt": "Cannot convert the value to a BigInt",
    "cannot convert to bigint": "Cannot convert the value to a BigInt",
    "cannot convert NaN or Infinity to BigInt":
      "The number cannot be converted to a BigInt because it is not an integer",
    "invalid BigInt literal": "Cannot convert the text to a BigInt",
    "cannot convert to BigInt: not an integer":
      "The number cannot be converted to a BigInt because it is not an integer",
    "cannot convert symbol to string": "Cannot convert a Symbol value to a string",
    "cannot convert symbol to number": "Cannot convert a Symbol value to a number",
    toPrimitive: "Cannot convert object to primitive value",
    "cannot invoke a running generator": "Generator is already running",
    "invalid brand on object": "Receiver must be an instance of the class",
    "proxy: cannot set property": "'set' on proxy: trap returned falsish",
    "proxy: defineProperty exception": "'defineProperty' on proxy: trap returned falsish",
    "ArrayBuffer is detached": (frame) => detached(frame),
    "ArrayBuffer is detached or resized": (frame) => detached(frame),
    "revoked proxy": "Cannot perform an operation on a proxy that has been revoked",
    "iterator must return an object": "Iterator result is not an object",
    "empty array": "Reduce of empty array with no initial value",
    "invalid array length": (frame) => (native(frame) === "set" ? "offset is out of bounds" : "Invalid array length"),
    "invalid array index": (frame) =>
      indices[native(frame)] ?? (ofView(native(frame)) ? outside : "Invalid typed array length"),
    "invalid array buffer length": "Array buffer allocation failed",
    "invalid repeat count": "Invalid count value",
    "invalid string length": "Invalid string length",
    "BigInt is too large": "Maximum BigInt size exceeded",
    "BigInt is too large to allocate": "Maximum BigInt size exceeded",
    "invalid number of digits": (frame) => digits(native(frame)),
    "bad normalization form": "The normalization form should be one of NFC, NFD, NFKC, NFKD.",
    "invalid code point": "Invalid code point",
    "Date value is NaN": "Invalid time value",
    "out of bound": outside,
    "invalid value used as WeakMap key": "Invalid value used as weak map key",
    "invalid value used as WeakSet key": "Invalid value used in weak set",
    "invalid target": (frame) =>
      native(frame) === "register"
        ? "FinalizationRegistry.prototype.register: invalid target"
        : "WeakRef: invalid target",
    "not a number": (frame) => receiverExpected(frame, "Number"),
    "not a string": (frame) => receiverExpected(frame, "String"),
    "not a boolean": (frame) => receiverExpected(frame, "Boolean"),
    "not a symbol": (frame) => receiverExpected(frame, "Symbol"),
    "not a BigInt": (frame) => receiverExpected(frame, "BigInt"),
    "expecting hex digit": "URI malformed",
    "expecting surrogate pair": "URI malformed",
    "malformed UTF-8": "URI malformed",
    "not a Date object": "this is not a Date object.",
    "not a TypedArray": "this is not a typed array.",
    "regexp must have the 'g' flag": (frame) =>
      `String.prototype.${native(frame)} called with a non-global RegExp argument`,
    "regexp not supported": (frame) =>
      `First argument to String.prototype.${native(frame)} must not be a regular expression`,
    "invalid regular expression flags": "Invalid flags supplied to RegExp constructor",
  }),
);

// Those that hold a name or a value.
const reading = /^cannot (read|set) property '(.*)' of (undefined|null)$/s;
const readOnly = /^'(.*)' is read-only$/s;
const isPrivate = /^private class field '(.*)' does not exist$/;
const unexpected = /^([A-Z]\w*) object expected$/;
const early = " is not initialized",
  receiver = " object expected";

function pattern(message, frame) {
  let match;
  switch (apply(charCodeAt, message, [0])) {
    case 0x63: // c
      if ((match = apply(exec, reading, [message])) === null) break;
      return match[1] === "read"
        ? `Cannot read properties of ${match[3]} (reading '${described(match[2])}')`
        : `Cannot set properties of ${match[3]} (setting '${described(match[2])}')`;
    case 0x27: // '
      if ((match = apply(exec, readOnly, [message])) === null) break;
      return `Cannot assign to read only property '${described(match[1])}' of object`;
    case 0x70: // p
      if ((match = apply(exec, isPrivate, [message])) === null) break;
      return `Cannot read private member ${match[1]} from an object whose class did not declare it`;
  }
  if (apply(endsWith, message, [early]))
    return `Cannot access '${apply(slice, message, [0, -early.length])}' before initialization`;
  if (
    !apply(endsWith, message, [receiver]) ||
    native(frame) === undefined ||
    (match = apply(exec, unexpected, [message])) === null
  )
    return undefined;
  return `Method ${match[1]}.prototype.${native(frame)} called on incompatible receiver`;
}

const ofReflect = [
  "apply construct defineProperty deleteProperty get getOwnPropertyDescriptor getPrototypeOf has isExtensible ownKeys",
  "preventExtensions set setPrototypeOf",
].flatMap((names) => names.split(" "));
const objectExpected = {
  __proto__: null,
  ...Object.fromEntries(ofReflect.map((name) => [name, `Reflect.${name} called on non-object`])),
  defineProperty: "Object.defineProperty called on non-object",
  Map: "Iterator value is not an entry object",
  WeakMap: "Iterator value is not an entry object",
  fromEntries: "Iterator value is not an entry object",
  Proxy: "Cannot create proxy with a non-object as target or handler",
  getPrototypeOf: "Cannot convert undefined or null to object",
  setPrototypeOf: "Object prototype may only be an Object or null",
  ...Object.fromEntries(
    ["all", "allSettled", "any", "race"].map((name) => [name, `Promise.${name} called on non-object`]),
  ),
};
const indices = {
  __proto__: null,
  ArrayBuffer: "Invalid array buffer length",
  asIntN: "Invalid value: not (convertible to) a safe integer",
  asUintN: "Invalid value: not (convertible to) a safe integer",
};
const extended = {
  __proto__: null,
  setPrototypeOf: "Object is not extensible",
  defineProperty: "Cannot define property, object is not extensible",
};
const callbacks = {
  __proto__: null,
  FinalizationRegistry: "FinalizationRegistry: cleanup must be callable",
  Promise: "Promise resolver is not a function",
  apply: "Function.prototype.apply was called on a value that is not a function",
  bind: "Bind must be called on a function",
  construct: "the target of Reflect.construct is not a constructor",
  sort: "The comparison function must be either a function or undefined",
  toSorted: "The comparison function must be either a function or undefined",
};
const reasons = {
  __proto__: null,
  "expecting ')'": "Unterminated group",
  "nothing to repeat": "Nothing to repeat",
  "invalid class range": "Range out of order in character class",
  "extraneous characters at the end": "Unmatched ')'",
  "invalid group": "Invalid group",
  "invalid group name": "Invalid capture group name",
  "duplicate group name": "Duplicate capture group name",
  "group name not defined": "Invalid named capture referenced",
  "unknown unicode property name": "Invalid property name",
  "invalid escape sequence in regular expression": "Invalid escape",
  "back reference out of range in regular expression": "Invalid escape",
  "invalid character in class in regular expression": "Invalid character in character class",
  "invalid class set operation in regular expression": "Invalid character in character class",
};

// The engine writes a symbol without "Symbol()" around it.
function described(name) {
  return apply(startsWith, name, ["Symbol."]) ? `Symbol(${name})` : name;
}

// The name of a frame's function, with a space after it; "" without a name.
function named(frame) {
  const name = frame?.getFunctionName();
  return name && name !== "<anonymous>" && name !== "<null>" ? `${name} ` : "";
}

function detached(frame) {
  const name = native(frame);
  return `Cannot perform ${name === undefined ? "an operation" : name} on a detached ArrayBuffer`;
}

// Whether a method is one that reads or writes a DataView.
function ofView(name) {
  return name !== undefined && name in DataView.prototype;
}

// The error of a method of a primitive's prototype for another this; other functions have the same for arguments.
function receiverExpected(frame, type) {
  const name = native(frame);
  return name !== undefined && Object.hasOwn(globalThis[type].prototype, name)
    ? `${type}.prototype.${name} requires that 'this' be a ${type}`
    : undefined;
}

function digits(name) {
  if (name === "toPrecision") return "toPrecision() argument must be between 1 and 100";
  return `${name}() ${name === "toFixed" ? "digits " : ""}argument must be between 0 and 100`;
}

function newExpected(name) {
  if (name === undefined) return undefined;
  return name === "Promise"
    ? "Promise constructor cannot be invoked without 'new'"
    : `Constructor ${name} requires 'new'`;
}

function notCallable(frame) {
  const name = native(frame);
  if (name !== undefined) return callbacks[name] ?? `the argument of ${name} is not a function`;
  if (frame === undefined) return undefined;
  const found = host.called_at(`${frame.getFileName()}`, frame.getLineNumber(), frame.getColumnNumber());
  const meant = found.filter((text) => !isBuiltIn(text));
  // A loop that awaits, or one whose iterator has no next, fails in the engine as a call.
  if (meant.length === 0) return notIterable(frame, undefined);
  if (meant.length > 2) return undefined; // the code says too much
  const [first, second] = meant,
    isNew = apply(startsWith, first, ["new "]);
  const texts = meant.map((text) => (apply(startsWith, text, ["new "]) ? apply(slice, text, [4]) : text));
  return `${texts.join(" or ")} is not a ${isNew && second === undefined ? "constructor" : "function"}`;
}

// Whether a text such as "Response.json" names a function of the global object.
function isBuiltIn(text) {
  if (apply(startsWith, text, ["new "])) text = apply(slice, text, [4]);
  let value = globalThis;
  for (const name of apply(split, text, ["."])) {
    const property =
      (typeof value === "object" && value !== null) || typeof value === "function"
        ? Object.getOwnPropertyDescriptor(value, name)
        : undefined;
    if (property === undefined || !("value" in property)) return false;
    value = property.value;
  }
  return typeof value === "function";
}

function notDestructured(frame) {
  if (frame === undefined) return undefined;
  const found = host.destructured_at(`${frame.getFileName()}`, frame.getLineNumber(), frame.getColumnNumber());
  if (found === null) return undefined; // delete of a member, say
  const { 0: property, 1: source } = found;
  const subject = property === "" ? "" : `property '${property}' of `;
  return `Cannot destructure ${subject}${source === "" ? "a value that is undefined or null" : `'${source}' as it is undefined or null.`}`;
}

// The target of an assignment in the code, with a space before it; "" if unknown.
function assigned(frame) {
  if (frame === undefined || native(frame) !== undefined) return "";
  const name = host.assigned_at(`${frame.getFileName()}`, frame.getLineNumber(), frame.getColumnNumber());
  return name === "" ? "" : ` ${name}`;
}

function notAssigned(frame) {
  const name = assigned(frame);
  return name === ""
    ? undefined
    : `Cannot create property '${apply(slice, name, [1])}' on a value that is not an object`;
}

function notIterable(frame, otherwise, kind = "iterable") {
  const name = native(frame);
  if (frame === undefined || name !== undefined) return otherwise;
  const text = host.iterated_at(`${frame.getFileName()}`, frame.getLineNumber(), frame.getColumnNumber());
  if (text === "") return otherwise;
  return apply(endsWith, text, ["(...)"])
    ? `${apply(slice, text, [0, apply(indexOf, text, ["(...)"])])} is not a function or its return value is not ${kind}`
    : `${text} is not ${kind}`;
}

// The text that JSON.parse reads.
let parsing;

/** Calls JSON.parse, whose errors describe this text. */
export function parsed(parse, json, reviver) {
  const outer = parsing;
  parsing = json;
  try {
    return parse(json, reviver);
  } finally {
    parsing = outer;
  }
}

// A message of the engine, or an author's message with the same text, in V8's words; undefined if
// those are unknown.
function worded(error, type, frame) {
  const { message } = error;
  if (typeof message !== "string") return undefined;
  if (type === SyntaxError.prototype) {
    const name = native(frame);
    if (parsing !== undefined && (name === "parse" || frame?.getFileName() === "<input>"))
      return host.json_problem(parsing) || undefined;
    if (name === "RegExp") return known.get(message) ?? `Invalid regular expression: ${reasons[message] ?? message}`;
  }
  const words = known.get(message) ?? pattern(message, frame);
  return typeof words === "function" ? words(frame) : words;
}

// Errors that have a class of their own in the engine, and are RangeErrors in V8.
const internal = InternalError.prototype,
  range = RangeError.prototype;
const ranges = {
  __proto__: null,
  "string too long": "Invalid string length",
  "out of memory in regexp execution":
    "Maximum call stack size exceeded: the regular expression keeps more places to go back to than memory holds; " +
    "match smaller parts of the text, or repeat lazily",
};

function asRange(error) {
  const words = ranges[error.message];
  if (words !== undefined) Object.setPrototypeOf(error, range);
  return words;
}

const engineMade = new Set(
  [TypeError, RangeError, ReferenceError, SyntaxError, URIError].map((type) => type.prototype),
);

/** Rewrites an error of the engine in V8's words; frames are its position, innermost first. */
export function reword(error, frames) {
  const type = Object.getPrototypeOf(error);
  const words = type === internal ? asRange(error) : engineMade.has(type) ? worded(error, type, frames[0]) : undefined;
  if (words !== undefined)
    Object.defineProperty(error, "message", { value: words, writable: true, enumerable: false, configurable: true });
}
