// https://html.spec.whatwg.org/#message-channels Both ends are in one isolate: a
// message is copied when it is sent, and delivered in a task of its own.
import { cloneWith, transferable } from "./clone.js";
import { Event, EventTarget, fire, handlerAttribute } from "../../events/js/event.js";
import { MessageEvent } from "../../events/js/events.js";
import { define, guarded, need, sequence } from "../../webidl/js/idl.js";
import { isWaiting, task } from "../../timers/js/timers.js";

const token = {};

let stateOf, setState, isPort;

export class MessagePort extends EventTarget {
  #state;
  static {
    stateOf = guarded("MessagePort", (port) => port.#state);
    setState = (port, state) => {
      port.#state = state;
    };
    isPort = (value) => typeof value === "object" && value !== null && #state in value;
  }
  /** @overload @param {...any} given */
  constructor() {
    if (arguments[0] !== token) throw new TypeError("Illegal constructor");
    super();
  }
  postMessage(message, options = undefined) {
    need(arguments.length, 1, "MessagePort.postMessage");
    const state = stateOf(this),
      transfer = transferOf(options);
    if (transfer.includes(this))
      throw new DOMException("A MessagePort cannot be sent through itself.", "DataCloneError");
    const [data, moved] = cloneWith(message, transfer);
    const { peer } = state;
    if (peer === null) return;
    peer.queue.push(new MessageEvent("message", { data, ports: moved.filter(isPort) }));
    deliver(peer);
  }
  start() {
    const state = stateOf(this);
    state.started = true;
    deliver(state);
  }
  close() {
    const state = stateOf(this),
      { peer } = state;
    state.queue.length = 0;
    state.peer = null;
    state.detached = true;
    if (peer === null) return;
    peer.peer = null;
    task(() => {
      fire(peer.port, new Event("close"));
    });
  }
}

function transferOf(options) {
  if (options === undefined || options === null) return [];
  if (typeof options !== "object" && typeof options !== "function")
    throw new TypeError("MessagePort.postMessage: the second argument is neither a sequence nor an object");
  if (typeof options[Symbol.iterator] === "function")
    return sequence(options, "MessagePort.postMessage: the second argument");
  return options.transfer === undefined ? [] : sequence(options.transfer, "MessagePort.postMessage: transfer");
}

// The state of a port, which another port may take over:
//   port     the object
//   peer     the state of the other end; null when there is none any more
//   queue    the events to come
//   started  whether they are delivered
//   timer    of the task that delivers the next one
//   detached whether it was closed or moved
function entangle(port, peer) {
  const state = { port, peer, queue: [], started: false, timer: 0, detached: false };
  setState(port, state);
  return state;
}

function deliver(state) {
  if (!state.started || state.queue.length === 0 || isWaiting(state.timer)) return;
  state.timer = task(() => {
    state.timer = 0;
    const event = state.queue.shift();
    if (event !== undefined) fire(state.port, event);
    deliver(state);
  });
}

function unborn() {
  const port = new MessagePort(token);
  entangle(port, null);
  return port;
}

// Moves the state of a port to another one; the first is unusable afterwards.
function move(from, to) {
  const state = stateOf(from);
  entangle(from, null).detached = true;
  setState(to, state);
  state.port = to;
  state.started = false;
}

export class MessageChannel {
  #port1 = new MessagePort(token);
  #port2 = new MessagePort(token);
  constructor() {
    const one = entangle(this.#port1, null);
    one.peer = entangle(this.#port2, one);
  }
  get port1() {
    return this.#port1;
  }
  get port2() {
    return this.#port2;
  }
}

export function install() {
  for (const type of ["message", "messageerror", "close"]) handlerAttribute(MessagePort, type);
  const { get, set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
  const { onmessage: starts } = Object.getOwnPropertyDescriptors({
    set onmessage(value) {
      set.call(this, value);
      /** @type {any} */ (this).start();
    },
  });
  Object.defineProperty(MessagePort.prototype, "onmessage", { get, set: starts.set });
  define("MessagePort", MessagePort);
  define("MessageChannel", MessageChannel);
  transferable(isPort, (port) => stateOf(port).detached, unborn, move);
}
