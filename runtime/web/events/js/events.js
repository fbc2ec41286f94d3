// The events with data: https://html.spec.whatwg.org/#messageevent and related ones.
import { Event } from "./event.js";
import { define, guarded, need } from "../../webidl/js/idl.js";

/**
 * Makes a subclass of Event with attributes that its init may give. Each of
 * fields is [name, conversion, default].
 * @param {(init: any) => void} [check]
 * @returns {[any, (event: any) => any]}
 */
function eventClass(name, fields, check) {
  let stateOf;
  const cls = {
    [name]: class extends Event {
      #fields;
      static {
        stateOf = guarded(name, (event) => event.#fields);
      }
      constructor(type, init = undefined) {
        need(arguments.length, check === undefined ? 1 : 2, `${name} constructor`);
        super(type, init);
        check?.(init);
        const values = {};
        for (const [key, convert, otherwise] of fields) {
          const value = init?.[key];
          values[key] = value === undefined ? otherwise?.() : convert(value);
        }
        this.#fields = values;
      }
    },
  }[name];
  if (check !== undefined) Object.defineProperty(cls, "length", { value: 2, configurable: true });
  for (const [key] of fields) {
    const get = {
      get [key]() {
        return stateOf(this)[key];
      },
    };
    Object.defineProperty(cls.prototype, key, Object.getOwnPropertyDescriptor(get, key));
  }
  return [cls, (event) => stateOf(event)];
}

const any = (value) => value,
  text = (value) => `${value}`,
  wellFormed = (value) => `${value}`.toWellFormed();
const unsigned = (bits) => (value) => {
  const n = Math.trunc(+value);
  return Number.isFinite(n) ? ((n % 2 ** bits) + 2 ** bits) % 2 ** bits : 0;
};
const nothing = () => null,
  empty = () => "",
  zero = () => 0;

const ports = (value) => {
  if (value === null || typeof value !== "object" || typeof value[Symbol.iterator] !== "function")
    throw new TypeError("MessageEvent constructor: the ports are not a sequence");
  const list = [...value];
  for (const port of list)
    if (!(port instanceof globalThis.MessagePort))
      throw new TypeError("MessageEvent constructor: a port is not a MessagePort");
  return Object.freeze(list);
};

const source = (value) => {
  if (value === null || value instanceof globalThis.MessagePort) return value;
  throw new TypeError("MessageEvent constructor: the source is not a MessagePort");
};

const [MessageEvent, messageOf] = eventClass("MessageEvent", [
  ["data", any, nothing],
  ["origin", wellFormed, empty],
  ["lastEventId", text, empty],
  ["source", source, nothing],
  ["ports", ports, () => Object.freeze([])],
]);

Object.defineProperty(MessageEvent.prototype, "initMessageEvent", {
  value: function initMessageEvent(
    type,
    bubbles = false,
    cancelable = false,
    data = null,
    origin = "",
    lastEventId = "",
    from = null,
    list = [],
  ) {
    need(arguments.length, 1, "MessageEvent.initMessageEvent");
    const state = messageOf(this);
    this.initEvent(type, bubbles, cancelable);
    Object.assign(state, {
      data,
      origin: wellFormed(origin),
      lastEventId: text(lastEventId),
      source: source(from),
      ports: ports(list),
    });
  },
  writable: true,
  configurable: true,
});
Object.defineProperty(MessageEvent.prototype.initMessageEvent, "length", { value: 1, configurable: true });

const [ErrorEvent] = eventClass("ErrorEvent", [
  ["message", text, empty],
  ["filename", wellFormed, empty],
  ["lineno", unsigned(32), zero],
  ["colno", unsigned(32), zero],
  ["error", any, () => undefined],
]);

const [CloseEvent] = eventClass("CloseEvent", [
  ["wasClean", (value) => !!value, () => false],
  ["code", unsigned(16), zero],
  ["reason", wellFormed, empty],
]);

const [PromiseRejectionEvent] = eventClass(
  "PromiseRejectionEvent",
  [
    ["promise", any],
    ["reason", any, () => undefined],
  ],
  (init) => {
    const promise = init?.promise;
    if (promise === undefined || promise === null || (typeof promise !== "object" && typeof promise !== "function")) {
      throw new TypeError("PromiseRejectionEvent constructor: the init has no promise");
    }
  },
);

/** For handlers that the platform does not call: no code creates one, but libraries test whether the class exists. */
class ExtendableEvent extends Event {
  constructor() {
    super("");
    throw new TypeError("Illegal constructor");
  }
}

export { CloseEvent, ErrorEvent, MessageEvent, PromiseRejectionEvent };

export function install() {
  for (const [name, cls] of Object.entries({
    MessageEvent,
    ErrorEvent,
    CloseEvent,
    ExtendableEvent,
    PromiseRejectionEvent,
  }))
    define(name, cls);
}
