// Conversion of the arguments of a binding's method: coercions and refusals, with the platform's messages.

/** Refuses a call with missing arguments; types are those of all arguments. */
export function required(args, method, of, ...types) {
  if (args.length < types.length) throw mistaken(method, of, args.length + 1, types[args.length]);
}

/** The error of an argument of another type. */
export function mistaken(method, of, position, type) {
  return new TypeError(`Failed to execute '${method}' on '${of}': parameter ${position} is not of type '${type}'.`);
}

function mistyped(name, what, type) {
  return new TypeError(
    `Incorrect type for the '${name}' field on '${what}': the provided value is not of type '${type}'.`,
  );
}

/** A string of any value but a Symbol. */
export function text(value) {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
  return `${value}`.toWellFormed();
}

/** A number of any value but a Symbol or a BigInt. */
export function number(value) {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a number");
  if (typeof value === "bigint") throw new TypeError("Cannot convert a BigInt value to a number");
  return Number(value);
}

/** A whole number of 32 bits: fractions are cut; NaN and infinities become 0. */
export function int32(value) {
  const given = number(value),
    n = Number.isFinite(given) ? Math.trunc(given) : 0;
  if (n !== (n | 0)) throw new TypeError("Value out of range. Must be between -2147483648 and 2147483647 (inclusive).");
  return n + 0; // not -0
}

/** A field that must be a string already. */
export function string(value, name, what) {
  if (typeof value !== "string") throw mistyped(name, what, "string");
  return value.toWellFormed();
}

const LAST = Date.UTC(2189, 9, 24),
  FIRST = Date.UTC(1687, 2, 11);

/** A field that is a Date, or its milliseconds; milliseconds since 1970. */
export function date(value, name, what) {
  if (!(value instanceof Date) && typeof value !== "number") throw mistyped(name, what, "date");
  const ms = Number(value);
  if (!Number.isFinite(ms)) throw new TypeError("The value cannot be converted because it is not a valid Date.");
  if (ms > LAST) throw new TypeError("This API doesn't support dates after 2189.");
  if (ms < FIRST) throw new TypeError("This API doesn't support dates before 1687.");
  return Math.trunc(ms);
}

/** A field that is an object of strings. */
export function record(value, name, what) {
  if (!isObject(value) || Array.isArray(value)) throw mistyped(name, what, "object");
  return Object.fromEntries(Object.keys(value).map((key) => [key.toWellFormed(), text(value[key])]));
}

/** A field that is an array of strings. */
export function strings(value, name, what) {
  if (!Array.isArray(value)) throw mistyped(name, what, "Array");
  return value.map((item, at) => {
    if (typeof item !== "string")
      throw new TypeError(`Incorrect type for array element ${at}: the provided value is not of type 'string'.`);
    return item;
  });
}

/** A field that is a Headers, or else a dictionary of that name and those fields. */
export function headersOr(kind, fields) {
  return (value, name, what) => {
    if (value instanceof Headers) return value;
    if (value !== null && !isObject(value)) throw mistyped(name, what, `${kind} or Headers`);
    return struct(value, kind, fields);
  };
}

/** A field converted by accept; if accept returns undefined, the field is refused. */
export function oneOf(type, accept) {
  return (value, name, what) => {
    const found = accept(value);
    if (found === undefined) throw mistyped(name, what, type);
    return found;
  };
}

/** Those of a dictionary's fields that are not undefined, converted. */
export function struct(value, what, fields) {
  const found = {};
  if (value === undefined || value === null) return found;
  for (const name of Object.keys(fields)) {
    const field = value[name];
    if (field !== undefined) found[name] = fields[name](field, name, what);
  }
  return found;
}

/**
 * The fields of an argument that is a dictionary.
 * @returns {any}
 */
export function options(value, method, of, position, what, fields) {
  if (value !== undefined && value !== null && !isObject(value)) throw mistaken(method, of, position, what);
  return struct(value, what, fields);
}

export function isObject(value) {
  return typeof value === "function" || (typeof value === "object" && value !== null);
}
