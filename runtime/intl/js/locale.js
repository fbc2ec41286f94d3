// Intl.Locale.
import { host } from "../../web/webidl/js/host.js";
import { guarded } from "../../web/webidl/js/idl.js";
import { coerced, install, knowLocale, text, truth } from "./options.js";

let partsOf, isLocale;

// Options that are keywords of -u-: their names, keys and values.
/** @type {[string, string, string[]?][]} */
const KEYWORDS = [
  ["calendar", "ca"],
  ["collation", "co"],
  ["firstDayOfWeek", "fw"],
  ["hourCycle", "hc", ["h11", "h12", "h23", "h24"]],
  ["caseFirst", "kf", ["upper", "lower", "false"]],
  ["numeric", "kn"],
  ["numberingSystem", "nu"],
];

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun"];

function keyword(options, name, values) {
  if (name === "numeric") {
    const value = truth(options, name);
    return value === undefined ? undefined : `${value}`;
  }
  let value = text(options, name, values);
  if (value === undefined || values !== undefined) return value;
  if (name === "firstDayOfWeek" && /^[0-7]$/.test(value)) value = DAYS[value];
  if (!/^[0-9A-Za-z]{3,8}(-[0-9A-Za-z]{3,8})*$/.test(value))
    throw new RangeError(`Incorrect locale information provided: ${name} ${value}`);
  return value;
}

class Locale {
  #parts;
  static {
    partsOf = guarded("Intl.Locale", (locale) => locale.#parts);
    isLocale = (value) => typeof value === "object" && value !== null && #parts in value;
  }
  constructor(tag) {
    if (typeof tag !== "string" && (typeof tag !== "object" || tag === null)) {
      throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
    }
    const from = host.intl_canonical(isLocale(tag) ? partsOf(tag).tag : `${tag}`),
      given = coerced(arguments[1]),
      o = Object.assign(Object.create(null), { keywords: Object.create(null) });
    for (const name of ["language", "script", "region", "variants"]) o[name] = text(given, name);
    for (const [name, key, values] of KEYWORDS) {
      const value = keyword(given, name, values);
      if (value !== undefined) o.keywords[key] = value;
    }
    this.#parts = JSON.parse(host.intl_locale(from, JSON.stringify(o)));
  }
  maximize() {
    return new Locale(host.intl_likely(partsOf(this).tag, true));
  }
  minimize() {
    return new Locale(host.intl_likely(partsOf(this).tag, false));
  }
  toString() {
    return partsOf(this).tag;
  }
  get baseName() {
    return partsOf(this).base;
  }
  get calendar() {
    return partsOf(this).keywords.ca;
  }
  get caseFirst() {
    return partsOf(this).keywords.kf;
  }
  get collation() {
    return partsOf(this).keywords.co;
  }
  get firstDayOfWeek() {
    return partsOf(this).keywords.fw;
  }
  get hourCycle() {
    return partsOf(this).keywords.hc;
  }
  get numeric() {
    const { kn } = partsOf(this).keywords;
    return kn === "" || kn === "true";
  }
  get numberingSystem() {
    return partsOf(this).keywords.nu;
  }
  get language() {
    return partsOf(this).language;
  }
  get script() {
    return partsOf(this).script;
  }
  get region() {
    return partsOf(this).region;
  }
  get variants() {
    return partsOf(this).variants;
  }
  getCalendars() {
    return info(this, "calendars");
  }
  getCollations() {
    return info(this, "collations");
  }
  getHourCycles() {
    return info(this, "hourCycles");
  }
  getNumberingSystems() {
    return info(this, "numberingSystems");
  }
  getTimeZones() {
    return partsOf(this).region === undefined ? undefined : info(this, "timeZones");
  }
  getTextInfo() {
    return info(this, "textInfo");
  }
  getWeekInfo() {
    return info(this, "weekInfo");
  }
}

function info(locale, what) {
  return JSON.parse(host.intl_locale_info(partsOf(locale).tag, what));
}

export function installLocale(Intl) {
  knowLocale(isLocale, (locale) => partsOf(locale).tag);
  install(Intl, "Locale", Locale);
}
