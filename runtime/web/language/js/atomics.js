// https://tc39.es/ecma262/#sec-atomics-object One agent runs in an isolate, and no other agent
// shares its memory: every operation is atomic. This file has the remaining steps: the checks of
// arrays and values, and the waiting functions.
import { expose } from "../../webidl/js/idl.js";

const TypedArray = Object.getPrototypeOf(Uint8Array);
const kindOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;
const lengthOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, "length").get;
const bufferOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, "buffer").get;
const offsetOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, "byteOffset").get;
const checkTyped = TypedArray.prototype.keys; // throws for any other value, or a detached array

const INTEGERS = new Set([
  "Int8Array",
  "Uint8Array",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "BigInt64Array",
  "BigUint64Array",
]);

// ValidateIntegerTypedArray; returns the kind.
function check(array, waitable) {
  checkTyped.call(array);
  const kind = kindOf.call(array);
  if (waitable ? kind !== "Int32Array" && kind !== "BigInt64Array" : !INTEGERS.has(kind)) {
    throw new TypeError(
      `[object ${kind}] is not ${waitable ? "an Int32Array or BigInt64Array" : "an integer typed array"}`,
    );
  }
  return kind;
}

// ToIndex, then ValidateAtomicAccess.
function place(array, index) {
  const n = integer(index);
  if (n < 0 || n >= lengthOf.call(array)) throw new RangeError("Invalid atomic access index");
  return n;
}

function integer(value) {
  return Math.trunc(Number(value)) + 0 || 0;
}

// The value as the array's elements are made of: a bigint, or an integer.
function element(kind, value) {
  return kind.startsWith("Big") ? BigInt.asIntN(64, toBigInt(value)) : integer(value);
}

function toBigInt(value) {
  const scratch = new BigInt64Array(1);
  scratch[0] = value; // ToBigInt, which BigInt() is not: it takes numbers
  return scratch[0];
}

function modify(array, index, value, change) {
  const kind = check(array, false),
    at = place(array, index),
    operand = element(kind, value);
  checkTyped.call(array); // the conversion may have detached or shrunk it
  if (at >= lengthOf.call(array)) throw new RangeError("Invalid atomic access index");
  const old = array[at];
  array[at] = narrow(kind, change(widen(old), widen(operand)));
  return old;
}

// Operations on 32-bit patterns are exact for bigints only: integers here go up
// to 2^53 and beyond.
function widen(value) {
  return typeof value === "bigint" ? value : BigInt(Number.isFinite(value) ? value : 0);
}

function narrow(kind, value) {
  return kind.startsWith("Big") ? value : Number(BigInt.asIntN(32, value));
}

const waiters = []; // in the order in which they came

const functions = {
  add(array, index, value) {
    return modify(array, index, value, (a, b) => a + b);
  },
  and(array, index, value) {
    return modify(array, index, value, (a, b) => a & b);
  },
  compareExchange(array, index, expected, replacement) {
    const kind = check(array, false),
      at = place(array, index);
    const want = element(kind, expected),
      put = element(kind, replacement);
    checkTyped.call(array);
    if (at >= lengthOf.call(array)) throw new RangeError("Invalid atomic access index");
    const old = array[at],
      probe = new globalThis[kind](1);
    probe[0] = want;
    if (old === probe[0]) array[at] = put;
    return old;
  },
  exchange(array, index, value) {
    return modify(array, index, value, (a, b) => b);
  },
  isLockFree(size) {
    const n = integer(size);
    return n === 1 || n === 2 || n === 4 || n === 8;
  },
  load(array, index) {
    check(array, false);
    const at = place(array, index);
    checkTyped.call(array);
    if (at >= lengthOf.call(array)) throw new RangeError("Invalid atomic access index");
    return array[at];
  },
  notify(array, index, count) {
    check(array, true);
    const at = place(array, index);
    const most = count === undefined ? Infinity : Math.max(integer(count), 0);
    if (!isShared(array)) return 0;
    return wake(bufferOf.call(array), byteAt(array, at), most);
  },
  or(array, index, value) {
    return modify(array, index, value, (a, b) => a | b);
  },
  pause(n) {
    if (n !== undefined && (typeof n !== "number" || !Number.isInteger(n)))
      throw new TypeError("Atomics.pause: the argument is not an integer");
  },
  store(array, index, value) {
    const kind = check(array, false),
      at = place(array, index);
    const put = kind.startsWith("Big") ? toAnyBigInt(value) : integer(value);
    checkTyped.call(array);
    if (at >= lengthOf.call(array)) throw new RangeError("Invalid atomic access index");
    array[at] = typeof put === "number" ? narrow(kind, widen(put)) : put;
    return put;
  },
  sub(array, index, value) {
    return modify(array, index, value, (a, b) => a - b);
  },
  wait(array, index, value, timeout) {
    request(array, index, value, timeout);
    throw new TypeError("Atomics.wait cannot be called in this context");
  },
  waitAsync(array, index, value, timeout) {
    const { at, want, ms } = request(array, index, value, timeout);
    if (array[at] !== want) return { async: false, value: "not-equal" };
    if (ms === 0) return { async: false, value: "timed-out" };
    return { async: true, value: sleep(bufferOf.call(array), byteAt(array, at), ms) };
  },
  xor(array, index, value) {
    return modify(array, index, value, (a, b) => a ^ b);
  },
};

// ToBigInt of any size: store returns it unchanged.
function toAnyBigInt(value) {
  const primitive =
    typeof value === "object" && value !== null ? Object.assign(Object.create(null), { v: value }).v : value;
  if (typeof primitive === "bigint") return primitive;
  toBigInt(primitive);
  return BigInt(primitive);
}

function isShared(array) {
  return bufferOf.call(array) instanceof SharedArrayBuffer;
}
function byteAt(array, at) {
  return offsetOf.call(array) + at * array.BYTES_PER_ELEMENT;
}

// The arguments of a wait (DoWait), in its order.
function request(array, index, value, timeout) {
  const kind = check(array, true);
  if (!isShared(array)) throw new TypeError("Atomics.wait: the array is not on a SharedArrayBuffer");
  const at = place(array, index),
    want = kind === "Int32Array" ? Number(value) | 0 : toBigInt(value);
  const q = Number(timeout);
  return { at, want, ms: Number.isNaN(q) ? Infinity : Math.max(q, 0) };
}

function sleep(buffer, byte, ms) {
  const { promise, resolve } = Promise.withResolvers();
  const waiter = { buffer, byte, resolve, timer: undefined };
  waiters.push(waiter);
  if (ms !== Infinity) {
    waiter.timer = setTimeout(() => {
      waiters.splice(waiters.indexOf(waiter), 1);
      resolve("timed-out");
    }, ms);
  }
  return promise;
}

function wake(buffer, byte, most) {
  let woken = 0;
  for (let i = 0; i < waiters.length && woken < most; ) {
    const waiter = waiters[i];
    if (waiter.buffer !== buffer || waiter.byte !== byte) {
      i++;
      continue;
    }
    waiters.splice(i, 1);
    clearTimeout(waiter.timer);
    waiter.resolve("ok");
    woken++;
  }
  return woken;
}

export function install() {
  const Atomics = {};
  for (const name of Object.keys(functions)) {
    Object.defineProperty(Atomics, name, { value: functions[name], writable: true, configurable: true });
  }
  Object.defineProperty(functions.pause, "length", { value: 0 });
  Object.defineProperty(Atomics, Symbol.toStringTag, { value: "Atomics", configurable: true });
  expose("Atomics", Atomics);
}
