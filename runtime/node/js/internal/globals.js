// The globals that a Worker has under the flag nodejs_compat. Those that take a
// module are evaluated when they are first used.
import { internals, load } from "node:internal/host";

function define(name, value, enumerable = true) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable, configurable: true });
}

function lazy(name, specifier, key) {
  Object.defineProperty(globalThis, name, {
    get() {
      const value = load(specifier)[key];
      define(name, value);
      return value;
    },
    set(value) {
      define(name, value);
    },
    enumerable: true,
    configurable: true,
  });
}

let timers;

function timer(name) {
  const own = {
    [name](...args) {
      return (timers ??= load("node:timers"))[name](...args);
    },
  }[name];
  if (name === "setTimeout" || name === "setImmediate") {
    Object.defineProperty(own, Symbol.for("nodejs.util.promisify.custom"), {
      get() {
        return load("node:timers/promises")[name];
      },
      enumerable: true,
    });
  }
  define(name, own, false);
}

const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
internals.timers = { setTimeout, setInterval, clearTimeout, clearInterval };
for (const name of ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"])
  timer(name);
lazy("process", "node:process", "default");
lazy("Buffer", "node:buffer", "Buffer");
define("global", globalThis);

export default undefined;
