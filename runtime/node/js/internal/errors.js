// Errors with the codes of Node.js, https://nodejs.org/api/errors.html, and the
// checks of arguments that throw them.

/** NodeError(Class, code, message) is an error of Class with a code. */
export function NodeError(Class, code, message) {
  const error = new Class(message);
  Object.defineProperty(error, "code", { value: code, writable: true, enumerable: true, configurable: true });
  const stack = error.stack;
  if (typeof stack === "string" && stack.startsWith(error.name)) {
    Object.defineProperty(error, "stack", {
      value: stack.replace(error.name, `${error.name} [${code}]`),
      writable: true,
      configurable: true,
    });
  }
  Object.defineProperty(error, "toString", {
    value() {
      return `${this.name} [${code}]: ${this.message}`;
    },
    writable: true,
    configurable: true,
  });
  return error;
}

/** The type of a value, in the words of Node.js's messages. */
export function received(value) {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === "function") return ` Received function ${value.name}`;
  if (typeof value === "object") {
    const name = value.constructor?.name;
    return name ? ` Received an instance of ${name}` : " Received an object";
  }
  let text = typeof value === "string" ? `'${value}'` : `${String(value)}${typeof value === "bigint" ? "n" : ""}`;
  if (text.length > 28) text = `${text.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${text})`;
}

function list(words) {
  if (words.length < 2) return words.join("");
  if (words.length === 2) return words.join(" or ");
  return `${words.slice(0, -1).join(", ")}, or ${words.at(-1)}`;
}

/** "of type string", "an instance of Buffer", "one of type …", as Node.js sorts them. */
function kinds(expected) {
  const types = [],
    classes = [],
    others = [];
  for (const e of [expected].flat()) {
    if (/^(string|function|number|object|boolean|bigint|symbol|Function|Object)$/.test(e)) types.push(e.toLowerCase());
    else if (/^[A-Z][A-Za-z0-9]*$/.test(e)) classes.push(e);
    else others.push(e);
  }
  const parts = [];
  if (types.length) parts.push(`${types.length > 1 ? "one of type" : "of type"} ${list(types)}`);
  if (classes.length) parts.push(`an instance of ${list(classes)}`);
  if (others.length) parts.push(others.length > 1 ? `one of ${list(others)}` : others[0]);
  return parts.join(" or ");
}

export function invalidType(name, expected, value) {
  const what = name.endsWith(" argument")
    ? `The ${name}`
    : `The "${name}" ${name.includes(".") ? "property" : "argument"}`;
  return NodeError(TypeError, "ERR_INVALID_ARG_TYPE", `${what} must be ${kinds(expected)}.${received(value)}`);
}

export function invalidValue(name, value, reason = "is invalid") {
  let text = typeof value === "string" ? `'${value}'` : String(value);
  if (text.length > 128) text = `${text.slice(0, 128)}...`;
  const kind = name.includes(".") ? "property" : "argument";
  return NodeError(TypeError, "ERR_INVALID_ARG_VALUE", `The ${kind} '${name}' ${reason}. Received ${text}`);
}

// 1234567 as 1_234_567, as the messages of Node.js write large numbers.
function grouped(value) {
  if (typeof value === "bigint" || (Number.isInteger(value) && Math.abs(value) > 2 ** 32)) {
    const text = `${value}`.replace(/\B(?=(\d{3})+$)/g, "_");
    return typeof value === "bigint" ? `${text}n` : text;
  }
  return typeof value === "string" ? `'${value}'` : String(value);
}

export function outOfRange(name, range, value) {
  return NodeError(
    RangeError,
    "ERR_OUT_OF_RANGE",
    `The value of "${name}" is out of range. It must be ${range}. Received ${grouped(value)}`,
  );
}

export function needString(value, name) {
  if (typeof value !== "string") throw invalidType(name, "string", value);
}

export function needFunction(value, name) {
  if (typeof value !== "function") throw invalidType(name, "function", value);
}

export function needObject(value, name) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw invalidType(name, "object", value);
}

export function needBoolean(value, name) {
  if (typeof value !== "boolean") throw invalidType(name, "boolean", value);
}

/** A number, an integer, between two limits. */
export function needInteger(value, name, min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) {
  if (typeof value !== "number") throw invalidType(name, "number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
}

export function needNumber(value, name, min, max) {
  if (typeof value !== "number") throw invalidType(name, "number", value);
  if ((min !== undefined && value < min) || (max !== undefined && value > max) || Number.isNaN(value)) {
    const range = [min !== undefined ? `>= ${min}` : "", max !== undefined ? `<= ${max}` : ""]
      .filter(Boolean)
      .join(" && ");
    throw outOfRange(name, range || "a number", value);
  }
}

export function needSignal(signal, name = "options.signal") {
  if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal)))
    throw invalidType(name, "AbortSignal", signal);
}

/** The error of work that a signal ended. */
export class AbortError extends Error {
  constructor(message = "The operation was aborted", options) {
    super(message, options);
    this.code = "ABORT_ERR";
    this.name = "AbortError";
  }
}
