import { host } from "./host.js";
import { define, need } from "./idl.js";
import { report } from "./report.js";

const EVENT = Symbol("event");
const LISTENERS = Symbol("listeners");

/** https://dom.spec.whatwg.org/#event */
export class Event {
  constructor(type, init) {
    need(arguments.length, 1, "Event constructor");
    if (init !== undefined && init !== null && typeof init !== "object" && typeof init !== "function") {
      throw new TypeError("Event constructor: the second argument is not an object");
    }
    this[EVENT] = {
      type: `${type}`, bubbles: !!init?.bubbles, cancelable: !!init?.cancelable, composed: !!init?.composed,
      target: null, current: null, phase: 0, stop: false, stopNow: false, canceled: false, passive: false,
      dispatching: false, trusted: false, time: host.clock_now(),
    };
  }
  get type() { return this[EVENT].type; }
  get target() { return this[EVENT].target; }
  get srcElement() { return this[EVENT].target; }
  get currentTarget() { return this[EVENT].current; }
  get eventPhase() { return this[EVENT].phase; }
  get bubbles() { return this[EVENT].bubbles; }
  get cancelable() { return this[EVENT].cancelable; }
  get composed() { return this[EVENT].composed; }
  get defaultPrevented() { return this[EVENT].canceled; }
  get isTrusted() { return this[EVENT].trusted; }
  get timeStamp() { return this[EVENT].time; }
  get returnValue() { return !this[EVENT].canceled; }
  set returnValue(value) { if (!value) this.preventDefault(); }
  get cancelBubble() { return this[EVENT].stop; }
  set cancelBubble(value) { if (value) this[EVENT].stop = true; }
  composedPath() { return this[EVENT].current === null ? [] : [this[EVENT].current]; }
  stopPropagation() { this[EVENT].stop = true; }
  stopImmediatePropagation() { this[EVENT].stop = this[EVENT].stopNow = true; }
  preventDefault() {
    const e = this[EVENT];
    if (e.cancelable && !e.passive) e.canceled = true;
  }
  initEvent(type, bubbles = false, cancelable = false) {
    need(arguments.length, 1, "Event.initEvent");
    const e = this[EVENT];
    if (e.dispatching) return;
    e.type = `${type}`;
    e.bubbles = !!bubbles;
    e.cancelable = !!cancelable;
    e.target = null;
    e.stop = e.stopNow = e.canceled = false;
  }
}
for (const [at, name] of ["NONE", "CAPTURING_PHASE", "AT_TARGET", "BUBBLING_PHASE"].entries()) {
  const constant = { value: at, enumerable: true };
  Object.defineProperty(Event, name, constant);
  Object.defineProperty(Event.prototype, name, constant);
}

/** https://dom.spec.whatwg.org/#interface-customevent */
export class CustomEvent extends Event {
  #detail;
  constructor(type, init) {
    super(...arguments);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
}

/** https://dom.spec.whatwg.org/#interface-eventtarget */
export class EventTarget {
  addEventListener(type, callback, options) {
    need(arguments.length, 2, "EventTarget.addEventListener");
    const flags = options !== null && typeof options === "object" ? options : { capture: !!options };
    const { capture, once, passive, signal } = flags;
    if (signal !== undefined && !(signal !== null && typeof signal === "object" && "aborted" in signal)) {
      throw new TypeError("EventTarget.addEventListener: the signal is not an AbortSignal");
    }
    if (callback === null || callback === undefined) return;
    if (typeof callback !== "function" && typeof callback !== "object") {
      throw new TypeError("EventTarget.addEventListener: the callback is neither a function nor an object");
    }
    if (signal?.aborted) return;
    const name = `${type}`;
    const list = listenersOf(this);
    if (list.some((l) => l.type === name && l.callback === callback && l.capture === !!capture)) return;
    list.push({ type: name, callback, capture: !!capture, once: !!once, passive: !!passive, removed: false });
    signal?.addEventListener("abort", () => this.removeEventListener(name, callback, flags), { once: true });
  }
  removeEventListener(type, callback, options) {
    need(arguments.length, 2, "EventTarget.removeEventListener");
    const name = `${type}`;
    const capture = options !== null && typeof options === "object" ? !!options.capture : !!options;
    const list = listenersOf(this);
    const at = list.findIndex((l) => l.type === name && l.callback === callback && l.capture === capture);
    if (at >= 0) list.splice(at, 1)[0].removed = true;
  }
  dispatchEvent(event) {
    need(arguments.length, 1, "EventTarget.dispatchEvent");
    if (!event?.[EVENT]) throw new TypeError("EventTarget.dispatchEvent: the argument is not an Event");
    if (event[EVENT].dispatching) throw new DOMException("The event is already being dispatched", "InvalidStateError");
    event[EVENT].trusted = false;
    return dispatch(this, event);
  }
}

function listenersOf(target) {
  const self = target ?? globalThis;
  if (self[LISTENERS] === undefined) Object.defineProperty(self, LISTENERS, { value: [] });
  return self[LISTENERS];
}

/** Fires a trusted event at target. */
export function fire(target, event) {
  event[EVENT].trusted = true;
  return dispatch(target, event);
}

/** Reports whether target has anyone to tell of such an event. */
export function heard(target, type) {
  return target[LISTENERS]?.some((l) => l.type === type) ?? false;
}

function dispatch(target, event) {
  const e = event[EVENT];
  e.dispatching = true;
  e.target = e.current = target;
  e.phase = 2;
  const list = listenersOf(target).filter((l) => l.type === e.type);
  for (const capture of [true, false]) {
    for (const l of list) {
      if (e.stopNow || l.removed || l.capture !== capture) continue;
      if (l.once) target.removeEventListener(l.type, l.callback, l.capture);
      e.passive = l.passive;
      invoke(l.callback, target, event);
    }
    if (e.stop) break;
  }
  e.dispatching = e.passive = e.stop = e.stopNow = false;
  e.phase = 0;
  e.current = null;
  return !e.canceled;
}

function invoke(callback, target, event) {
  try {
    if (typeof callback === "function") {
      callback.call(target, event);
    } else {
      const handle = callback.handleEvent;
      if (typeof handle !== "function") throw new TypeError("handleEvent of the event listener is not a function");
      handle.call(callback, event);
    }
  } catch (error) {
    report(error);
  }
}

/** Adds the attribute on<type> to a class of event targets. */
export function handlerAttribute(cls, type) {
  const key = Symbol(`on${type}`);
  Object.defineProperty(cls.prototype, `on${type}`, {
    get() { return this[key]?.handler ?? null; },
    set(value) {
      const handler = typeof value === "function" || (typeof value === "object" && value !== null) ? value : null;
      if (this[key] === undefined) {
        if (handler === null) return;
        const slot = { handler };
        Object.defineProperty(this, key, { value: slot });
        this.addEventListener(type, function (event) {
          if (typeof slot.handler === "function" && slot.handler.call(this, event) === false) event.preventDefault();
        });
        return;
      }
      this[key].handler = handler;
    },
    enumerable: true, configurable: true,
  });
}

export function install() {
  define("Event", Event);
  define("CustomEvent", CustomEvent);
  define("EventTarget", EventTarget);
}
