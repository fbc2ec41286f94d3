// https://tc39.es/ecma402/ The namespace, and the parts of the language itself that depend
// on it. Go does the work: runtime/intl.
import { host } from "../../web/webidl/js/host.js";
import { expose } from "../../web/webidl/js/idl.js";
import { dateSpec, installDates } from "./date.js";
import { installDurations } from "./duration.js";
import { installLocale } from "./locale.js";
import { installNumbers, numberSpec } from "./number.js";
import { numeric, tagsOf } from "./options.js";
import { collatorSpec, installWords } from "./words.js";

// The members are class members, whose code is strict: this keeps the value
// that the caller gave it.
class Functions {
  getCanonicalLocales(locales) {
    return tagsOf(locales);
  }
  supportedValuesOf(key) {
    return host.intl_values(`${key}`);
  }
}

// The specifications of calls without options, which are most: made once.
const plain = new Map();

function cached(kind, locales, options, make) {
  if (options !== undefined || (locales !== undefined && typeof locales !== "string")) return make();
  const key = `${kind} ${locales}`;
  let spec = plain.get(key);
  if (spec === undefined) {
    spec = make();
    if (plain.size < 64) plain.set(key, spec);
  }
  return spec;
}

const numberOf = Number.prototype.valueOf,
  bigintOf = BigInt.prototype.valueOf,
  timeOf = Date.prototype.getTime;

function formatNumber(value, locales, options) {
  return host.intl_number_format(
    cached("number", locales, options, () => numberSpec(locales, options)),
    numeric(value),
  );
}

function formatDate(time, locales, options, required, defaults) {
  if (Number.isNaN(time)) return "Invalid Date";
  return host.intl_date_format(
    cached(`${required} ${defaults}`, locales, options, () => dateSpec(locales, options, required, defaults)),
    time,
  );
}

function coercible(value, name) {
  if (value === undefined || value === null)
    throw new TypeError(`String.prototype.${name} called on null or undefined`);
  return `${value}`;
}

function changeCase(value, locales, upper) {
  const tags = tagsOf(locales);
  if (tags.length === 0) return upper ? value.toUpperCase() : value.toLowerCase();
  return host.intl_case(tags, value, upper);
}

let usual; // the collator without options. Sorts compare often, so that texts are used without a template, which would be a call

const methods = [
  [
    Number.prototype,
    class {
      toLocaleString() {
        return formatNumber(numberOf.call(this), arguments[0], arguments[1]);
      }
    },
  ],
  [
    BigInt.prototype,
    class {
      toLocaleString() {
        return formatNumber(bigintOf.call(this), arguments[0], arguments[1]);
      }
    },
  ],
  [
    Date.prototype,
    class {
      toLocaleString() {
        return formatDate(timeOf.call(this), arguments[0], arguments[1], "any", "all");
      }
      toLocaleDateString() {
        return formatDate(timeOf.call(this), arguments[0], arguments[1], "date", "date");
      }
      toLocaleTimeString() {
        return formatDate(timeOf.call(this), arguments[0], arguments[1], "time", "time");
      }
    },
  ],
  [
    String.prototype,
    class {
      localeCompare(that, locales = undefined, options = undefined) {
        const text = typeof this === "string" ? this : coercible(this, "localeCompare"),
          other = typeof that === "string" ? that : `${that}`;
        if (locales !== undefined || options !== undefined)
          return host.intl_compare(
            cached("compare", locales, options, () => collatorSpec(locales, options)),
            text,
            other,
          );
        return text === other ? 0 : host.intl_compare((usual ??= collatorSpec()), text, other);
      }
      toLocaleUpperCase() {
        return changeCase(coercible(this, "toLocaleUpperCase"), arguments[0], true);
      }
      toLocaleLowerCase() {
        return changeCase(coercible(this, "toLocaleLowerCase"), arguments[0], false);
      }
    },
  ],
];

// Arrays hand locales and options on to their elements (ECMA-402, 20.5).
function listed(list, length, args) {
  let out = "";
  for (let i = 0; i < length; i++) {
    if (i > 0) out += ",";
    const item = list[i];
    if (item !== undefined && item !== null) out += `${item.toLocaleString(args[0], args[1])}`;
  }
  return out;
}

const under = new Set(); // arrays being written: one inside itself is empty text

class Arrays {
  toLocaleString() {
    if (this === undefined || this === null) throw new TypeError("Cannot convert undefined or null to object");
    const list = Object(this);
    if (under.has(list)) return "";
    under.add(list);
    try {
      return listed(
        list,
        Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), Number.MAX_SAFE_INTEGER),
        arguments,
      );
    } finally {
      under.delete(list);
    }
  }
}

const TypedArray = Object.getPrototypeOf(Uint8Array);
const lengthOf = Object.getOwnPropertyDescriptor(TypedArray.prototype, "length").get;
const checkTyped = TypedArray.prototype.keys; // throws for any other value, or a detached array

class Typed {
  toLocaleString() {
    checkTyped.call(this);
    return listed(this, lengthOf.call(this), arguments);
  }
}

export function install() {
  const Intl = {};
  Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });
  for (const [target, members] of [
    [Intl, Functions],
    ...methods,
    [Array.prototype, Arrays],
    [TypedArray.prototype, Typed],
  ]) {
    const { constructor, ...descriptors } = Object.getOwnPropertyDescriptors(members.prototype);
    Object.defineProperties(target, descriptors);
  }
  installLocale(Intl);
  installNumbers(Intl);
  installDates(Intl);
  installWords(Intl);
  installDurations(Intl);
  expose("Intl", Intl);
}
