import { host } from "../../webidl/js/host.js";
import { define, dictionary, guarded, need } from "../../webidl/js/idl.js";
import { report } from "../../console/js/report.js";
import { caution } from "../../language/js/caution.js";

let eventOf, isEvent;

/** https://dom.spec.whatwg.org/#event */
export class Event {
  #event;
  static {
    eventOf = (event) => event.#event;
    isEvent = (value) => typeof value === "object" && value !== null && #event in value;
  }
  constructor(type, init = undefined) {
    need(arguments.length, 1, "Event constructor");
    dictionary(init, "Event constructor: the second argument");
    this.#event = {
      type: `${type}`,
      bubbles: !!init?.bubbles,
      cancelable: !!init?.cancelable,
      composed: !!init?.composed,
      target: null,
      current: null,
      phase: 0,
      stop: false,
      stopNow: false,
      canceled: false,
      passive: false,
      dispatching: false,
      trusted: false,
      time: host.clock_now(),
    };
  }
  get type() {
    return this.#event.type;
  }
  get target() {
    return this.#event.target;
  }
  get srcElement() {
    return this.#event.target;
  }
  get currentTarget() {
    return this.#event.current;
  }
  get eventPhase() {
    return this.#event.phase;
  }
  get bubbles() {
    return this.#event.bubbles;
  }
  get cancelable() {
    return this.#event.cancelable;
  }
  get composed() {
    return this.#event.composed;
  }
  get defaultPrevented() {
    return this.#event.canceled;
  }
  get isTrusted() {
    return this.#event.trusted;
  }
  get timeStamp() {
    return this.#event.time;
  }
  get returnValue() {
    return !this.#event.canceled;
  }
  set returnValue(value) {
    cancel(this.#event, !value);
  }
  get cancelBubble() {
    return this.#event.stop;
  }
  set cancelBubble(value) {
    this.#event.stop ||= !!value;
  }
  composedPath() {
    return this.#event.current === null ? [] : [this.#event.current];
  }
  stopPropagation() {
    this.#event.stop = true;
  }
  stopImmediatePropagation() {
    this.#event.stop = this.#event.stopNow = true;
  }
  preventDefault() {
    cancel(this.#event, true);
  }
  initEvent(type, bubbles = false, cancelable = false) {
    need(arguments.length, 1, "Event.initEvent");
    const e = this.#event;
    if (e.dispatching) return;
    e.type = `${type}`;
    e.bubbles = !!bubbles;
    e.cancelable = !!cancelable;
    e.target = null;
    e.stop = e.stopNow = e.canceled = false;
  }
}

function cancel(e, wanted) {
  if (wanted && e.cancelable && !e.passive) e.canceled = true;
}

for (const [at, name] of ["NONE", "CAPTURING_PHASE", "AT_TARGET", "BUBBLING_PHASE"].entries()) {
  const constant = { value: at, enumerable: true };
  Object.defineProperty(Event, name, constant);
  Object.defineProperty(Event.prototype, name, constant);
}

/** https://dom.spec.whatwg.org/#interface-customevent */
export class CustomEvent extends Event {
  #detail;
  constructor(type, init = undefined) {
    super(...arguments);
    this.#detail = init?.detail ?? null;
  }
  get detail() {
    return this.#detail;
  }
}

let listenersOf, handlersOf;

// The listeners of a target, by type and by callback, in the order in which they came:
// in [0] the capturing listeners, in [1] the others.
const phases = () => [new Map(), new Map()];

// The global object is an EventTarget that no constructor has made.
const scopeListeners = phases();

/** Reports whether target has a listener for such an event. */
export let heard;

/** https://dom.spec.whatwg.org/#interface-eventtarget */
export class EventTarget {
  #listeners = null; // created for the first one, like #handlers
  #handlers = null;
  static {
    listenersOf = guarded("EventTarget", (target) =>
      target === globalThis ? scopeListeners : (target.#listeners ??= phases()),
    );
    handlersOf = guarded("EventTarget", (target) => (target.#handlers ??= new Map()));
    heard = (target, type) =>
      (target === globalThis ? scopeListeners : target.#listeners)?.some((phase) => phase.has(type)) ?? false;
  }
  addEventListener(type, callback, options = undefined) {
    const listeners = listenersOf(this);
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
    if (capture) caution("addEventListener", "capture", "capture: true; leave it out");
    if (signal?.aborted) return;
    const name = `${type}`;
    const phase = listeners[capture ? 0 : 1];
    let known = phase.get(name);
    if (known === undefined) phase.set(name, (known = new Map()));
    if (known.has(callback)) return;
    known.set(callback, { type: name, callback, capture: !!capture, once: !!once, passive: !!passive, removed: false });
    signal?.addEventListener("abort", () => this.removeEventListener(name, callback, flags), { once: true });
  }
  removeEventListener(type, callback, options = undefined) {
    const listeners = listenersOf(this);
    need(arguments.length, 2, "EventTarget.removeEventListener");
    const name = `${type}`;
    const phase = listeners[(options !== null && typeof options === "object" ? options.capture : options) ? 0 : 1];
    const known = phase.get(name),
      listener = known?.get(callback);
    if (listener === undefined) return;
    listener.removed = true;
    known.delete(callback);
    if (known.size === 0) phase.delete(name);
  }
  dispatchEvent(event) {
    need(arguments.length, 1, "EventTarget.dispatchEvent");
    if (!isEvent(event)) throw new TypeError("EventTarget.dispatchEvent: the argument is not an Event");
    if (eventOf(event).dispatching)
      throw new DOMException("The event is already being dispatched", "InvalidStateError");
    eventOf(event).trusted = false;
    return dispatch(this, event, report);
  }
}

/** Fires a trusted event at target; failed gets the exceptions of listeners. */
export function fire(target, event, failed = report) {
  eventOf(event).trusted = true;
  return dispatch(target, event, failed);
}

function dispatch(target, event, failed) {
  const e = eventOf(event),
    listeners = listenersOf(target);
  e.dispatching = true;
  e.target = e.current = target;
  e.phase = 2;
  for (const phase of listeners) {
    for (const l of [...(phase.get(e.type)?.values() ?? [])]) {
      // not those that come meanwhile
      if (e.stopNow || l.removed) continue;
      if (l.once) target.removeEventListener(l.type, l.callback, l.capture);
      e.passive = l.passive;
      invoke(l.callback, target, event, failed);
    }
    if (e.stop) break;
  }
  e.dispatching = e.passive = e.stop = e.stopNow = false;
  e.phase = 0;
  e.current = null;
  return !e.canceled;
}

function invoke(callback, target, event, failed) {
  try {
    if (typeof callback === "function") {
      callback.call(target, event);
    } else {
      const handle = callback.handleEvent;
      if (typeof handle !== "function") throw new TypeError("handleEvent of the event listener is not a function");
      handle.call(callback, event);
    }
  } catch (error) {
    failed(error);
  }
}

/** Adds the attribute on<type> to a class of event targets. */
export function handlerAttribute(cls, type) {
  const name = `on${type}`;
  const { [name]: attribute } = Object.getOwnPropertyDescriptors({
    get [name]() {
      return handlersOf(this).get(type)?.handler ?? null;
    },
    set [name](value) {
      const handler = typeof value === "function" || (typeof value === "object" && value !== null) ? value : null;
      const handlers = handlersOf(this),
        known = handlers.get(type);
      if (known !== undefined) {
        known.handler = handler;
        return;
      }
      if (handler === null) return;
      const slot = { handler };
      handlers.set(type, slot);
      this.addEventListener(type, function (event) {
        if (typeof slot.handler === "function" && slot.handler.call(this, event) === false) event.preventDefault();
      });
    },
  });
  Object.defineProperty(cls.prototype, name, attribute);
}

export function install() {
  define("Event", Event);
  define("CustomEvent", CustomEvent);
  define("EventTarget", EventTarget);
}
