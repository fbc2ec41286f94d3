// https://nodejs.org/api/timers.html over the web's timers.
import { internals, load } from "node:internal/host";
import { needFunction } from "node:internal/errors";

const web = internals.timers;
const stateOf = (timer) => timer.state;
const open = new Map(); // timers by the web's id

/** The result of setTimeout and setInterval of Node.js. */
export class Timeout {
  constructor(callback, delay, args, repeat) {
    this._idleTimeout = delay >= 1 ? Math.trunc(delay) : 1; // beyond 32 bits too, as on the platform; Node.js makes that 1
    this._onTimeout = callback;
    this._repeat = repeat ? this._idleTimeout : null;
    this._destroyed = false;
    Object.defineProperty(this, "state", {
      value: { args, run: internals.bind?.(callback) ?? callback, id: 0, referenced: true },
      writable: true,
    });
    start(this);
  }
  ref() {
    stateOf(this).referenced = true;
    return this;
  }
  unref() {
    stateOf(this).referenced = false;
    return this;
  }
  hasRef() {
    return stateOf(this).referenced;
  }
  refresh() {
    if (this._destroyed && this._onTimeout === null) return this;
    stop(this);
    start(this);
    return this;
  }
  close() {
    clear(this);
    return this;
  }
  [Symbol.toPrimitive]() {
    return stateOf(this).id;
  }
  [Symbol.dispose]() {
    clear(this);
  }
}

function start(timer) {
  const { state } = timer;
  timer._destroyed = false;
  const fire = timer._repeat === null ? web.setTimeout : web.setInterval;
  state.id = fire(() => {
    if (timer._repeat === null) {
      open.delete(state.id);
      timer._destroyed = true;
    }
    state.run.apply(timer, state.args);
  }, timer._idleTimeout);
  open.set(state.id, timer);
}

function stop(timer) {
  open.delete(timer.state.id);
  web.clearTimeout(timer.state.id);
}

function clear(timer) {
  if (timer === null || timer === undefined) return;
  if (typeof timer !== "object") timer = open.get(Number(timer));
  if (timer instanceof Timeout) {
    stop(timer);
    timer._destroyed = true;
    timer._onTimeout = null;
  }
}

/** The result of setImmediate. */
export class Immediate {
  constructor(callback, args) {
    this._onImmediate = callback;
    this._destroyed = false;
    const run = internals.bind?.(callback) ?? callback;
    Object.defineProperty(this, "state", { value: { referenced: true, id: 0 } });
    stateOf(this).id = web.setTimeout(() => {
      if (this._destroyed) return;
      this._destroyed = true;
      this._onImmediate = null;
      run.apply(undefined, args);
    }, 0);
  }
  ref() {
    stateOf(this).referenced = true;
    return this;
  }
  unref() {
    stateOf(this).referenced = false;
    return this;
  }
  hasRef() {
    return stateOf(this).referenced;
  }
  [Symbol.dispose]() {
    clearImmediate(this);
  }
}

export function setTimeout(callback, delay, ...args) {
  needFunction(callback, "callback");
  return new Timeout(callback, delay, args, false);
}

export function setInterval(callback, delay, ...args) {
  needFunction(callback, "callback");
  return new Timeout(callback, delay, args, true);
}

export function setImmediate(callback, ...args) {
  needFunction(callback, "callback");
  return new Immediate(callback, args);
}

export function clearTimeout(timer) {
  clear(timer);
}
export function clearInterval(timer) {
  clear(timer);
}

export function clearImmediate(immediate) {
  if (!(immediate instanceof Immediate) || immediate._destroyed) return;
  immediate._destroyed = true;
  immediate._onImmediate = null;
  web.clearTimeout(stateOf(immediate).id);
}

// The lists of idle timers that older code keeps itself.
export function enroll(item, delay) {
  item._idleTimeout = delay;
}
export function unenroll(item) {
  if (item._idle) clear(item._idle);
  item._idle = undefined;
}
export function active(item) {
  unenroll(item);
  if (item._idleTimeout >= 0) item._idle = setTimeout(() => item._onTimeout?.(), item._idleTimeout);
}
export const _unrefActive = active;

Object.defineProperty(setTimeout, Symbol.for("nodejs.util.promisify.custom"), {
  get() {
    return load("node:timers/promises").setTimeout;
  },
  enumerable: true,
});
Object.defineProperty(setImmediate, Symbol.for("nodejs.util.promisify.custom"), {
  get() {
    return load("node:timers/promises").setImmediate;
  },
  enumerable: true,
});

export const promises = {
  get setTimeout() {
    return load("node:timers/promises").setTimeout;
  },
  get setImmediate() {
    return load("node:timers/promises").setImmediate;
  },
  get setInterval() {
    return load("node:timers/promises").setInterval;
  },
  get scheduler() {
    return load("node:timers/promises").scheduler;
  },
};

export default {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  promises,
  enroll,
  unenroll,
  active,
  _unrefActive,
};
