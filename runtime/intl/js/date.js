// Intl.DateTimeFormat.
import { host } from "../../web/webidl/js/host.js";
import { guarded } from "../../web/webidl/js/idl.js";
import {
  callable,
  coerced,
  install,
  joined,
  matcher,
  number,
  parts,
  rangeParts,
  shown,
  tagsOf,
  text,
  truth,
  type,
} from "./options.js";

const WORDS = ["narrow", "short", "long"];
const NUMBERS = ["2-digit", "numeric"];
const STYLES = ["full", "long", "medium", "short"];
const ZONES = ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"];

function read(options) {
  const o = Object.create(null);
  matcher(options);
  o.calendar = type(options, "calendar");
  o.numberingSystem = type(options, "numberingSystem");
  o.hour12 = truth(options, "hour12");
  o.hourCycle = text(options, "hourCycle", ["h11", "h12", "h23", "h24"]);
  o.timeZone = text(options, "timeZone");
  if (o.timeZone === "") throw new RangeError("Invalid time zone specified: ");
  for (const [name, values] of /** @type {[string, string[]][]} */ ([
    ["weekday", WORDS],
    ["era", WORDS],
    ["year", NUMBERS],
    ["month", [...NUMBERS, ...WORDS]],
    ["day", NUMBERS],
    ["dayPeriod", WORDS],
    ["hour", NUMBERS],
    ["minute", NUMBERS],
    ["second", NUMBERS],
  ]))
    o[name] = text(options, name, values);
  o.fractionalSecondDigits = number(options, "fractionalSecondDigits", 1, 3);
  o.timeZoneName = text(options, "timeZoneName", ZONES);
  text(options, "formatMatcher", ["basic", "best fit"], "best fit");
  o.dateStyle = text(options, "dateStyle", STYLES);
  o.timeStyle = text(options, "timeStyle", STYLES);
  return o;
}

/** The specification of a DateTimeFormat that shows the required fields, otherwise the defaults. */
export function dateSpec(locales, options, required, defaults) {
  const tags = tagsOf(locales),
    o = read(coerced(options));
  return host.intl_date(tags, JSON.stringify(Object.assign(o, { required, defaults })));
}

/** A date's or number's milliseconds; now for undefined. */
function instant(date) {
  return date === undefined ? Date.now() : +date;
}

let specOf, boundOf;

class DateTimeFormat {
  #spec;
  #format;
  static {
    specOf = guarded("Intl.DateTimeFormat", (format) => format.#spec);
    boundOf = (format, make) => (format.#format ??= make());
  }
  constructor(locales, options) {
    this.#spec = dateSpec(locales, options, "any", "date");
  }
  get format() {
    const spec = specOf(this);
    return boundOf(this, () => {
      const format = (date) => host.intl_date_format(spec, instant(date));
      Object.defineProperty(format, "name", { value: "" });
      return format;
    });
  }
  formatToParts(date) {
    return parts(host.intl_date_parts(specOf(this), instant(date)));
  }
  formatRange(start, end) {
    return joined(range(specOf(this), start, end), 3);
  }
  formatRangeToParts(start, end) {
    return rangeParts(range(specOf(this), start, end));
  }
  resolvedOptions() {
    const options = shown(specOf(this));
    delete options.pattern;
    delete options.missing;
    return options;
  }
}

function range(spec, start, end) {
  if (start === undefined || end === undefined) throw new TypeError("startDate or endDate cannot be undefined");
  const from = +start,
    to = +end;
  return host.intl_date_range(spec, from, to);
}

export function installDates(Intl) {
  install(Intl, "DateTimeFormat", callable(DateTimeFormat, "DateTimeFormat"));
}
