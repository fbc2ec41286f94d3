// https://nodejs.org/api/async_context.html. A context is an immutable Map from
// each AsyncLocalStorage to its value. While there is a context, the engine passes every function of a later job to internals.follow.
import { call, internals } from "node:internal/host";
import { needFunction, needString } from "node:internal/errors";

let current; // undefined when no storage has a value

function enter(context) {
  if ((context === undefined) !== (current === undefined)) call("follow", context !== undefined);
  current = context;
}

function within(context, f, self, args) {
  const before = current;
  enter(context);
  try {
    return f.apply(self, args);
  } finally {
    enter(before);
  }
}

internals.follow = (f) => {
  const made = current;
  return function (...args) {
    return within(made, f, this, args);
  };
};
internals.leave = () => enter(undefined);
// Used for the callbacks of timers, which run in a job of the request that set the first one.
internals.bind = internals.follow;

/** Values that follow a request through its asynchronous code. */
export class AsyncLocalStorage {
  #default;
  #name;
  constructor(options) {
    this.#default = options?.defaultValue;
    this.#name = options?.name === undefined ? "" : `${options.name}`;
  }
  get name() {
    return this.#name;
  }
  static bind(f) {
    needFunction(f, "fn");
    const made = current;
    return function (...args) {
      return within(made, f, this, args);
    };
  }
  static snapshot() {
    const made = current;
    return function (f, ...args) {
      return within(made, f, this, args);
    };
  }
  getStore() {
    return current?.has(this) ? current.get(this) : this.#default;
  }
  enterWith(store) {
    internals.caution("AsyncLocalStorage", "enterWith", "enterWith; call run, with the rest in its function");
    enter(new Map(current).set(this, store));
  }
  run(store, f, ...args) {
    return within(new Map(current).set(this, store), f, undefined, args);
  }
  exit(f, ...args) {
    const context = new Map(current);
    context.delete(this);
    return within(context.size === 0 ? undefined : context, f, undefined, args);
  }
  disable() {
    if (!current?.has(this)) return;
    const context = new Map(current);
    context.delete(this);
    enter(context.size === 0 ? undefined : context);
  }
}

let ids = 1;

/** Runs functions in the context it was made in. */
export class AsyncResource {
  #context = current;
  #id = ++ids;
  constructor(type) {
    needString(type, "type");
  }
  runInAsyncScope(f, self, ...args) {
    return within(this.#context, f, self, args);
  }
  asyncId() {
    return this.#id;
  }
  triggerAsyncId() {
    return 0;
  }
  emitDestroy() {
    return this;
  }
  bind(f, self) {
    needFunction(f, "fn");
    const resource = this;
    return function (...args) {
      return resource.runInAsyncScope(f, self ?? this, ...args);
    };
  }
  static bind(f, type, self) {
    return new AsyncResource(type || f.name || "bound-anonymous-fn").bind(f, self);
  }
}

/** Hooks that never fire, as on the platform. */
export function createHook() {
  return {
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  };
}

export function executionAsyncId() {
  return 0;
}
export function triggerAsyncId() {
  return 0;
}
export function executionAsyncResource() {
  return {};
}
export const asyncWrapProviders = {};

export default {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  triggerAsyncId,
  executionAsyncResource,
  asyncWrapProviders,
};
