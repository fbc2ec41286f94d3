// The arguments of a console method as JSON, for programs that read the log:
// bounded, and without running the author's code.
import { inspect } from "./inspect.js";
import * as types from "../../webidl/js/kinds.js";

const { stringify } = JSON;
const MAX_DEPTH = 4;
const MAX_ITEMS = 100;
const MAX_VALUES = 1000;
const MAX_STRING = 10_000;
const MAX_JSON = 16 << 10;

/** The JSON of a list of values; "" when that would be too long. */
export function plainArguments(args) {
  const state = { left: MAX_VALUES, seen: [] };
  try {
    const json = stringify(args.map((value) => plain(value, state)));
    return json.length > MAX_JSON ? "" : json;
  } catch {
    return "";
  }
}

function plain(value, state) {
  switch (typeof value) {
    case "string":
      return value.length > MAX_STRING
        ? `${value.slice(0, MAX_STRING)}… ${value.length - MAX_STRING} more characters`
        : value;
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : inspect(value);
    case "object":
      return value === null ? null : object(value, state);
    default:
      return inspect(value);
  }
}

function object(value, state) {
  if (state.seen.includes(value)) return "[Circular]";
  if (state.seen.length > MAX_DEPTH || --state.left < 0) return Array.isArray(value) ? "[Array]" : "[Object]";
  state.seen.push(value);
  try {
    return shape(value, state);
  } catch {
    return "[object that cannot be shown]";
  } finally {
    state.seen.pop();
  }
}

function shape(value, state) {
  if (types.isOrdinary(value)) return properties(value, {}, state);
  if (types.isNativeError(value)) return error(value, state);
  if (Array.isArray(value) || types.isTypedArray(value)) return list(value, value.length, state);
  if (types.isDate(value))
    return Number.isNaN(Date.prototype.getTime.call(value)) ? "Invalid Date" : Date.prototype.toISOString.call(value);
  if (types.isMap(value)) return list([...Map.prototype.entries.call(value)], value.size, state);
  if (types.isSet(value)) return list([...Set.prototype.values.call(value)], value.size, state);
  if (value instanceof URL) return value.href;
  if (value instanceof Headers || value instanceof URLSearchParams || value instanceof FormData)
    return list([...value], Infinity, state);
  if (
    types.isRegExp(value) ||
    types.isBoxedPrimitive(value) ||
    types.isPromise(value) ||
    types.isAnyArrayBuffer(value) ||
    typeof value[Symbol.toStringTag] === "string"
  ) {
    return inspect(value, { depth: 1, customInspect: false });
  }
  return properties(value, {}, state);
}

function list(items, length, state) {
  const out = [];
  for (let i = 0; i < items.length && i < MAX_ITEMS; i++) out.push(plain(items[i], state));
  if (items.length > MAX_ITEMS) out.push(`… ${length - MAX_ITEMS} more items`);
  return out;
}

function error(value, state) {
  const out = { name: text(value, "name"), message: text(value, "message") };
  for (const key of ["cause", "errors"]) {
    const own = Object.getOwnPropertyDescriptor(value, key);
    if (own?.value !== undefined) out[key] = plain(own.value, state);
  }
  return properties(value, out, state);
}

function text(value, key) {
  const found = value[key];
  return typeof found === "string" ? found : "";
}

function properties(value, out, state) {
  let count = 0;
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(out, key) || key === "stack") continue;
    if (++count > MAX_ITEMS || state.left-- < 0) break;
    const own = Object.getOwnPropertyDescriptor(value, key);
    const shown =
      own === undefined
        ? undefined
        : own.get !== undefined || own.set !== undefined
          ? "[Getter]"
          : plain(own.value, state);
    Object.defineProperty(out, key, { value: shown, enumerable: true, configurable: true, writable: true });
  }
  return out;
}
