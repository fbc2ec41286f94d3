// Intl.RelativeTimeFormat, ListFormat, DisplayNames, Collator and Segmenter.
import { host } from "../../web/webidl/js/host.js";
import { guarded } from "../../web/webidl/js/idl.js";
import {
  callable,
  coerced,
  install,
  joined,
  matcher,
  optionsObject,
  parts,
  shown,
  tagsOf,
  text,
  truth,
  type,
} from "./options.js";

const WIDTHS = ["long", "short", "narrow"];
const UNITS = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];

let relativeOf;

class RelativeTimeFormat {
  #o;
  static {
    relativeOf = guarded("Intl.RelativeTimeFormat", (format) => format.#o);
  }
  constructor() {
    const [locales, options] = arguments;
    const tags = tagsOf(locales),
      given = coerced(options);
    matcher(given);
    const system = type(given, "numberingSystem") ?? "";
    const style = text(given, "style", WIDTHS, "long");
    const numeric = text(given, "numeric", ["always", "auto"], "always");
    const [locale, numberingSystem] = host.intl_resolve(tags, true, system);
    this.#o = { locale, style, numeric, numberingSystem };
  }
  format(value, unit) {
    return joined(relative(relativeOf(this), value, unit).flat, 2);
  }
  formatToParts(value, unit) {
    const { flat, single } = relative(relativeOf(this), value, unit);
    return parts(flat, (kind) => (kind === "literal" ? undefined : { unit: single }));
  }
  resolvedOptions() {
    return { ...relativeOf(this) };
  }
}

function relative(o, value, unit) {
  const n = +value,
    name = `${unit}`;
  const single = name.endsWith("s") ? name.slice(0, -1) : name;
  if (!UNITS.includes(single)) throw new RangeError(`Invalid unit argument for format() '${name}'`);
  if (!Number.isFinite(n)) throw new RangeError("The number value is not finite");
  return { flat: host.intl_relative(o.locale, o.numberingSystem, o.style, o.numeric, n, single), single };
}

let listOf;

class ListFormat {
  #o;
  static {
    listOf = guarded("Intl.ListFormat", (format) => format.#o);
  }
  constructor() {
    const [locales, options] = arguments;
    const tags = tagsOf(locales),
      given = optionsObject(options);
    matcher(given);
    const kind = text(given, "type", ["conjunction", "disjunction", "unit"], "conjunction");
    const style = text(given, "style", WIDTHS, "long");
    this.#o = { locale: host.intl_resolve(tags)[0], type: kind, style };
  }
  format(list) {
    const o = listOf(this);
    return joined(host.intl_list(o.locale, o.type, o.style, strings(list)), 2);
  }
  formatToParts(list) {
    const o = listOf(this);
    return parts(host.intl_list(o.locale, o.type, o.style, strings(list)));
  }
  resolvedOptions() {
    return { ...listOf(this) };
  }
}

function strings(list) {
  if (list === undefined) return [];
  const out = [];
  for (const item of list) {
    if (typeof item !== "string") throw new TypeError("Iterable yielded a value which is not a string");
    out.push(item);
  }
  return out;
}

let namesOf;

class DisplayNames {
  #o;
  static {
    namesOf = guarded("Intl.DisplayNames", (names) => names.#o);
  }
  constructor(locales, options) {
    const tags = tagsOf(locales);
    if (options === undefined) throw new TypeError("Intl.DisplayNames: the options must name a type");
    const given = optionsObject(options);
    matcher(given);
    const style = text(given, "style", ["narrow", "short", "long"], "long");
    const kind = text(given, "type", ["language", "region", "script", "currency", "calendar", "dateTimeField"]);
    if (kind === undefined) throw new TypeError("Intl.DisplayNames: the options must name a type");
    const fallback = text(given, "fallback", ["code", "none"], "code");
    const language = text(given, "languageDisplay", ["dialect", "standard"], "dialect");
    this.#o = { locale: host.intl_resolve(tags)[0], style, type: kind, fallback };
    if (kind === "language") this.#o.languageDisplay = language;
  }
  of(code) {
    const o = namesOf(this);
    const [canonical, name] = host.intl_name(o.locale, o.type, o.style, o.languageDisplay ?? "", `${code}`);
    return name ?? (o.fallback === "code" ? canonical : undefined);
  }
  resolvedOptions() {
    return { ...namesOf(this) };
  }
}

const CASES = ["upper", "lower", "false"];

/** The specification of a Collator. */
export function collatorSpec(locales, options) {
  const tags = tagsOf(locales),
    given = coerced(options),
    o = Object.create(null);
  o.usage = text(given, "usage", ["sort", "search"], "sort");
  matcher(given);
  o.collation = type(given, "collation");
  o.numeric = truth(given, "numeric");
  o.caseFirst = text(given, "caseFirst", CASES);
  o.sensitivity = text(given, "sensitivity", ["base", "accent", "case", "variant"]);
  o.ignorePunctuation = truth(given, "ignorePunctuation");
  return host.intl_collator(tags, JSON.stringify(o));
}

let collatorOf, comparerOf;

class Collator {
  #spec;
  #compare;
  static {
    collatorOf = guarded("Intl.Collator", (collator) => collator.#spec);
    comparerOf = (collator, make) => (collator.#compare ??= make());
  }
  constructor(locales, options) {
    this.#spec = collatorSpec(locales, options);
  }
  get compare() {
    const spec = collatorOf(this);
    return comparerOf(this, () => {
      const compare = (x, y) => {
        const a = typeof x === "string" ? x : `${x}`,
          b = typeof y === "string" ? y : `${y}`; // a template is a call
        return host.intl_compare(spec, a, b);
      };
      Object.defineProperty(compare, "name", { value: "" });
      return compare;
    });
  }
  resolvedOptions() {
    return shown(collatorOf(this));
  }
}

let segmenterOf, segmentsOf, cursorOf;

class Segmenter {
  #o;
  static {
    segmenterOf = guarded("Intl.Segmenter", (segmenter) => segmenter.#o);
  }
  constructor() {
    const [locales, options] = arguments;
    const tags = tagsOf(locales),
      given = optionsObject(options);
    matcher(given);
    const granularity = text(given, "granularity", ["grapheme", "word", "sentence"], "grapheme");
    this.#o = { locale: host.intl_resolve(tags)[0], granularity };
  }
  segment(value) {
    return new Segments(segmenterOf(this), `${value}`);
  }
  resolvedOptions() {
    return { ...segmenterOf(this) };
  }
}

// Each number of ends is twice the index at which a segment ends, plus one if
// the segment is like a word.
class Segments {
  #o;
  static {
    segmentsOf = guarded("%Segments%", (segments) => segments.#o);
  }
  constructor({ granularity, locale }, input) {
    this.#o = {
      granularity,
      input,
      ends: new Uint32Array(host.intl_segments(granularity, input.toWellFormed(), locale).buffer),
    };
  }
  containing(index) {
    const o = segmentsOf(this);
    const n = Math.trunc(+index) || 0;
    if (n < 0 || n >= o.input.length) return undefined;
    let low = 0,
      high = o.ends.length - 1; // the first segment that ends after n
    while (low < high) {
      const mid = (low + high) >> 1;
      if (o.ends[mid] >>> 1 > n) high = mid;
      else low = mid + 1;
    }
    return segmentAt(o, low);
  }
  [Symbol.iterator]() {
    return new SegmentIterator(segmentsOf(this));
  }
}
delete Segments.prototype.constructor;

function segmentAt(o, at) {
  const index = at === 0 ? 0 : o.ends[at - 1] >>> 1,
    end = o.ends[at];
  const data = { segment: o.input.slice(index, end >>> 1), index, input: o.input };
  if (o.granularity === "word") data.isWordLike = (end & 1) === 1;
  return data;
}

class SegmentIterator {
  #o;
  #at = 0;
  static {
    cursorOf = guarded("%SegmentIterator%", (iterator) => [iterator.#o, iterator.#at++]);
  }
  constructor(o) {
    this.#o = o;
  }
  next() {
    const [o, at] = cursorOf(this);
    if (at >= o.ends.length) return { value: undefined, done: true };
    return { value: segmentAt(o, at), done: false };
  }
}

export function installWords(Intl) {
  install(Intl, "Collator", callable(Collator, "Collator"));
  install(Intl, "RelativeTimeFormat", RelativeTimeFormat);
  install(Intl, "ListFormat", ListFormat);
  install(Intl, "DisplayNames", DisplayNames);
  install(Intl, "Segmenter", Segmenter);
  delete SegmentIterator.prototype.constructor;
  Object.setPrototypeOf(SegmentIterator.prototype, Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())));
  Object.defineProperty(SegmentIterator.prototype, Symbol.toStringTag, {
    value: "Segmenter String Iterator",
    configurable: true,
  });
}
