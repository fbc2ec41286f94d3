// https://nodejs.org/api/diagnostics_channel.html
import { internals } from "node:internal/host";
import { invalidType, needFunction } from "node:internal/errors";

const channels = new Map();

/** A named channel that messages are published on. */
export class Channel {
  #subscribers = [];
  #stores = new Map();
  constructor(name) {
    this.name = name;
    channels.set(name, this);
  }
  get hasSubscribers() {
    return this.#subscribers.length > 0 || this.#stores.size > 0;
  }
  subscribe(subscription) {
    needFunction(subscription, "subscription");
    this.#subscribers = [...this.#subscribers, subscription];
  }
  unsubscribe(subscription) {
    const at = this.#subscribers.indexOf(subscription);
    if (at < 0) return false;
    this.#subscribers = this.#subscribers.toSpliced(at, 1);
    return true;
  }
  bindStore(store, transform) {
    this.#stores.set(store, transform);
  }
  unbindStore(store) {
    return this.#stores.delete(store);
  }
  publish(message) {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(message, this.name);
      } catch (error) {
        internals.log("error", `Uncaught ${error}`, error?.stack ?? "");
      }
    }
  }
  runStores(context, f, self, ...args) {
    let run = () => {
      this.publish(context);
      return f.apply(self, args);
    };
    for (const [store, transform] of this.#stores) {
      const inner = run;
      run = () => store.run(transform ? transform(context) : context, inner);
    }
    return run();
  }
}

const events = ["start", "end", "asyncStart", "asyncEnd", "error"];

/** Five channels for the life of an operation. */
export class TracingChannel {
  constructor(nameOrChannels) {
    for (const event of events) {
      const own =
        typeof nameOrChannels === "string" ? channel(`tracing:${nameOrChannels}:${event}`) : nameOrChannels?.[event];
      if (!(own instanceof Channel)) throw invalidType(`nameOrChannels.${event}`, "Channel", own);
      Object.defineProperty(this, event, { value: own, enumerable: true });
    }
  }
  get hasSubscribers() {
    return events.some((event) => this[event].hasSubscribers);
  }
  subscribe(handlers) {
    for (const event of events) if (handlers[event]) this[event].subscribe(handlers[event]);
  }
  unsubscribe(handlers) {
    let all = true;
    for (const event of events) if (handlers[event] && !this[event].unsubscribe(handlers[event])) all = false;
    return all;
  }
  /** @this {any} */
  traceSync(f, context = {}, self, ...args) {
    if (!this.hasSubscribers) return f.apply(self, args);
    return this.start.runStores(context, () => {
      try {
        return (context.result = f.apply(self, args));
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
  /** @this {any} */
  tracePromise(f, context = {}, self, ...args) {
    if (!this.hasSubscribers) return f.apply(self, args);
    const settled = (key) => (value) => {
      context[key] = value;
      if (key === "error") this.error.publish(context);
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
      if (key === "error") throw value;
      return value;
    };
    return this.start.runStores(context, () => {
      try {
        return Promise.resolve(f.apply(self, args)).then(settled("result"), settled("error"));
      } catch (error) {
        context.error = error;
        this.error.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
  /** @this {any} */
  traceCallback(f, position = -1, context = {}, self, ...args) {
    if (!this.hasSubscribers) return f.apply(self, args);
    const { asyncStart, asyncEnd, error: failed } = this,
      callback = args.at(position);
    needFunction(callback, "callback");
    args.splice(position, 1, function (error, result) {
      if (error) {
        context.error = error;
        failed.publish(context);
      } else {
        context.result = result;
      }
      asyncStart.runStores(context, () => {
        try {
          return callback.apply(this, arguments);
        } finally {
          asyncEnd.publish(context);
        }
      });
    });
    return this.start.runStores(context, () => {
      try {
        return f.apply(self, args);
      } catch (error) {
        context.error = error;
        failed.publish(context);
        throw error;
      } finally {
        this.end.publish(context);
      }
    });
  }
}

export function channel(name) {
  const known = channels.get(name);
  if (known) return known;
  if (typeof name !== "string" && typeof name !== "symbol") throw invalidType("channel", ["string", "symbol"], name);
  return new Channel(name);
}

export function hasSubscribers(name) {
  return channels.get(name)?.hasSubscribers ?? false;
}
export function subscribe(name, subscription) {
  channel(name).subscribe(subscription);
}
export function unsubscribe(name, subscription) {
  return channel(name).unsubscribe(subscription);
}
export function tracingChannel(nameOrChannels) {
  return new TracingChannel(nameOrChannels);
}

export default { channel, hasSubscribers, subscribe, tracingChannel, unsubscribe, Channel, TracingChannel };
