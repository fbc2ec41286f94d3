// Intl.DurationFormat (ECMA-402, 13): numbers with units, put together as a list, or like a clock.
import { host } from "../../web/webidl/js/host.js";
import { guarded } from "../../web/webidl/js/idl.js";
import { numberSpec } from "./number.js";
import { install, matcher, number, optionsObject, parts, tagsOf, text, type } from "./options.js";

const WORDS = ["long", "short", "narrow"],
  CLOCK = [...WORDS, "numeric", "2-digit"],
  FRACTION = [...WORDS, "numeric"];
// Each unit with the styles it takes.
const UNITS = [
  ["years", WORDS],
  ["months", WORDS],
  ["weeks", WORDS],
  ["days", WORDS],
  ["hours", CLOCK],
  ["minutes", CLOCK],
  ["seconds", CLOCK],
  ["milliseconds", FRACTION],
  ["microseconds", FRACTION],
  ["nanoseconds", FRACTION],
];
const NAMES = UNITS.map(([unit]) => unit);
const HOURS = 4,
  SECONDS = 6,
  MILLISECONDS = 7;

/** Reads the style of unit i and when it is shown (GetDurationUnitOptions). */
function unitOptions(options, i, base, before) {
  const [unit, styles] = UNITS[i];
  let style = text(options, unit, styles),
    fallback = "always";
  if (style === undefined) {
    if (base === "digital") {
      style = i < HOURS ? "short" : "numeric";
      if (i < HOURS || i > SECONDS) fallback = "auto";
    } else if (isNumber(before)) {
      style = "numeric";
      if (i > SECONDS) fallback = "auto";
    } else {
      style = base;
      fallback = "auto";
    }
  }
  if (style === "numeric" && i >= MILLISECONDS) {
    style = "fractional";
    fallback = "auto";
  }
  const display = text(options, `${unit}Display`, ["auto", "always"], fallback);
  if (style === "fractional" && display === "always")
    throw new RangeError(`${unit} that are a fraction of the unit above cannot be shown always`);
  if ((before === "fractional" && style !== "fractional") || (isNumber(before) && !isNumber(style)))
    throw new RangeError(`${unit} cannot be ${style} below a unit that is a number`);
  if (isNumber(before) && (unit === "minutes" || unit === "seconds")) style = "2-digit";
  return { style, display };
}

function isNumber(style) {
  return style === "numeric" || style === "2-digit" || style === "fractional";
}

let formatOf;

class DurationFormat {
  #o;
  static {
    formatOf = guarded("Intl.DurationFormat", (format) => format.#o);
  }
  constructor() {
    const [locales, given] = arguments;
    const tags = tagsOf(locales),
      options = optionsObject(given);
    matcher(options);
    const system = type(options, "numberingSystem") ?? "";
    const style = text(options, "style", [...WORDS, "digital"], "short");
    const [locale, numberingSystem, separator] = host.intl_resolve(tags, true, system);
    const units = [];
    for (let i = 0, before = ""; i < UNITS.length; i++) {
      units.push(unitOptions(options, i, style, before));
      if (i >= HOURS) before = units[i].style;
    }
    this.#o = {
      locale,
      numberingSystem,
      separator,
      style,
      units,
      fractionalDigits: number(options, "fractionalDigits", 0, 9),
    };
  }
  format(duration) {
    const o = formatOf(this);
    return written(o, record(duration))
      .map(({ value }) => value)
      .join("");
  }
  formatToParts(duration) {
    const o = formatOf(this);
    return written(o, record(duration));
  }
  resolvedOptions() {
    const { locale, numberingSystem, style, units, fractionalDigits } = formatOf(this);
    const out = { locale, numberingSystem, style };
    for (let i = 0; i < NAMES.length; i++) {
      out[NAMES[i]] = units[i].style === "fractional" ? "numeric" : units[i].style;
      out[`${NAMES[i]}Display`] = units[i].display;
    }
    if (fractionalDigits !== undefined) out.fractionalDigits = fractionalDigits;
    return out;
  }
}

/** @type {any[]} */
const SORTED = [...NAMES].sort();
const MOST = 2 ** 32,
  NANOSECONDS = 10n ** 9n * 2n ** 53n;
// The units in nanoseconds; the longer ones have no fixed length.
const SIZES = [0n, 0n, 0n, 86400n * 10n ** 9n, 3600n * 10n ** 9n, 60n * 10n ** 9n, 10n ** 9n, 10n ** 6n, 10n ** 3n, 1n];

// The ten numbers of a duration (ToDurationRecord).
function record(duration) {
  if (typeof duration === "string") return valid(parsed(duration));
  if ((typeof duration !== "object" && typeof duration !== "function") || duration === null)
    throw new TypeError('A duration is an object, or a text such as "PT1H30M"');
  const values = NAMES.map(() => 0);
  let any = false;
  for (const unit of SORTED) {
    const value = duration[unit];
    if (value === undefined) continue;
    any = true;
    const n = +value;
    if (!Number.isInteger(n)) throw new RangeError(`The ${unit} of a duration are a whole number`);
    values[NAMES.indexOf(unit)] = n + 0;
  }
  if (!any)
    throw new TypeError(
      "A duration has at least one of years, months, weeks, days, hours, minutes, seconds, milliseconds, microseconds and nanoseconds",
    );
  return valid(values);
}

function valid(values) {
  let nanoseconds = 0n;
  for (let i = 3; i < values.length; i++) nanoseconds += BigInt(values[i]) * SIZES[i];
  if (values.some((n) => n < 0) && values.some((n) => n > 0))
    throw new RangeError("The units of a duration have one sign");
  if (
    values.slice(0, 3).some((n) => Math.abs(n) >= MOST) ||
    (nanoseconds < 0n ? -nanoseconds : nanoseconds) >= NANOSECONDS
  )
    throw new RangeError("The duration is too long");
  return values;
}

// A duration as ISO 8601-2 writes it. Only the last of the units of a day may have a fraction.
const wholePart = (unit) => `(?:([0-9]+)${unit})?`;
const decimalPart = (unit) => `(?:([0-9]+)(?:[.,]([0-9]{1,9}))?${unit})?`;
const DATE = ["Y", "M", "W", "D"].map(wholePart).join("");
const TIME = ["H", "M", "S"].map(decimalPart).join("");
const ISO = new RegExp(`^([+-])?P(?=[0-9]|T[0-9])${DATE}(?:T(?=[0-9])${TIME})?$`, "i");

function parsed(string) {
  const [found, sign, years, months, weeks, days, hours, ofHour, minutes, ofMinute, seconds, ofSecond] =
    ISO.exec(string) ?? [];
  if (
    found === undefined ||
    (ofHour !== undefined && (minutes ?? seconds) !== undefined) ||
    (ofMinute !== undefined && seconds !== undefined)
  ) {
    throw new RangeError(`Not a duration of ISO 8601: ${JSON.stringify(string)}`);
  }
  const fraction = (digits, size) => (digits === undefined ? 0n : (BigInt(digits.padEnd(9, "0")) * size) / 10n ** 9n);
  let rest = fraction(ofHour, SIZES[HOURS]) + fraction(ofMinute, SIZES[HOURS + 1]) + fraction(ofSecond, SIZES[SECONDS]);
  const below = SIZES.slice(HOURS + 1).map((size) => {
    const n = rest / size;
    rest %= size;
    return Number(n);
  });
  const [minute, second, ...subseconds] = below;
  const values = [
    years,
    months,
    weeks,
    days,
    hours,
    Number(minutes ?? 0) + minute,
    Number(seconds ?? 0) + second,
    ...subseconds,
  ];
  return values
    .map((value) => (sign === "-" ? -1 : 1) * Number(value ?? 0) + 0)
    .map((n) => {
      if (!Number.isFinite(n)) throw new RangeError("The duration is too long");
      return n;
    });
}

// All parts of a duration (PartitionDurationFormatPattern).
function written(o, values) {
  const negative = values.some((n) => n < 0),
    items = [];
  const state = { o, values, negative, signed: true };
  for (let i = 0; i < UNITS.length; i++) {
    const { style, display } = o.units[i];
    if (style === "numeric" || style === "2-digit") {
      const clock = clockParts(state, i);
      if (clock.length > 0) items.push(clock);
      break;
    }
    const last = i >= SECONDS && o.units[i + 1]?.style === "fractional";
    const value = last ? fractional(values, i) : values[i];
    if (+value !== 0 || display !== "auto") {
      items.push(
        unitParts(state, i, value, {
          style: "unit",
          unit: NAMES[i].slice(0, -1),
          unitDisplay: style,
          ...(last && fractionOf(o)),
        }),
      );
    }
    if (last) break;
  }
  return listed(o, items);
}

// The unit with those below it, exactly: a decimal number.
function fractional(values, i) {
  let all = 0n;
  for (let k = i; k < values.length; k++) all += BigInt(values[k]) * SIZES[k];
  const size = SIZES[i],
    whole = all < 0n ? -all : all;
  const places = `${size}`.length - 1;
  return `${all < 0n ? "-" : ""}${whole / size}.${`${whole % size}`.padStart(places, "0")}`;
}

function fractionOf({ fractionalDigits: digits }) {
  return { minimumFractionDigits: digits ?? 0, maximumFractionDigits: digits ?? 9, roundingMode: "trunc" };
}

// A number of the unit. The first one has the duration's sign.
function unitParts(state, i, value, options) {
  const { o, negative, signed } = state;
  if (!signed) options.signDisplay = "never";
  state.signed = false;
  const spec = numberSpec(o.locale, { numberingSystem: o.numberingSystem, ...options });
  const unit = NAMES[i].slice(0, -1);
  return parts(host.intl_number_parts(spec, signed && negative && +value === 0 ? -0 : value), () => ({ unit }));
}

// Hours, minutes and seconds as on a clock, from unit first on (FormatNumericUnits).
function clockParts(state, first) {
  const { o, values } = state,
    out = [];
  const seconds = values.slice(MILLISECONDS).some((n) => n !== 0) ? fractional(values, SECONDS) : values[SECONDS];
  const has = (i, value) => i >= first && (+value !== 0 || o.units[i].display !== "auto");
  const withHours = has(HOURS, values[HOURS]),
    withSeconds = has(SECONDS, seconds);
  const withMinutes = first <= HOURS + 1 && ((withHours && withSeconds) || has(HOURS + 1, values[HOURS + 1]));
  const add = (i, value, behind, options) => {
    if (behind) out.push({ type: "literal", value: o.separator });
    const two = o.units[i].style === "2-digit" ? { minimumIntegerDigits: 2 } : {};
    out.push(...unitParts(state, i, value, { useGrouping: false, ...two, ...options }));
  };
  if (withHours) add(HOURS, values[HOURS], false);
  if (withMinutes) add(HOURS + 1, values[HOURS + 1], withHours);
  if (withSeconds) add(SECONDS, seconds, withMinutes, fractionOf(o));
  return out;
}

// The units as a list of the locale (ListFormatParts).
function listed(o, items) {
  const style = o.style === "digital" ? "short" : o.style;
  const flat = host.intl_list(
    o.locale,
    "unit",
    style,
    items.map((item) => item.map(({ value }) => value).join("")),
  );
  let next = 0;
  return parts(flat).flatMap((part) => (part.type === "element" ? items[next++] : part));
}

export function installDurations(Intl) {
  install(Intl, "DurationFormat", DurationFormat);
}
