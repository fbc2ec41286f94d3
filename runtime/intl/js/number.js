// Intl.NumberFormat and Intl.PluralRules.
import { host } from "../../web/webidl/js/host.js";
import { guarded } from "../../web/webidl/js/idl.js";
import {
  callable,
  coerced,
  digits,
  install,
  joined,
  matcher,
  numeric,
  parts,
  rangeParts,
  shown,
  tagsOf,
  text,
  type,
} from "./options.js";

const STYLES = ["decimal", "percent", "currency", "unit"];
const GROUPINGS = ["min2", "auto", "always", "true", "false"];

function read(options) {
  const o = Object.create(null);
  matcher(options);
  o.numberingSystem = type(options, "numberingSystem");
  units(options, o);
  o.notation = text(options, "notation", ["standard", "scientific", "engineering", "compact"], "standard");
  digits(options, o);
  o.compactDisplay = text(options, "compactDisplay", ["short", "long"], "short");
  o.useGrouping = grouping(options.useGrouping, o.notation === "compact" ? "min2" : "auto");
  o.signDisplay = text(options, "signDisplay", ["auto", "never", "always", "exceptZero", "negative"], "auto");
  return o;
}

function units(options, o) {
  o.style = text(options, "style", STYLES, "decimal");
  o.currency = text(options, "currency");
  if (o.currency === undefined) {
    if (o.style === "currency") throw new TypeError("Currency code is required with currency style.");
  } else if (!/^[A-Za-z]{3}$/.test(o.currency)) {
    throw new RangeError(`Invalid currency code : ${o.currency}`);
  }
  o.currencyDisplay = text(options, "currencyDisplay", ["code", "symbol", "narrowSymbol", "name"], "symbol");
  o.currencySign = text(options, "currencySign", ["standard", "accounting"], "standard");
  o.unit = text(options, "unit");
  if (o.unit === undefined) {
    if (o.style === "unit") throw new TypeError("Required unit is not provided");
  } else if (!host.intl_unit(o.unit)) {
    throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${o.unit}'`);
  }
  o.unitDisplay = text(options, "unitDisplay", ["short", "narrow", "long"], "short");
}

// GetBooleanOrStringNumberFormatOption
function grouping(value, fallback) {
  if (value === undefined) return fallback;
  if (value === true) return "always";
  if (!value) return false;
  const string = `${value}`;
  if (!GROUPINGS.includes(string))
    throw new RangeError(`Value ${string} out of range for Intl.NumberFormat options property useGrouping`);
  return string === "true" || string === "false" ? fallback : string;
}

/** The specification of a NumberFormat. */
export function numberSpec(locales, options) {
  const tags = tagsOf(locales);
  return host.intl_number(tags, JSON.stringify(read(coerced(options))));
}

let specOf, boundOf;

class NumberFormat {
  #spec;
  #format;
  static {
    specOf = guarded("Intl.NumberFormat", (format) => format.#spec);
    boundOf = (format, make) => (format.#format ??= make());
  }
  constructor(locales, options) {
    this.#spec = numberSpec(locales, options);
  }
  get format() {
    const spec = specOf(this);
    return boundOf(this, () => {
      const format = (value) => host.intl_number_format(spec, numeric(value));
      Object.defineProperty(format, "name", { value: "" });
      return format;
    });
  }
  formatToParts(value) {
    return parts(host.intl_number_parts(specOf(this), numeric(value)));
  }
  formatRange(start, end) {
    return joined(range(specOf(this), start, end), 3);
  }
  formatRangeToParts(start, end) {
    return rangeParts(range(specOf(this), start, end));
  }
  resolvedOptions() {
    return shown(specOf(this));
  }
}

function range(spec, start, end) {
  if (start === undefined || end === undefined) throw new TypeError("startRange or endRange cannot be undefined");
  const from = numeric(start),
    to = numeric(end);
  return host.intl_number_range(spec, from, to);
}

let rulesOf;

class PluralRules {
  #spec;
  static {
    rulesOf = guarded("Intl.PluralRules", (rules) => rules.#spec);
  }
  constructor() {
    const [locales, options] = arguments;
    const tags = tagsOf(locales),
      given = coerced(options),
      o = Object.create(null);
    matcher(given);
    o.type = text(given, "type", ["cardinal", "ordinal"], "cardinal");
    o.notation = text(given, "notation", ["standard", "compact", "scientific", "engineering"], "standard");
    o.compactDisplay = text(given, "compactDisplay", ["short", "long"], "short");
    digits(given, o);
    this.#spec = host.intl_plural(tags, JSON.stringify(o));
  }
  select(value) {
    return host.intl_plural_select(rulesOf(this), +value);
  }
  selectRange(start, end) {
    const spec = rulesOf(this);
    if (start === undefined || end === undefined) throw new TypeError("startRange or endRange cannot be undefined");
    const from = +start,
      to = +end;
    return host.intl_plural_range(spec, from, to);
  }
  resolvedOptions() {
    return shown(rulesOf(this));
  }
}

export function installNumbers(Intl) {
  install(Intl, "NumberFormat", callable(NumberFormat, "NumberFormat"));
  install(Intl, "PluralRules", PluralRules);
}
