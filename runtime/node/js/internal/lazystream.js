// Lets a class be a Transform without loading the stream module: the first use
// of an object as a stream makes it one.
import { load } from "node:internal/host";

const methods = [
  "addListener",
  "cork",
  "destroy",
  "emit",
  "end",
  "eventNames",
  "getMaxListeners",
  "isPaused",
  "listenerCount",
  "listeners",
  "off",
  "on",
  "once",
  "pause",
  "pipe",
  "prependListener",
  "prependOnceListener",
  "push",
  "rawListeners",
  "read",
  "removeAllListeners",
  "removeListener",
  "resume",
  "setDefaultEncoding",
  "setEncoding",
  "setMaxListeners",
  "uncork",
  "unpipe",
  "unshift",
  "wrap",
  "write",
  Symbol.asyncIterator,
];
const states = ["_readableState", "_writableState", "_events"];
const values = [
  "readable",
  "writable",
  "destroyed",
  "closed",
  "errored",
  "readableEnded",
  "readableFlowing",
  "readableHighWaterMark",
  "readableLength",
  "readableObjectMode",
  "writableEnded",
  "writableFinished",
  "writableHighWaterMark",
  "writableLength",
  "writableNeedDrain",
  "writableObjectMode",
];

/** Adds the members of streams to cls, whose prototype has _transform and _flush. optionsOf(object) returns the options of the stream. */
export function makeLazyStream(cls, optionsOf) {
  function become(object) {
    const { Transform } = load("node:stream");
    if (Object.getPrototypeOf(cls.prototype) !== Transform.prototype)
      Object.setPrototypeOf(cls.prototype, Transform.prototype);
    if (!Object.hasOwn(object, "_readableState")) Transform.call(object, optionsOf(object));
    return Transform.prototype;
  }
  for (const name of methods) {
    const label = typeof name === "symbol" ? "[Symbol.asyncIterator]" : name;
    const value = {
      [label](...args) {
        return become(this)[name].apply(this, args);
      },
    }[label];
    Object.defineProperty(cls.prototype, name, { value, writable: true, configurable: true });
  }
  for (const name of states) {
    Object.defineProperty(cls.prototype, name, {
      get() {
        if (this === cls.prototype) return undefined;
        become(this);
        return Object.getOwnPropertyDescriptor(this, name)?.value;
      },
      set(value) {
        Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true });
      },
      configurable: true,
    });
  }
  for (const name of values) {
    Object.defineProperty(cls.prototype, name, {
      get() {
        return this === cls.prototype ? undefined : Reflect.get(become(this), name, this);
      },
      set(value) {
        Reflect.set(become(this), name, value, this);
      },
      configurable: true,
    });
  }
}

export default makeLazyStream;
