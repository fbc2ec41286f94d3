// Locales and options by ECMA-402. A specification is the JSON text into which Go resolves them, and the only state of a formatter.
import { host } from "../../web/webidl/js/host.js";
import { platform } from "../../web/webidl/js/idl.js";

/** Locales as an array of canonical tags (ECMA-402, 9.2.1). */
export function tagsOf(locales) {
  if (locales === undefined) return [];
  if (typeof locales === "string" || isLocale(locales)) return [tagOf(locales)];
  if (locales === null) throw new TypeError("Incorrect locale information provided: null");
  const list = Object(locales),
    length = toLength(list.length),
    tags = [];
  for (let i = 0; i < length; i++) {
    if (!(i in list)) continue;
    const tag = tagOf(list[i]);
    if (!tags.includes(tag)) tags.push(tag);
  }
  return tags;
}

function toLength(value) {
  const n = Math.trunc(Number(value));
  return n > 0 ? Math.min(n, Number.MAX_SAFE_INTEGER) : 0;
}

let isLocale = (_value) => false,
  tagOfLocale = String;

/** Tells this file of Intl.Locale, which is read without its methods. */
export function knowLocale(is, tag) {
  isLocale = is;
  tagOfLocale = tag;
}

function tagOf(value) {
  if (typeof value !== "string" && (typeof value !== "object" || value === null)) {
    throw new TypeError("Incorrect locale information provided: a locale is a string or an Intl.Locale");
  }
  return isLocale(value) ? tagOfLocale(value) : host.intl_canonical(`${value}`);
}

/** The options of a constructor that takes undefined or an object (GetOptionsObject). */
export function optionsObject(options) {
  if (options === undefined) return Object.create(null);
  if ((typeof options !== "object" && typeof options !== "function") || options === null)
    throw new TypeError("Incorrect options: not an object");
  return options;
}

/** The same for constructors older than that (CoerceOptionsToObject). */
export function coerced(options) {
  if (options === undefined) return Object.create(null);
  if (options === null) throw new TypeError("Cannot convert undefined or null to object");
  return Object(options);
}

/** A string option, one of values if there are any (GetOption). */
export function text(options, name, values, fallback) {
  const value = options[name];
  if (value === undefined) return fallback;
  const string = `${value}`;
  if (values !== undefined && !values.includes(string))
    throw new RangeError(`Value ${string} out of range for Intl options property ${name}`);
  return string;
}

/** A boolean option; undefined if it is not given. */
export function truth(options, name) {
  const value = options[name];
  return value === undefined ? undefined : !!value;
}

/** A whole number from low to high (GetNumberOption). */
export function number(options, name, low, high, fallback) {
  return inRange(options[name], name, low, high, fallback);
}

function inRange(value, name, low, high, fallback) {
  if (value === undefined) return fallback;
  const n = +value;
  if (!(n >= low && n <= high)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(n);
}

/** An option that is a type of a -u- extension: words of 3 to 8 letters and digits. */
export function type(options, name) {
  const value = text(options, name);
  if (value !== undefined && !/^[0-9A-Za-z]{3,8}(-[0-9A-Za-z]{3,8})*$/.test(value))
    throw new RangeError(`Invalid ${name} : ${value}`);
  return value;
}

const MATCHERS = ["lookup", "best fit"];

export function matcher(options) {
  text(options, "localeMatcher", MATCHERS, "best fit");
}

const MODES = ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"];
const INCREMENTS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];

/** The options of SetNumberFormatDigitOptions, in its order. */
export function digits(options, into) {
  into.minimumIntegerDigits = number(options, "minimumIntegerDigits", 1, 21, 1);
  const least = options.minimumFractionDigits,
    most = options.maximumFractionDigits;
  const fewest = options.minimumSignificantDigits,
    greatest = options.maximumSignificantDigits;
  into.roundingIncrement = number(options, "roundingIncrement", 1, 5000, 1);
  if (!INCREMENTS.includes(into.roundingIncrement)) throw new RangeError("roundingIncrement value is out of range.");
  into.roundingMode = text(options, "roundingMode", MODES, "halfExpand");
  into.roundingPriority = text(options, "roundingPriority", ["auto", "morePrecision", "lessPrecision"], "auto");
  into.trailingZeroDisplay = text(options, "trailingZeroDisplay", ["auto", "stripIfInteger"], "auto");
  const plain = into.roundingPriority === "auto";
  if (fewest !== undefined || greatest !== undefined) {
    into.minimumSignificantDigits = inRange(fewest, "minimumSignificantDigits", 1, 21);
    into.maximumSignificantDigits = inRange(
      greatest,
      "maximumSignificantDigits",
      into.minimumSignificantDigits ?? 1,
      21,
    );
    if (plain) return;
  }
  into.minimumFractionDigits = inRange(least, "minimumFractionDigits", 0, 100);
  into.maximumFractionDigits = inRange(most, "maximumFractionDigits", 0, 100);
}

/** Go's [kind, text, …] as the parts that formatToParts returns. */
export function parts(flat, also) {
  const out = [];
  for (let i = 0; i < flat.length; i += 2) out.push({ type: flat[i], value: flat[i + 1], ...also?.(flat[i]) });
  return out;
}

/** Go's [kind, text, source, …] as the parts that formatRangeToParts returns. */
export function rangeParts(flat) {
  const out = [];
  for (let i = 0; i < flat.length; i += 3) out.push({ type: flat[i], value: flat[i + 1], source: flat[i + 2] });
  return out;
}

/** The text of such a list, each item of so many strings. */
export function joined(flat, size) {
  let out = "";
  for (let i = 1; i < flat.length; i += size) out += flat[i];
  return out;
}

/** A number for Go: exact, also when it is a bigint or the text of a number. */
export function numeric(value) {
  if (typeof value === "number") return value;
  const primitive =
    (typeof value === "object" && value !== null) || typeof value === "function" ? primitiveOf(value) : value;
  if (typeof primitive === "bigint") return `${primitive}`;
  return typeof primitive === "string" ? primitive : Number(primitive);
}

// ToPrimitive with the hint "number".
function primitiveOf(value) {
  const exotic = value[Symbol.toPrimitive];
  if (exotic !== undefined && exotic !== null) {
    const result = exotic.call(value, "number");
    if ((typeof result !== "object" && typeof result !== "function") || result === null) return result;
    throw new TypeError("Cannot convert object to primitive value");
  }
  for (const name of ["valueOf", "toString"]) {
    const method = value[name];
    const result = typeof method === "function" ? method.call(value) : value;
    if ((typeof result !== "object" && typeof result !== "function") || result === null) return result;
  }
  throw new TypeError("Cannot convert object to primitive value");
}

/** resolvedOptions of a specification. */
export function shown(spec) {
  return JSON.parse(spec);
}

/** Makes cls look as ECMA-402 says: nothing enumerable, a tag, supportedLocalesOf. */
export function install(Intl, name, cls) {
  platform.add(cls.prototype); // no copies of it are made
  Object.defineProperty(cls.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });
  Object.defineProperty(cls, "prototype", { writable: false });
  if (name !== "Locale") {
    const { supportedLocalesOf } = {
      supportedLocalesOf(locales) {
        return supported(locales, arguments[1]);
      },
    };
    Object.defineProperty(cls, "supportedLocalesOf", { value: supportedLocalesOf, writable: true, configurable: true });
  }
  Object.defineProperty(Intl, name, { value: cls, writable: true, configurable: true });
}

function supported(locales, options) {
  const tags = tagsOf(locales);
  if (options !== undefined) matcher(coerced(options));
  return host.intl_supported(tags);
}

/** Makes a class callable without new, as the oldest formatters are. */
export function callable(cls, name) {
  const constructor = function (...args) {
    return Reflect.construct(cls, args, new.target ?? constructor);
  };
  Object.defineProperties(constructor, {
    name: { value: name },
    length: { value: 0 },
    prototype: { value: cls.prototype },
  });
  Object.defineProperty(cls.prototype, "constructor", { value: constructor, writable: true, configurable: true });
  return constructor;
}
