// https://w3c.github.io/hr-time/, https://w3c.github.io/performance-timeline/ and
// https://w3c.github.io/user-timing/
import { host } from "../webidl/js/host.js";
import { cloneWith } from "../messaging/js/clone.js";
import { EventTarget } from "../events/js/event.js";
import { attribute, define, dictionary, guarded, illegal, need } from "../webidl/js/idl.js";
import { report } from "../console/js/report.js";
import { say } from "../language/js/caution.js";

const token = {};
const MAX_ENTRIES = 10000; // the oldest are dropped

let entries = [];
const observers = new Set();
let announced = false; // a microtask tells the observers

let stateOf;

class PerformanceEntry {
  #state;
  static {
    stateOf = guarded("PerformanceEntry", (entry) => entry.#state);
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    this.#state = arguments[1];
  }
  get name() {
    return stateOf(this).name;
  }
  get entryType() {
    return stateOf(this).type;
  }
  get startTime() {
    return stateOf(this).start;
  }
  get duration() {
    return stateOf(this).duration;
  }
  toJSON() {
    const { name, type, start, duration, detail } = stateOf(this);
    const json = { name, entryType: type, startTime: start, duration };
    if (detail !== undefined) json.detail = detail;
    return json;
  }
}

class PerformanceMark extends PerformanceEntry {
  constructor(name, options = undefined) {
    need(arguments.length, 1, "PerformanceMark constructor");
    dictionary(options, "PerformanceMark constructor: the second argument");
    const start = options?.startTime === undefined ? host.clock_now() : time(options.startTime);
    if (start < 0) throw new TypeError("PerformanceMark constructor: the start time is negative");
    super(token, { name: `${name}`, type: "mark", start, duration: 0, detail: copied(options?.detail) });
  }
  get detail() {
    return stateOf(this).detail;
  }
}

class PerformanceMeasure extends PerformanceEntry {
  /** @overload @param {...any} given */
  constructor() {
    super(...arguments);
  }
  get detail() {
    return stateOf(this).detail;
  }
}

// No entry has this class; as on the platform, it only exists.
class PerformanceResourceTiming extends PerformanceEntry {}

for (const name of [
  "initiatorType",
  "nextHopProtocol",
  "workerStart",
  "redirectStart",
  "redirectEnd",
  "fetchStart",
  "domainLookupStart",
  "domainLookupEnd",
  "connectStart",
  "connectEnd",
  "secureConnectionStart",
  "requestStart",
  "responseStart",
  "responseEnd",
  "transferSize",
  "encodedBodySize",
  "decodedBodySize",
  "responseStatus",
]) {
  const { [name]: getter } = Object.getOwnPropertyDescriptors({
    get [name]() {
      throw illegal("PerformanceResourceTiming");
    },
  });
  Object.defineProperty(PerformanceResourceTiming.prototype, name, getter);
}

function time(value) {
  const ms = +value;
  if (!Number.isFinite(ms)) throw new TypeError("Performance: a time is not a finite number");
  return ms;
}

function copied(detail) {
  return detail === undefined || detail === null ? null : cloneWith(detail, [])[0];
}

class Performance extends EventTarget {
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    super();
  }
  get timeOrigin() {
    own(this);
    return host.clock_origin();
  }
  now() {
    own(this);
    return host.clock_now();
  }
  toJSON() {
    own(this);
    return { timeOrigin: this.timeOrigin };
  }
  mark(name, options = undefined) {
    own(this);
    const mark = new PerformanceMark(...arguments);
    record(mark);
    return mark;
  }
  measure(name, from = undefined, to = undefined) {
    own(this);
    need(arguments.length, 1, "Performance.measure");
    const measure = new PerformanceMeasure(token, span(`${name}`, from, to));
    record(measure);
    return measure;
  }
  clearMarks(name = undefined) {
    own(this);
    clear("mark", name);
  }
  clearMeasures(name = undefined) {
    own(this);
    clear("measure", name);
  }
  clearResourceTimings() {
    own(this);
  }
  setResourceTimingBufferSize(size) {
    own(this);
    need(arguments.length, 1, "Performance.setResourceTimingBufferSize");
  }
  getEntries() {
    own(this);
    return sorted(entries);
  }
  getEntriesByType(type) {
    own(this);
    need(arguments.length, 1, "Performance.getEntriesByType");
    return filtered(entries, undefined, type);
  }
  getEntriesByName(name, type = undefined) {
    own(this);
    need(arguments.length, 1, "Performance.getEntriesByName");
    return filtered(entries, name, type);
  }
}

function own(object) {
  if (!(object instanceof Performance)) throw new TypeError("Illegal invocation: this is not a Performance");
}

// https://w3c.github.io/user-timing/#measure-method
function span(name, from, to) {
  let detail,
    start = from,
    end = to;
  if (from !== null && typeof from === "object") {
    const { detail: given, start: begins, duration, end: ends } = from;
    if (begins !== undefined || ends !== undefined || duration !== undefined || given !== undefined) {
      if (to !== undefined) throw new TypeError("Performance.measure: an end mark is given beside options");
      if (begins === undefined && ends === undefined)
        throw new TypeError("Performance.measure: the options have neither start nor end");
      if (begins !== undefined && ends !== undefined && duration !== undefined)
        throw new TypeError("Performance.measure: the options have start, end and duration");
    }
    detail = copied(given);
    end = ends ?? (begins !== undefined && duration !== undefined ? point(begins) + time(duration) : to);
    start = begins ?? (ends !== undefined && duration !== undefined ? point(ends) - time(duration) : undefined);
  }
  const stop = end === undefined ? host.clock_now() : point(end);
  const begin = start === undefined || start === null ? 0 : point(start);
  return { name, type: "measure", start: begin, duration: stop - begin, detail: detail ?? null };
}

// A mark's time, or a time itself.
function point(mark) {
  if (typeof mark === "number") {
    if (time(mark) < 0) throw new TypeError("Performance.measure: a time is negative");
    return mark;
  }
  const name = `${mark}`;
  const found = entries.findLast((entry) => stateOf(entry).type === "mark" && stateOf(entry).name === name);
  if (found === undefined) throw new DOMException(`The mark '${name}' does not exist.`, "SyntaxError");
  return stateOf(found).start;
}

function clear(type, name) {
  const only = name === undefined ? undefined : `${name}`;
  entries = entries.filter(
    (entry) => stateOf(entry).type !== type || (only !== undefined && stateOf(entry).name !== only),
  );
}

function record(entry) {
  entries.push(entry);
  if (entries.length > MAX_ENTRIES) entries.shift();
  const { type } = stateOf(entry);
  for (const observer of observers) if (observer.types.has(type)) observer.queue.push(entry);
  announce();
}

function announce() {
  if (announced || observers.size === 0) return;
  announced = true;
  queueMicrotask(() => {
    announced = false;
    for (const observer of [...observers]) {
      const queue = observer.queue.splice(0);
      if (queue.length === 0) continue;
      try {
        observer.callback.call(observer.object, new PerformanceObserverEntryList(token, queue), observer.object, {
          droppedEntriesCount: 0,
        });
      } catch (error) {
        report(error);
      }
    }
  });
}

function sorted(list) {
  return list.toSorted((a, b) => stateOf(a).start - stateOf(b).start);
}

function filtered(list, name, type) {
  const byName = name === undefined ? undefined : `${name}`,
    byType = type === undefined ? undefined : `${type}`;
  return sorted(
    list.filter(
      (entry) =>
        (byName === undefined || stateOf(entry).name === byName) &&
        (byType === undefined || stateOf(entry).type === byType),
    ),
  );
}

let listOf;

class PerformanceObserverEntryList {
  #list;
  static {
    listOf = guarded("PerformanceObserverEntryList", (entryList) => entryList.#list);
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    this.#list = arguments[1];
  }
  getEntries() {
    return sorted(listOf(this));
  }
  getEntriesByType(type) {
    need(arguments.length, 1, "PerformanceObserverEntryList.getEntriesByType");
    return filtered(listOf(this), undefined, type);
  }
  getEntriesByName(name, type = undefined) {
    need(arguments.length, 1, "PerformanceObserverEntryList.getEntriesByName");
    return filtered(listOf(this), name, type);
  }
}

const TYPES = Object.freeze(["mark", "measure"]);

let observerOf;

class PerformanceObserver {
  #state;
  static {
    observerOf = guarded("PerformanceObserver", (observer) => observer.#state);
  }
  constructor(callback) {
    need(arguments.length, 1, "PerformanceObserver constructor");
    if (typeof callback !== "function")
      throw new TypeError("PerformanceObserver constructor: the callback is not a function");
    this.#state = { object: this, callback, types: new Set(), queue: [], many: undefined };
  }
  observe(options = undefined) {
    const state = observerOf(this);
    dictionary(options, "PerformanceObserver.observe: the argument");
    const { entryTypes, type, buffered } = options ?? {};
    say("PerformanceObserver", "observe", "never calls an observer; here it is called");
    if (entryTypes === undefined && type === undefined) return; // production takes it
    // The standard refuses buffered here as well; browsers and production pass over it.
    if (entryTypes !== undefined && type !== undefined)
      throw new TypeError("PerformanceObserver.observe: the options have both entryTypes and type");
    const many = entryTypes !== undefined;
    if (state.many !== undefined && state.many !== many)
      throw new DOMException("This observer observes either entryTypes or a type.", "InvalidModificationError");
    state.many = many;
    if (many) {
      if (typeof entryTypes !== "object" || entryTypes === null)
        throw new TypeError("PerformanceObserver.observe: entryTypes is not a sequence");
      const known = [...entryTypes].map(String).filter((name) => TYPES.includes(name));
      if (known.length === 0) return;
      state.types = new Set(known);
    } else {
      if (!TYPES.includes(`${type}`)) return;
      state.types.add(`${type}`);
      if (buffered) state.queue.push(...filtered(entries, undefined, type));
    }
    observers.add(state);
    announce();
  }
  disconnect() {
    const state = observerOf(this);
    observers.delete(state);
    state.types.clear();
    state.queue.length = 0;
    state.many = undefined;
  }
  takeRecords() {
    return observerOf(this).queue.splice(0);
  }
  static get supportedEntryTypes() {
    return TYPES;
  }
}

export function install() {
  for (const [name, cls] of Object.entries({
    Performance,
    PerformanceEntry,
    PerformanceMark,
    PerformanceMeasure,
    PerformanceObserver,
    PerformanceObserverEntryList,
    PerformanceResourceTiming,
  }))
    define(name, cls);
  Object.defineProperty(PerformanceObserver, "supportedEntryTypes", { enumerable: true });
  attribute("performance", new Performance(token));
}
