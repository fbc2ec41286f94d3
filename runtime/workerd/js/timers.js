// Timers that report exceptions of their callbacks: workerd reports none.
import { report } from "../../web/console/js/report.js";

const { apply } = Reflect;

export function install() {
  for (const name of ["setTimeout", "setInterval"]) {
    const native = globalThis[name];
    const { [name]: wrapped } = {
      [name](callback, delay, ...args) {
        if (typeof callback !== "function") return apply(native, this, arguments);
        return apply(native, this, [told(callback), delay, ...args]);
      },
    };
    for (const key of Object.getOwnPropertySymbols(native)) // of util.promisify
      Object.defineProperty(wrapped, key, Object.getOwnPropertyDescriptor(native, key));
    Object.defineProperty(wrapped, "length", { value: native.length, configurable: true });
    Object.defineProperty(globalThis, name, { value: wrapped, writable: true, enumerable: true, configurable: true });
  }
}

function told(callback) {
  return function () {
    try {
      return apply(callback, this, arguments);
    } catch (error) {
      report(error);
    }
  };
}
